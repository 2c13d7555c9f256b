package io.verbena.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * How a client behaves. Fluent and mutable; a client copies what it needs when it is opened. Not thread-safe.
 */
public final class KvClientOptions
{
    /** Deadline of an operation where nothing else is set: 5 seconds. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

    /** Environment variable that names the file with the cluster's token where the options do not. */
    public static final String TOKEN_FILE_VARIABLE = "VERBENA_TOKEN_FILE";

    /** Environment variable that names the user where the options name neither a user nor a token. */
    public static final String USER_VARIABLE = "VERBENA_USER";

    /** Environment variable that names the file with the user's secret where the options do not. */
    public static final String SECRET_FILE_VARIABLE = "VERBENA_SECRET_FILE";

    /** Environment variable that names the file with authorities for TLS where the options name none. */
    public static final String TLS_CA_VARIABLE = "VERBENA_TLS_CA";

    /** Environment variable that names the file with the client's certificate where the options name none. */
    public static final String TLS_CERT_VARIABLE = "VERBENA_TLS_CERT";

    /** Environment variable that names the file with the key of that certificate. */
    public static final String TLS_KEY_VARIABLE = "VERBENA_TLS_KEY";

    /** Environment variable that is {@code true} where clients encrypt although their options do not say so. */
    public static final String ENCRYPT_VARIABLE = "VERBENA_ENCRYPT";

    /** Asynchronous operations in flight at once: 4,096. */
    public static final int DEFAULT_MAX_ASYNC_IN_FLIGHT = 4096;

    private Duration timeout = DEFAULT_TIMEOUT;
    private int maxAsyncInFlight = DEFAULT_MAX_ASYNC_IN_FLIGHT;
    private Executor completionExecutor;
    private Path tokenFile;
    private String user;
    private Path secretFile;
    private String fabric;
    private Path tlsAuthorities;
    private Path tlsCertificate;
    private Path tlsKey;
    private boolean isEncrypted;
    private boolean retriesConnect = true;

    /** The defaults. */
    public KvClientOptions()
    {
    }

    /** {@return how long an operation may take, unless its table's handle says otherwise} */
    public Duration timeout()
    {
        return timeout;
    }

    /**
     * Sets how long operations may take: {@link KvTable#timeout()} of the client's tables, and the deadline of the
     * client's own methods.
     *
     * @param timeout 1 ns or more; cut to 30 days.
     * @return this.
     */
    public KvClientOptions timeout(final Duration timeout)
    {
        if (null == timeout || timeout.isZero() || timeout.isNegative())
        {
            throw new KvInvalidRequestException("timeout must be 1 ns or more: timeout=" + timeout);
        }
        this.timeout = timeout;
        return this;
    }

    /** {@return most asynchronous operations in flight; one more fails with {@link KvUnavailableException}} */
    public int maxAsyncInFlight()
    {
        return maxAsyncInFlight;
    }

    /**
     * Sets how many asynchronous operations may be in flight.
     *
     * @param maxAsyncInFlight 1 or more.
     * @return this.
     */
    public KvClientOptions maxAsyncInFlight(final int maxAsyncInFlight)
    {
        if (maxAsyncInFlight < 1)
        {
            throw new KvInvalidRequestException("maxAsyncInFlight=" + maxAsyncInFlight + " must be 1 or more");
        }
        this.maxAsyncInFlight = maxAsyncInFlight;
        return this;
    }

    /** {@return file with the cluster's token, or null} */
    public Path tokenFile()
    {
        return tokenFile;
    }

    /**
     * Only {@link KvClient#connect(String, KvClientOptions)} needs it.
     *
     * @param tokenFile with the cluster's token, mode 0600; null, the default, for the file that the environment
     *                  variable {@link #TOKEN_FILE_VARIABLE} names.
     * @return this.
     */
    public KvClientOptions tokenFile(final Path tokenFile)
    {
        this.tokenFile = tokenFile;
        return this;
    }

    /** {@return the user as whom the client connects, or null} */
    public String user()
    {
        return user;
    }

    /** {@return file with the user's secret, or null} */
    public Path secretFile()
    {
        return secretFile;
    }

    /**
     * Connects as a user, who has the rights that were granted to it, and needs no token.
     *
     * @param user       its name; null, the default, for the one that the environment variable {@link #USER_VARIABLE}
     *                   names if there is no token file; else the client has all rights, as who has the token.
     * @param secretFile whose first line is its secret, mode 0600; null for the file that the environment variable
     *                   {@link #SECRET_FILE_VARIABLE} names.
     * @return this.
     */
    public KvClientOptions user(final String user, final Path secretFile)
    {
        this.user = user;
        this.secretFile = secretFile;
        return this;
    }

    /** {@return file with the authorities for TLS, or null} */
    public Path tlsAuthorities()
    {
        return tlsAuthorities;
    }

    /** {@return file with the client's certificate, or null} */
    public Path tlsCertificate()
    {
        return tlsCertificate;
    }

    /** {@return file with the key of the client's certificate, or null} */
    public Path tlsKey()
    {
        return tlsKey;
    }

    /**
     * TLS of the handshake with the cluster; for what follows it see {@link #encrypt}. A client whose token file names
     * the authority of the cluster needs none of this.
     *
     * @param authorities PEM: the meta server must have a certificate of one of them, for the host of the address; null
     *                    for the file that the environment variable {@link #TLS_CA_VARIABLE} names, or else the
     *                    authority that the token file names, or else no TLS.
     * @param certificate PEM, of the client, where the meta server asks for one; null for the file that {@link
     *                    #TLS_CERT_VARIABLE} names, or else none.
     * @param key         of the certificate: PEM, PKCS#8, without a password, mode 0600; null for the file that {@link
     *                    #TLS_KEY_VARIABLE} names.
     * @return this.
     */
    public KvClientOptions tls(final Path authorities, final Path certificate, final Path key)
    {
        tlsAuthorities = authorities;
        tlsCertificate = certificate;
        tlsKey = key;
        return this;
    }

    /** {@return whether requests are encrypted} */
    public boolean encrypt()
    {
        return isEncrypted;
    }

    /**
     * Encrypts requests to compute nodes and their answers, by AES-128-GCM with keys that each connection has for
     * itself. They follow from the token, or from the user's ticket: a user needs {@linkplain #tls TLS} as well, since
     * the ticket can be found out otherwise by who sees the handshake and tries secrets. Only {@link
     * KvClient#connect(String, KvClientOptions)} needs it.
     *
     * @param encrypt whether to; false, the default, for what the environment variable {@link #ENCRYPT_VARIABLE} says,
     *                or else no encryption.
     * @return this.
     */
    public KvClientOptions encrypt(final boolean encrypt)
    {
        isEncrypted = encrypt;
        return this;
    }

    /** {@return whether a single address is asked again while nobody answers there} */
    public boolean retryConnect()
    {
        return retriesConnect;
    }

    /**
     * Says whether {@link KvClient#connect(String, KvClientOptions)} asks a single address again, until {@link
     * #timeout()}, a minute at most, while nobody answers there: it may be that of a member of a group of meta servers,
     * which elects a leader. Several addresses are always asked again. A wrong token, another version, a certificate
     * that is not trusted and a host that is not known end it at once.
     *
     * @param retry whether to; true is the default; false, where the cluster has a single meta server, for an error at
     *              once when it is down.
     * @return this.
     */
    public KvClientOptions retryConnect(final boolean retry)
    {
        retriesConnect = retry;
        return this;
    }

    /** {@return the fabric of the client, or null} */
    public String fabric()
    {
        return fabric;
    }

    /**
     * Only {@link KvClient#connect(String, KvClientOptions)} needs it, on a host with several networks.
     *
     * @param fabric of the client, such as {@code roce:10.0.0.7} for one of this host's addresses; null, the default,
     *               for the cluster's, at the address from which there is a route to its meta server.
     * @return this.
     */
    public KvClientOptions fabric(final String fabric)
    {
        this.fabric = fabric;
        return this;
    }

    /** {@return what completes futures, and so runs the stages that depend on them; null for the default} */
    public Executor completionExecutor()
    {
        return completionExecutor;
    }

    /**
     * By default each future is completed on a virtual thread of its own, so a dependent stage may block (wait for
     * another operation, sleep, wait for a lock), and delays no other completion; in no order. A stage that computes
     * for long, or calls native code that blocks, keeps a processor of all virtual threads: give an executor with
     * platform threads then, or begin such stages with an {@code ...Async} method and an executor of their own.
     *
     * <p>Of an executor of the caller's, as many completions can be under way as it has threads: with one thread, as
     * the common pool has on two processors, a stage that waits for another future of this client waits in vain. {@code
     * Runnable::run} is fastest and completes futures on the compute node's own thread, or on a thread that waits for
     * an answer of this client: then no dependent stage may block, and one that uses this client synchronously fails
     * with {@link KvInvalidRequestException}.
     *
     * @param completionExecutor to complete futures with; belongs to the caller; null for the default.
     * @return this.
     */
    public KvClientOptions completionExecutor(final Executor completionExecutor)
    {
        this.completionExecutor = completionExecutor;
        return this;
    }
}
