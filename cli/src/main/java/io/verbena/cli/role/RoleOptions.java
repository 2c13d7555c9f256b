package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.bootstrap.NetworkFabric;

import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** What every role but the meta server takes. */
public final class RoleOptions
{
    /** For an answer, before it is said that there is none. */
    private static final int TIMEOUT_MS = 4_000;
    /** As long as a role may take to be ready: a group of meta servers elects a leader, or the cluster starts. */
    private static final int JOIN_TIMEOUT_MS = (int)TimeUnit.NANOSECONDS.toMillis(RoleProcess.JOIN_TIMEOUT_NS);
    /** Two processes that may have started a moment ago load and compute cryptography. */
    private static final int TLS_TIMEOUT_MS = 15_000;

    @Option(names = "--cluster", paramLabel = "ADDRESS", required = true,
        description = "Address of the cluster: verbena://host:port.")
    private String cluster;

    @Option(names = "--token-file", paramLabel = "FILE", required = true,
        description = "File with the cluster's token, mode 0600.")
    private Path tokenFile;

    @Option(names = "--health-port", paramLabel = "PORT", defaultValue = "0",
        description = "Port of the health endpoint on loopback; 0, the default, for any.")
    private int healthPort;

    @Option(names = "--fabric", paramLabel = "NAME",
        description = "Fabric of this node, PROVIDER or PROVIDER:ARGUMENT. Default: that of the cluster.")
    private String fabric;

    @Option(names = "--advertise", paramLabel = "ADDRESS",
        description = "Address of this host that others reach on fabric roce, as 10.0.0.7, fd00::7 or, with a fixed " +
            "port, [fd00::7]:4791. Default: the one with a route to the meta server, and any free port.")
    private String advertise;

    @Mixin
    private final TlsOptions tls = new TlsOptions();

    @Option(names = "--insecure-network", description = InsecureNetwork.DESCRIPTION)
    private boolean insecureNetwork;

    /** As the options would be given. */
    static RoleOptions of(final String cluster, final Path tokenFile, final int healthPort)
    {
        final RoleOptions options = new RoleOptions();
        options.cluster = cluster;
        options.tokenFile = tokenFile;
        options.healthPort = healthPort;
        return options;
    }

    int healthPort()
    {
        return healthPort;
    }

    /** Shakes hands; asks again while nobody answers, as long as a role may take to be ready. */
    BootstrapAnswer bootstrap()
    {
        return bootstrap(JOIN_TIMEOUT_MS);
    }

    BootstrapAnswer bootstrap(final int joinTimeoutMs)
    {
        try
        {
            final ClusterToken token = token();
            final ClusterAddress address = ClusterAddress.parse(cluster);
            final long startNs = SystemNanoClock.INSTANCE.nanoTime();
            try
            {
                return BootstrapClient.ask(
                    address, token, Math.min(null == token.tls() ? TIMEOUT_MS : TLS_TIMEOUT_MS, joinTimeoutMs));
            }
            catch (final BootstrapException ex)
            {
                final long leftMs = joinTimeoutMs -
                    TimeUnit.NANOSECONDS.toMillis(SystemNanoClock.INSTANCE.nanoTime() - startNs);
                if (BootstrapException.Reason.UNREACHABLE != ex.reason() || leftMs <= 0)
                {
                    throw ex;
                }
                // Made now, when what it says is wanted: see RoleProcess.
                LoggerFactory.getLogger(RoleOptions.class).warn("{}; asked again for {} s", ex.getMessage(),
                    TimeUnit.MILLISECONDS.toSeconds(leftMs));
                return BootstrapClient.find(address, token, (int)leftMs);
            }
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    private ClusterToken token()
    {
        return tls.secure(ClusterToken.read(tokenFile));
    }

    /**
     * Chooses the fabric of this node, and checks that the meta server is reached there.
     *
     * @param answer      of the cluster.
     * @param isSealed    whether packets to other hosts have to be sealed.
     * @param servesUsers whether clients without the token connect to this node.
     * @return name of the fabric.
     */
    String fabric(final BootstrapAnswer answer, final boolean isSealed, final boolean servesUsers)
    {
        return fabric(answer, isSealed, servesUsers, 1);
    }

    /** As the other one, with so many threads that answer others by the network. */
    String fabric(
        final BootstrapAnswer answer, final boolean isSealed, final boolean servesUsers, final int responderThreads)
    {
        try
        {
            final boolean isTls = null != token().tls();
            final String joined = NetworkFabric.toJoin(answer, fabric, advertise, null);
            // Users have no token, and encrypt their calls, which takes TLS.
            final String name = NetworkFabric.withThreads(NetworkFabric.isSealed(answer) ?
                NetworkFabric.sealed(joined, tokenFile, servesUsers && isTls) : joined, responderThreads);
            if (isSealed && NetworkFabric.isNetwork(name) && !NetworkFabric.isSealed(name))
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--encrypt: the cluster at " + cluster +
                    " does not seal packets between hosts: start its meta servers with --encrypt, or give --fabric " +
                    name + ",encrypt=KEYFILE, and all others the same key", null);
            }
            InsecureNetwork.check(insecureNetwork, "fabric " + name, NetworkFabric.place(name),
                name, isSecure(isTls, NetworkFabric.isSealed(answer), name));
            NetworkFabric.requireReachable(ClusterAddress.parse(cluster), answer, name);
            return name;
        }
        catch (final BootstrapException ex)
        {
            throw failed(ex);
        }
    }

    /**
     * Whether a role may be reached by other hosts that nobody trusts.
     *
     * @param isTls           whether the handshake is over TLS.
     * @param isClusterSealed whether whoever joins seals packets or, as a client of a user, encrypts requests.
     * @param fabric          of the role.
     */
    static boolean isSecure(final boolean isTls, final boolean isClusterSealed, final String fabric)
    {
        return isTls && (isClusterSealed && NetworkFabric.isSealed(fabric) || !NetworkFabric.takesClear(fabric));
    }

    /**
     * Whether requests are encrypted: by who asks, and as a node requires it.
     *
     * @param isGiven whether --encrypt is.
     * @param cluster what it answered; one that seals packets encrypts requests without an option.
     */
    public static boolean isEncrypted(final boolean isGiven, final BootstrapAnswer cluster)
    {
        return isGiven || NetworkFabric.isSealed(cluster);
    }

    @Override
    public String toString()
    {
        return "RoleOptions{cluster=" + cluster + ", tokenFile=" + tokenFile + ", healthPort=" + healthPort + '}';
    }

    /** Finds the meta server again when it is started again. */
    MetaServerLocator locator(final BootstrapAnswer first)
    {
        return new BootstrapLocator(ClusterAddress.parse(cluster), token(), first);
    }

    public static CommandFailedException failed(final BootstrapException ex)
    {
        return new CommandFailedException(switch (ex.reason())
        {
            // As for clients, to which all but the first are an invalid request.
            case UNREACHABLE -> ExitStatus.UNAVAILABLE;
            case BAD_ADDRESS, VERSION_MISMATCH, WRONG_TOKEN, UNTRUSTED -> ExitStatus.USAGE;
        }, ex.getMessage(), ex);
    }
}
