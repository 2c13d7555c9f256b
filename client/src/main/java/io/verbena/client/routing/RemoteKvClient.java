package io.verbena.client.routing;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvUnavailableException;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.BootstrapSecret;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.bootstrap.UserLogin;
import io.verbena.protocol.request.Waker;
import io.verbena.protocol.tls.TlsException;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.NanoClock;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Puts together a client of a cluster in other processes: handshake, device, thread, routing. */
public final class RemoteKvClient
{
    private static final long CALL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long POLL_NS = 200_000;
    /** A meta server that has answered the handshake, and then nothing in so long, is behind a closed port. */

    private RemoteKvClient()
    {
    }

    /** As {@link KvClient#connect(String, KvClientOptions)}. */
    static KvClient connect(final String address, final KvClientOptions options)
    {
        final ClusterAddress cluster = cluster(address);
        final BootstrapSecret secret = secured(secret(options), options);
        final boolean isUserInClear = !secret.userName().isEmpty() && null == secret.tls();
        if (isEncrypted(options) && isUserInClear)
        {
            throw new KvInvalidRequestException("encryption as user '" + secret.userName() +
                "' takes TLS, since keys follow from what the handshake brings: give --tls-ca, or KvClientOptions.tls");
        }
        final BootstrapAnswer answer = ask(cluster, secret, options);
        if (NetworkFabric.isSealed(answer) && isUserInClear)
        {
            throw new KvInvalidRequestException("the cluster at " + address + " takes encrypted connections only, " +
                "and those of user '" + secret.userName() + "' take TLS, which it does not have: start its meta " +
                "servers with --tls-cert, or 'up' with --tls");
        }
        final String name = fabric(cluster, answer, options);
        Fabric fabric = null;
        try
        {
            fabric = Fabrics.open(name);
            final Fabric opened = fabric;
            final Device device = fabric.openDevice("client-" + ProcessHandle.current().pid());
            return open(device, new BootstrapLocator(cluster, secret, answer), options,
                NetworkFabric.isSealed(answer) || isEncrypted(options), () ->
                {
                    device.close();
                    opened.close();
                });
        }
        catch (final KvUnavailableException ex)
        {
            throw new KvUnavailableException(ex.getMessage() + NetworkFabric.whySilent(answer));
        }
        catch (final RdmaException ex)
        {
            if (null != fabric)
            {
                fabric.close();
            }
            throw new KvUnavailableException(null == options.fabric() ?
                "cluster at " + address + " is on fabric " + name + ", which cannot be used here: " + ex.getMessage() :
                "fabric " + name + " cannot be used here: " + ex.getMessage());
        }
    }

    /** As {@link #open(Device, MetaServerLocator, KvClientOptions, Runnable)}, with a meta server that stays there. */
    public static KvClient open(
        final Device device, final PeerAddress metaServer, final KvClientOptions options, final Runnable onEnd)
    {
        return open(device, MetaServerLocator.at(metaServer), options, onEnd);
    }

    /**
     * Opens a client on a device, and waits until the meta server has listed the compute nodes once.
     *
     * @param device     of the client.
     * @param metaServer of the cluster.
     * @param options    how it behaves; copied.
     * @param onEnd      called when the client has let go of the device, also when this throws.
     * @return the client, closed by the caller. Its {@code close()} waits up to 2 s for operations under way,
     * except in what depends on a future and runs in the thread that received the answer: there it returns at once.
     * @throws KvUnavailableException when the meta server does not answer in time, or is silent for 4 s.
     * @throws KvInvalidRequestException when requests are to be encrypted, and the client has nothing to prove.
     */
    public static KvClient open(
        final Device device, final MetaServerLocator metaServer, final KvClientOptions options, final Runnable onEnd)
    {
        final boolean isEncrypted;
        try
        {
            isEncrypted = isEncrypted(options);
            requireKeys(isEncrypted, metaServer);
        }
        catch (final KvInvalidRequestException ex)
        {
            onEnd.run();
            throw ex;
        }
        return open(device, metaServer, options, isEncrypted, onEnd);
    }

    private static KvClient open(
        final Device device, final MetaServerLocator metaServer, final KvClientOptions options,
        final boolean isEncrypted, final Runnable onEnd)
    {
        final ComputeNodeSet set = new ComputeNodeSet();
        final Waker waker = new Waker();
        final NanoClock clock = device.clock();
        final RemoteNodes nodes =
            new RemoteNodes(device, metaServer, set, waker, CALL_TIMEOUT_NS, RemoteKvClient::ignore, isEncrypted);
        final RemoteNodesThread thread = new RemoteNodesThread(
            nodes, waker, clock, nodes.roleName(), RemoteNodesThread.Pauses.USUAL, onEnd);
        thread.start();
        final long timeoutNs = Arguments.checkTimeout(options.timeout());
        final long startNs = clock.nanoTime();
        while (0 == nodes.listings() && null == thread.failure())
        {
            final long waitedNs = clock.nanoTime() - startNs;
            if (waitedNs >= timeoutNs || nodes.isMetaServerSilent())
            {
                thread.close(CLOSE_TIMEOUT_NS);
                throw new KvUnavailableException("meta server did not answer in time: " + metaServer.address() + ": " +
                    (nodes.failure().isEmpty() ? "it is silent" : nodes.failure()));
            }
            LockSupport.parkNanos(POLL_NS);
        }
        if (null != thread.failure())
        {
            throw new KvUnavailableException("client could not be started: " + thread.failure());
        }
        return RoutedKvClient.open(set, clock, options, () -> thread.close(CLOSE_TIMEOUT_NS));
    }

    private static ClusterAddress cluster(final String address)
    {
        try
        {
            return ClusterAddress.parse(address);
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    private static BootstrapAnswer ask(
        final ClusterAddress cluster, final BootstrapSecret secret, final KvClientOptions options)
    {
        try
        {
            final int timeoutMs = Math.clamp(
                TimeUnit.NANOSECONDS.toMillis(Arguments.checkTimeout(options.timeout())), 1, 60_000);
            return options.retryConnect() ? BootstrapClient.find(cluster, secret, timeoutMs) :
                BootstrapClient.ask(cluster, secret, timeoutMs);
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    private static String fabric(
        final ClusterAddress cluster, final BootstrapAnswer answer, final KvClientOptions options)
    {
        try
        {
            final String name = NetworkFabric.toJoin(answer, options.fabric(), null, tokenFile(options));
            NetworkFabric.requireReachable(cluster, answer, name);
            return name;
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    private static KvException failed(final BootstrapException ex)
    {
        return BootstrapException.Reason.UNREACHABLE == ex.reason() ?
            new KvUnavailableException(ex.getMessage()) : new KvInvalidRequestException(ex.getMessage());
    }

    /** A user where one is named, else the token; what the options say goes before the environment. */
    private static BootstrapSecret secret(final KvClientOptions options)
    {
        try
        {
            final String user = user(options);
            if (null != user)
            {
                return UserLogin.read(user, file(options.secretFile(), KvClientOptions.SECRET_FILE_VARIABLE,
                    "no secret of user '" + user + "': give the file with it, by KvClientOptions.user"));
            }
            return ClusterToken.read(tokenFile(options));
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    private static String user(final KvClientOptions options)
    {
        final String variable = null == options.tokenFile() ? environment(KvClientOptions.USER_VARIABLE) : null;
        return null == options.user() ? variable : options.user();
    }

    /** Of a client that is none of a user, else null. */
    private static Path tokenFile(final KvClientOptions options)
    {
        return null != user(options) ? null : file(options.tokenFile(), KvClientOptions.TOKEN_FILE_VARIABLE,
            "no cluster token: give the cluster's token file, by KvClientOptions.tokenFile");
    }

    /** With TLS as the options say, or else the environment, or else the token file. */
    private static BootstrapSecret secured(final BootstrapSecret secret, final KvClientOptions options)
    {
        try
        {
            return secret.with(TlsSettings.ofPeer(secret.tls(),
                optional(options.tlsAuthorities(), KvClientOptions.TLS_CA_VARIABLE),
                optional(options.tlsCertificate(), KvClientOptions.TLS_CERT_VARIABLE),
                optional(options.tlsKey(), KvClientOptions.TLS_KEY_VARIABLE)));
        }
        catch (final TlsException ex)
        {
            throw new KvInvalidRequestException(ex.getMessage());
        }
    }

    private static void requireKeys(final boolean isEncrypted, final MetaServerLocator metaServer)
    {
        if (isEncrypted && null == metaServer.clientTicket())
        {
            throw new KvInvalidRequestException(
                "encryption takes keys, which follow from the cluster's token or a user's ticket: there is none here");
        }
    }

    private static boolean isEncrypted(final KvClientOptions options)
    {
        final String variable = environment(KvClientOptions.ENCRYPT_VARIABLE);
        return options.encrypt() || isTrue(variable);
    }

    /** What is neither true nor false is refused: whoever wrote it may rely on it. */
    static boolean isTrue(final String value)
    {
        if (null != value && !"true".equalsIgnoreCase(value) && !"false".equalsIgnoreCase(value))
        {
            throw new KvInvalidRequestException(KvClientOptions.ENCRYPT_VARIABLE + "=" + value + ": true or false");
        }
        return "true".equalsIgnoreCase(value);
    }

    private static Path optional(final Path given, final String variable)
    {
        final String named = environment(variable);
        return null != given || null == named ? given : Path.of(named);
    }

    private static Path file(final Path given, final String variable, final String missing)
    {
        final Path found = optional(given, variable);
        if (null == found)
        {
            throw new KvInvalidRequestException(missing + " or the environment variable " + variable);
        }
        return found;
    }

    private static String environment(final String variable)
    {
        final String value = System.getenv(variable);
        return null == value || value.isEmpty() ? null : value;
    }

    /** What goes wrong with one node shows in the requests to it, and in {@link RemoteNodes#failure()}. */
    private static void ignore(final Throwable error)
    {
        // see above
    }
}
