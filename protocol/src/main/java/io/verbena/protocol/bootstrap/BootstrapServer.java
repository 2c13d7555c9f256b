package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.PendingHandshakes.Pending;
import io.verbena.protocol.tls.CertificateRole;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.identity.IdentitySecret;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.Supplier;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;

/**
 * Answers the handshake: one virtual thread for each connection, a bounded number at once ({@link PendingHandshakes}),
 * each with a deadline for every message and one for all of them. Thread-safe. Closed by its opener.
 */
public final class BootstrapServer implements AutoCloseable
{
    /** Connections that have not proved anything yet, at once. */
    static final int MAX_PENDING = 1_024;
    /** With those that were displaced, and whose threads are about to end. */
    private static final int MAX_CONNECTIONS = 2 * MAX_PENDING;
    private static final int MESSAGE_TIMEOUT_MS = 2_000;
    /** A user computes a slow hash before it answers. */
    private static final int USER_TIMEOUT_MS = 10_000;
    /** A process that has just started computes slowly. */
    private static final int TLS_TIMEOUT_MS = 5_000;
    /** All messages of a handshake together. */
    private static final int HANDSHAKE_TIMEOUT_MS = TLS_TIMEOUT_MS + 2 * MESSAGE_TIMEOUT_MS + USER_TIMEOUT_MS;
    private static final int OVERDUE_CHECK_MS = 500;
    /** How long, and how much, is read of one that is refused before it was heard. */
    private static final int LAST_READ_MS = 500;
    private static final int MAX_LAST_BYTES = 16 << 10;
    /** How a ClientHello begins: a record of a handshake, of TLS. */
    private static final int TLS_START = 0x0316;
    private static final int BACKLOG = 4_096;
    /** Who had to make room comes again when others that came with it are through. */
    private static final int RETRY_DELAY_MS = 100;
    private static final String BUSY = MAX_PENDING + " handshakes are under way";
    /** Pause after a connection that could not be accepted, for want of descriptors say: it waits in the backlog. */
    private static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ServerSocket socket;
    private final ClusterAddress address;
    private final ClusterToken token;
    private final Supplier<BootstrapAnswer> answer;
    private final Supplier<AccessRules> access;
    private final IntFunction<IdentitySecret> joining;
    private final byte[] key = SecretVerifier.randomKey();
    private final SecureRandom random = new SecureRandom();
    private final Semaphore connections = new Semaphore(MAX_CONNECTIONS);
    private final PendingHandshakes pending =
        new PendingHandshakes(MAX_PENDING, HANDSHAKE_TIMEOUT_MS, SystemNanoClock.INSTANCE);
    private final AtomicLong refusals = new AtomicLong();
    private final AtomicLong abandoned = new AtomicLong();
    private volatile String lastRefusal = "";
    private final Thread thread;

    private BootstrapServer(
        final ServerSocket socket, final ClusterAddress address, final ClusterToken token,
        final Supplier<BootstrapAnswer> answer, final Supplier<AccessRules> access,
        final IntFunction<IdentitySecret> joining)
    {
        this.access = access;
        this.joining = joining;
        this.socket = socket;
        this.address = address;
        this.token = token;
        this.answer = answer;
        thread = Thread.ofPlatform().name("verbena-bootstrap").daemon().unstarted(this::accept);
    }

    /**
     * Listens.
     *
     * @param address where; port 0 for any, see {@link LastingPort}.
     * @param token   of the cluster, and TLS of this side, if there is any.
     * @param answer  for those who have it.
     * @param access  the users of the cluster as they are now, who may join as clients; any thread.
     * @param joining what proves to the meta server that somebody joins by a certificate, by the incarnation of
     *                {@link io.verbena.raas.identity.PeerIdentity#joining}; null: the certificate is revoked. Used
     *                where peers need certificates. Any thread.
     * @return the server.
     * @throws BootstrapException when the port is busy or the host not this one.
     */
    public static BootstrapServer open(
        final ClusterAddress address, final ClusterToken token, final BootstrapAnswer answer,
        final Supplier<AccessRules> access, final IntFunction<IdentitySecret> joining)
    {
        return open(address, token, () -> answer, access, joining);
    }

    /** As above, with an answer that changes; any thread asks for it. */
    public static BootstrapServer open(
        final ClusterAddress address, final ClusterToken token, final Supplier<BootstrapAnswer> answer,
        final Supplier<AccessRules> access, final IntFunction<IdentitySecret> joining)
    {
        ServerSocket socket = null;
        try
        {
            socket = new ServerSocket();
            return open(socket, address, token, answer, access, joining);
        }
        catch (final IOException ex)
        {
            closeQuietly(socket);
            throw new BootstrapException(
                BootstrapException.Reason.UNREACHABLE, "cannot listen at " + address + ": " + why(ex), ex);
        }
    }

    static BootstrapServer open(
        final ServerSocket socket, final ClusterAddress address, final ClusterToken token,
        final Supplier<BootstrapAnswer> answer, final Supplier<AccessRules> access,
        final IntFunction<IdentitySecret> joining) throws IOException
    {
        if (null != token.tls())
        {
            token.tls().prepare();
        }
        socket.setReuseAddress(true);
        socket.setSoTimeout(OVERDUE_CHECK_MS);
        final InetAddress host = InetAddress.getByName(address.host());
        if (0 == address.port())
        {
            LastingPort.bind(socket, host, BACKLOG);
        }
        else
        {
            socket.bind(new InetSocketAddress(host, address.port()), BACKLOG);
        }
        final BootstrapServer server = new BootstrapServer(
            socket, new ClusterAddress(address.host(), socket.getLocalPort()), token, answer, access, joining);
        server.thread.start();
        return server;
    }

    private static String why(final IOException ex)
    {
        if (ex instanceof UnknownHostException)
        {
            return "unknown host; give an address of this host";
        }
        final String why = String.valueOf(ex.getMessage());
        return why + (why.contains("assign") ? "; give an address of this host" :
            why.contains("in use") ? "; is another cluster running there? choose another port" :
            "; choose another port");
    }

    /** @return where it listens, with the port that was chosen. */
    public ClusterAddress address()
    {
        return address;
    }

    /**
     * @return handshakes that were refused: another token or version, a message that is none, and connections for
     *     which there was no room. A peer that hangs up or falls silent is not refused, see {@link #abandoned()}.
     */
    public long refusals()
    {
        return refusals.get();
    }

    /** @return handshakes that the peer gave up: it or its host died, was too slow, or only tried the port. */
    public long abandoned()
    {
        return abandoned.get();
    }

    /** @return connections that shake hands now. */
    int pending()
    {
        return pending.count();
    }

    /** @return address and reason of the last refusal, in one line; empty when there was none. */
    public String lastRefusal()
    {
        return lastRefusal;
    }

    private void accept()
    {
        while (!socket.isClosed())
        {
            pending.closeOverdue();
            try
            {
                final Socket connection = socket.accept();
                if (socket.isClosed())
                {
                    closeQuietly(connection);
                }
                else
                {
                    connections.acquireUninterruptibly();
                    final Pending begun = pending.begin(connection);
                    Thread.ofVirtual().name("verbena-bootstrap-connection").start(() -> serve(connection, begun));
                }
            }
            catch (final SocketTimeoutException ex)
            {
                // Nobody has come: time to look at those who are here.
            }
            catch (final IOException ex)
            {
                if (!socket.isClosed())
                {
                    lastRefusal = "cannot accept connections: " + ex.getMessage();
                    refusals.incrementAndGet();
                    LockSupport.parkNanos(ACCEPT_PAUSE_NS);
                }
            }
        }
    }

    private void serve(final Socket connection, final Pending begun)
    {
        try (connection)
        {
            connection.setTcpNoDelay(true);
            final Socket channel = null == token.tls() ? connection : secure(connection, begun);
            if (null != channel)
            {
                serve(connection, channel, begun);
            }
        }
        catch (final IOException ex)
        {
            if (begun.isDisplaced())
            {
                countRefusal(connection, BUSY);
            }
            else
            {
                abandoned.incrementAndGet();
            }
        }
        finally
        {
            pending.end(begun);
            connections.release();
        }
    }

    /** TLS over a connection; null when there is none: counted, and answered so that the other side understands. */
    private Socket secure(final Socket connection, final Pending begun) throws IOException
    {
        final MessageReader in = new MessageReader(connection, MESSAGE_TIMEOUT_MS);
        final byte[] first = in.read(Integer.BYTES);
        if (BootstrapDescriptor.MAGIC == BootstrapDescriptor.wrap(first).getInt(0))
        {
            in.readUpTo(BootstrapDescriptor.HELLO_LENGTH_BYTES - first.length);
            refuseByTls(connection, "it speaks no TLS", "the cluster takes TLS only: give its token file as it is " +
                "now, or its authority by " + TlsSettings.AUTHORITIES_OPTION);
            return null;
        }
        final SSLSocket secured = token.tls().ofServer(connection, first);
        try
        {
            connection.setSoTimeout(TLS_TIMEOUT_MS);
            secured.startHandshake();
            if (token.tls().asksForCertificates() &&
                null == joining.apply(TlsSettings.joiningOf(secured).incarnation()))
            {
                final String why = "certificate " + secured.getSession().getPeerPrincipal().getName() +
                    " was revoked";
                refuseByTls(secured, why, why + ": issue another one");
                return null;
            }
            if (token.tls().bindsRoles() && 0 == TlsSettings.rolesOf(secured))
            {
                final String why = "certificate " + secured.getSession().getPeerPrincipal().getName() +
                    " names no role";
                refuseByTls(secured, why, why + ": issue one with a URI such as " + CertificateRole.COMPUTE.uri());
                return null;
            }
            return secured;
        }
        catch (final SSLException ex)
        {
            if (begun.isDisplaced() || TlsSettings.isHangUp(ex))
            {
                throw ex;
            }
            countRefusal(connection, TlsSettings.why(ex));
            letRead(connection);
            return null;
        }
    }

    private void refuseByTls(final Socket connection, final String reason, final String text) throws IOException
    {
        countRefusal(connection, reason);
        writeQuietly(connection.getOutputStream(), BootstrapDescriptor.challenge(
            BootstrapDescriptor.STATUS_TLS, text, new byte[BootstrapDescriptor.NONCE_LENGTH_BYTES]));
        letRead(connection);
    }

    /** Closing a socket that holds unread bytes would take what was said last from its receiver. */
    private static void letRead(final Socket connection)
    {
        try
        {
            connection.shutdownOutput();
            new MessageReader(connection, LAST_READ_MS).readUpTo(MAX_LAST_BYTES);
        }
        catch (final IOException ignore)
        {
            // It does not read, or has gone: it is refused all the same.
        }
    }

    private void serve(final Socket accepted, final Socket connection, final Pending begun) throws IOException
    {
        try
        {
            shakeHands(connection, begun);
        }
        catch (final IOException ex)
        {
            if (!begun.isDisplaced())
            {
                throw ex;
            }
            countRefusal(accepted, BUSY);
            writeQuietly(connection.getOutputStream(), begun.isChallenged() ?
                BootstrapDescriptor.refusal(BootstrapDescriptor.STATUS_BUSY, BUSY) :
                BootstrapDescriptor.busy(BUSY, RETRY_DELAY_MS));
        }
    }

    void shakeHands(final Socket connection, final Pending begun) throws IOException
    {
        final MessageReader in = new MessageReader(connection, MESSAGE_TIMEOUT_MS);
        final OutputStream out = connection.getOutputStream();
        final ByteBuffer hello = readHello(connection, in, begun);
        if (null == hello)
        {
            return;
        }
        final byte[] serverNonce = new byte[BootstrapDescriptor.NONCE_LENGTH_BYTES];
        random.nextBytes(serverNonce);
        final int version = hello.getShort(BootstrapDescriptor.VERSION_OFFSET) & 0xFFFF;
        final int formats = hello.getInt(BootstrapDescriptor.FORMATS_OFFSET);
        if (BootstrapDescriptor.VERSION != version || BootstrapDescriptor.FORMATS != formats)
        {
            final String mismatch = BootstrapDescriptor.mismatch(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, version, formats);
            countRefusal(connection, mismatch);
            writeQuietly(out, BootstrapDescriptor.challenge(
                BootstrapDescriptor.STATUS_VERSION_MISMATCH, mismatch, serverNonce));
            return;
        }
        if (hello.capacity() > BootstrapDescriptor.HELLO_LENGTH_BYTES)
        {
            serveUser(connection, in, hello.array(), serverNonce, begun);
            return;
        }
        final byte[] challenge = BootstrapDescriptor.challenge(BootstrapDescriptor.STATUS_OK, "", serverNonce);
        begun.onChallenge();
        out.write(challenge);
        in.startMessage();
        final byte[] proof = in.read(BootstrapDescriptor.PROOF_LENGTH_BYTES);
        if (!token.isProof(proof, BootstrapClient.CLIENT_SIDE, hello.array(), challenge))
        {
            countRefusal(connection, "it has another token");
            writeQuietly(out, BootstrapDescriptor.refusal(BootstrapDescriptor.STATUS_WRONG_TOKEN,
                "the cluster has another token: give the file it was started with"));
            return;
        }
        final byte[] message = BootstrapDescriptor.answer(answer.get());
        if (0 != roles(connection))
        {
            final int incarnation = TlsSettings.joiningOf((SSLSocket)connection).incarnation();
            final IdentitySecret secret = joining.apply(incarnation);
            if (null == secret)
            {
                throw new EOFException("the certificate was revoked meanwhile");
            }
            final byte[] ticket = new byte[IdentitySecret.LENGTH_BYTES];
            secret.write(new UnsafeBuffer(ticket), 0);
            BootstrapDescriptor.putTicket(message, 0, incarnation, 0, ticket);
        }
        BootstrapDescriptor.putProof(
            message, token.proof(BootstrapClient.SERVER_SIDE, hello.array(), challenge, proof, message));
        out.write(message);
    }

    /** Those that the certificate of the peer names, where this server goes by them; else 0. */
    private int roles(final Socket connection) throws IOException
    {
        return connection instanceof final SSLSocket secured && token.tls().bindsRoles() ?
            TlsSettings.rolesOf(secured) : 0;
    }

    /** The hello, or null when there is none: counted, and not to be answered. */
    private ByteBuffer readHello(final Socket connection, final MessageReader in, final Pending begun)
        throws IOException
    {
        final ByteBuffer hello = BootstrapDescriptor.wrap(in.readUpTo(BootstrapDescriptor.HELLO_LENGTH_BYTES));
        if (hello.capacity() < BootstrapDescriptor.HELLO_LENGTH_BYTES && begun.isDisplaced())
        {
            throw new EOFException("made room for another one");
        }
        if (0 == hello.capacity())
        {
            abandoned.incrementAndGet();
            return null;
        }
        if (hello.capacity() > 1 && TLS_START == (hello.getShort(0) & 0xFFFF))
        {
            refuseByTls(connection, "it speaks TLS, and this meta server does not: give it " +
                TlsSettings.CERTIFICATE_OPTION, "no TLS here");
            return null;
        }
        if (hello.capacity() < BootstrapDescriptor.HELLO_LENGTH_BYTES || BootstrapDescriptor.MAGIC != hello.getInt(0))
        {
            countRefusal(connection, "what it sends is not the hello of a Verbena process");
            return null;
        }
        return withName(connection, in, hello);
    }

    /** With the name of a user behind it, where there is one; all of it is read before anything is answered. */
    private ByteBuffer withName(final Socket connection, final MessageReader in, final ByteBuffer hello)
        throws IOException
    {
        final int nameLength = hello.getInt(BootstrapDescriptor.TEXT_LENGTH_OFFSET);
        if (0 == nameLength || BootstrapDescriptor.VERSION != hello.getShort(BootstrapDescriptor.VERSION_OFFSET))
        {
            return hello;
        }
        if (nameLength < 0 || nameLength > User.MAX_NAME_LENGTH)
        {
            countRefusal(connection, "the name of a user has " + nameLength + " bytes");
            return null;
        }
        final byte[] whole = Arrays.copyOf(hello.array(), BootstrapDescriptor.HELLO_LENGTH_BYTES + nameLength);
        System.arraycopy(in.read(nameLength), 0, whole, BootstrapDescriptor.HELLO_LENGTH_BYTES, nameLength);
        return BootstrapDescriptor.wrap(whole);
    }

    /** As with the token, but proved with what is kept of the user's secret. A user that there is not is asked too. */
    private void serveUser(
        final Socket connection, final MessageReader in, final byte[] hello, final byte[] serverNonce,
        final Pending begun) throws IOException
    {
        final String name = new String(hello, BootstrapDescriptor.HELLO_LENGTH_BYTES,
            hello.length - BootstrapDescriptor.HELLO_LENGTH_BYTES, StandardCharsets.US_ASCII);
        final AccessRules rules = access.get();
        final User user = rules.user(name);
        final SecretVerifier verifier = null == user ? SecretVerifier.ofNobody(key, name) : user.verifier();
        final byte[] salt = BootstrapDescriptor.ofVerifier(verifier);
        final byte[] whole = BootstrapDescriptor.challenge(BootstrapDescriptor.STATUS_OK, salt, serverNonce);
        final byte[] challenge = Arrays.copyOf(whole, BootstrapDescriptor.HELLO_LENGTH_BYTES);
        final OutputStream out = connection.getOutputStream();
        begun.onChallenge();
        out.write(whole);
        in.startMessage(USER_TIMEOUT_MS);
        final byte[] proof = in.read(BootstrapDescriptor.PROOF_LENGTH_BYTES);
        final int roles = roles(connection);
        if (0 != roles && !CertificateRole.CLIENT.isIn(roles) && !CertificateRole.OPERATOR.isIn(roles))
        {
            countRefusal(connection, "a user with a certificate of roles " + CertificateRole.text(roles));
            writeQuietly(out, BootstrapDescriptor.refusal(BootstrapDescriptor.STATUS_WRONG_TOKEN,
                "the certificate has roles " + CertificateRole.text(roles) + ": a user takes one with " +
                CertificateRole.CLIENT.uri()));
            return;
        }
        final boolean isRight = verifier.isProof(proof, BootstrapClient.CLIENT_SIDE, hello, challenge, salt);
        if (!isRight || null == user)
        {
            countRefusal(connection, "it names a user that there is not, or does not have the secret of it");
            writeQuietly(out, BootstrapDescriptor.refusal(BootstrapDescriptor.STATUS_WRONG_TOKEN,
                "there is no such user with this secret"));
            return;
        }
        // Bound to the certificate: when that is revoked, the ticket is good for nothing.
        final int login = connection instanceof final SSLSocket secured && token.tls().asksForCertificates() ?
            TlsSettings.joiningOf(secured).certificate() : 0;
        final IdentitySecret secret = access.get().secretOf(user.identity().withLogin(login));
        if (null == secret)
        {
            throw new EOFException("the certificate was revoked meanwhile");
        }
        final byte[] ticket = new byte[IdentitySecret.LENGTH_BYTES];
        secret.write(new UnsafeBuffer(ticket), 0);
        final byte[] message = BootstrapDescriptor.answer(answer.get());
        BootstrapDescriptor.putTicket(message, user.number(), user.generation(), login,
            verifier.mask(ticket, hello, challenge, salt, proof));
        BootstrapDescriptor.putProof(message, verifier.serverProof(
            BootstrapClient.SERVER_SIDE, hello, challenge, salt, proof, message));
        out.write(message);
    }

    /** Before the refusal is sent: whoever receives it may read the count at once. */
    private void countRefusal(final Socket connection, final String reason)
    {
        lastRefusal = connection.getInetAddress().getHostAddress() + ": " + reason;
        refusals.incrementAndGet();
    }

    private static void writeQuietly(final OutputStream out, final byte[] refusal)
    {
        try
        {
            out.write(refusal);
        }
        catch (final IOException ignore)
        {
            // The other side has gone: it is refused all the same.
        }
    }

    /** Stops listening; handshakes under way end by themselves, within seconds. */
    @Override
    public void close()
    {
        closeQuietly(socket);
        try
        {
            // Until its accept() has returned, the system goes on listening: nobody may be answered after this.
            thread.join(MESSAGE_TIMEOUT_MS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private static void closeQuietly(final AutoCloseable closeable)
    {
        try
        {
            if (null != closeable)
            {
                closeable.close();
            }
        }
        catch (final Exception ignore)
        {
            // Nothing was to be said over it any more.
        }
    }

    @Override
    public String toString()
    {
        return "BootstrapServer{address=" + address + ", refusals=" + refusals +
            ", abandoned=" + abandoned + ", lastRefusal=" + lastRefusal + '}';
    }
}
