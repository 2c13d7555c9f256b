package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.client.KvClientOptions;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.protocol.tls.TlsException;
import io.verbena.protocol.tls.TlsSettings;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.server.MetaGroupRole;
import io.verbena.server.MetaServerPlace;
import io.verbena.server.MetaServerRole;
import io.verbena.server.Role;
import io.verbena.server.dashboard.DashboardSource;

import org.agrona.CloseHelper;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** {@code verbena meta-server}. */
@Command(
    name = "meta-server",
    description = "Run a meta server in the foreground, until SIGTERM or Ctrl-C.",
    footer = {"", "Each option may also come from the environment (VERBENA_LISTEN for --listen) or from the property " +
        "file that VERBENA_CONFIG names (a line listen=...). Prints a line that begins with 'ready:' when it serves."},
    defaultValueProvider = SettingsProvider.class)
public final class MetaServerCommand implements Callable<Integer>
{
    /** A memory node waits 2 s for who stands still inside its memory, and serves nobody meanwhile. */
    private static final int LEASE_SECONDS = 5;
    private static final int GROUP_LEASE_SECONDS = 10;
    private static final int MIN_LEASE_SECONDS = 3;
    private static final long NO_LEADERSHIP = -1;
    private static final int MAX_LEASE_SECONDS = 3_600;
    private static final int MAX_FILL_AFTER_SECONDS = 86_400;
    private static final int MIN_SECRET_MINUTES = 2;
    private static final int MAX_SECRET_MINUTES = 525_600;
    private static final int MOST_CLIENTS = 16_384;
    private static final int MOST_NODES = 1_024;
    private static final int MOST_VIEW_TABLE_BYTES = 64 << 20;

    private static final String RATIS_LOG_LEVEL = "org.slf4j.simpleLogger.log.org.apache.ratis";

    @Spec
    private CommandSpec spec;

    @Option(names = "--listen", paramLabel = "ADDRESS", defaultValue = "verbena://127.0.0.1:7373",
        description = "Address at which the cluster listens; port 0 for any free port. Default: ${DEFAULT-VALUE}.")
    private String listen;

    @Option(names = "--data", paramLabel = "DIR", required = true,
        description = "Folder of its database: members and tables.")
    private Path data;

    @Option(names = "--token-file", paramLabel = "FILE",
        description = "File with the cluster's token; made when absent. Default: token in the folder.")
    private Path tokenFile;

    @Option(names = "--fabric", paramLabel = "NAME", defaultValue = "soft",
        description = "Fabric of the cluster, PROVIDER or PROVIDER:ARGUMENT. Default: ${DEFAULT-VALUE}.")
    private String fabricName;

    @Option(names = "--advertise", paramLabel = "ADDRESS",
        description = "Address of this host that others reach on fabric roce, as 10.0.0.7, fd00::7 or, with a fixed " +
            "port, [fd00::7]:4791. Default: that of --listen, and any free port.")
    private String advertise;

    @Option(names = "--insecure-network", description = InsecureNetwork.DESCRIPTION)
    private boolean insecureNetwork;

    @Option(names = "--encrypt", description = "Have joining processes seal packets, and clients encrypt requests.")
    private boolean encrypt;

    @Option(names = "--fresh", description = "Begin without the nodes and tables of an earlier run: they are gone.")
    private boolean fresh;

    @Option(names = "--lease-seconds", paramLabel = "N",
        description = "How long a node that is not heard of keeps its place, 3 to 3600; then others take over what " +
            "it had, and its late requests bounce. Default: 5, in a group 10.")
    private Integer leaseSeconds;

    @Option(names = "--fill-after-seconds", paramLabel = "N", defaultValue = "60",
        description = "After how long a lacking copy is made, up to 86400. 0: never. " +
            "Default: ${DEFAULT-VALUE}.")
    private int fillAfterSeconds = 60;

    @Option(names = "--secret-minutes", paramLabel = "N", defaultValue = "1440",
        description = "How long a secret by which nodes prove who they are is taken, 2 to 525600: after half of it " +
            "each gets another one. Default: ${DEFAULT-VALUE}.")
    private int secretMinutes = 1_440;

    @Option(names = "--max-clients", paramLabel = "N", defaultValue = "1024",
        description = "Most clients connected at once, 1 to 16384; one more is refused, and tries again with pauses. " +
            "Nodes have room of their own. Default: ${DEFAULT-VALUE}.")
    private int maxClients = 1_024;

    @Option(names = "--max-nodes", paramLabel = "N", defaultValue = "128",
        description = "Most nodes at once, 1 to 1024. Memory nodes that are lost, left or forgotten take no place; " +
            "compute nodes that ended do until every memory node has cut them off. Default: ${DEFAULT-VALUE}.")
    private int maxNodes = 128;

    @Option(names = "--spare-identities", paramLabel = "N", defaultValue = "4",
        description = "Identities kept on disk for compute nodes, 0 to 64: so many join at once without waiting for " +
            "the disk. Default: ${DEFAULT-VALUE}.")
    private int spareIdentities = 4;

    @Option(names = "--view-table-bytes", paramLabel = "N", defaultValue = "1048576",
        description = "Registered memory for descriptions of tables, 0 to 67108864; nodes that join read them at " +
            "once, and ask for others later. Default: ${DEFAULT-VALUE}.")
    private int viewTableBytes = 1 << 20;

    @Mixin
    private MetaGroupOptions group;

    @Option(names = "--health-port", paramLabel = "PORT", defaultValue = "0",
        description = "Port of the health endpoint on loopback; 0, the default, for any.")
    private int healthPort;

    @Option(names = TlsSettings.CERTIFICATE_OPTION, paramLabel = "FILE",
        description = "Shake hands over TLS 1.3 only: certificate or chain, PEM.")
    private Path tlsCertificate;

    @Option(names = TlsSettings.KEY_OPTION, paramLabel = "FILE",
        description = "Its private key, PKCS#8, mode 0600.")
    private Path tlsKey;

    @Option(names = TlsSettings.AUTHORITIES_OPTION, paramLabel = "FILE",
        description = "Authorities of nodes and clients, PEM. Default: they need no certificate.")
    private Path tlsAuthorities;

    @Option(names = "--autoscale", paramLabel = "FILE",
        description = "Options of 'autoscale', which runs here while this meta server leads.")
    private Path autoscale;

    private final DashboardOpener dashboardOpener;
    private final AutoscalerOpener autoscalerOpener;
    private volatile ClusterAddress found;
    private boolean isSealed;
    private Supplier<DashboardSource> dashboard;
    private volatile LongSupplier leadership = () -> NO_LEADERSHIP;

    /** Makes what the dashboard of a meta server shows. */
    public interface DashboardOpener
    {
        /**
         * @param data    folder of the meta server.
         * @param client  with which a client of the cluster connects.
         * @param role    the meta server, or the member of a group.
         * @param address where it is found, a member while it leads.
         * @param leads   whether it is found there. Any thread.
         * @return what the dashboard shows, closed by the caller.
         */
        DashboardSource open(Path data, KvClientOptions client, Role role, String address, BooleanSupplier leads);
    }

    /** Starts an autoscaler in this process. */
    public interface AutoscalerOpener
    {
        /**
         * @param settings file of options.
         * @param place    of the meta server.
         * @return the autoscaler, closed by the caller before the meta server.
         */
        AutoCloseable open(Path settings, AutoscalerPlace place);
    }

    /**
     * @param dashboardOpener  called once the meta server is open.
     * @param autoscalerOpener called before that, where the options ask for one.
     */
    public MetaServerCommand(final DashboardOpener dashboardOpener, final AutoscalerOpener autoscalerOpener)
    {
        this.dashboardOpener = dashboardOpener;
        this.autoscalerOpener = autoscalerOpener;
    }

    @Override
    public Integer call()
    {
        checkRanges();
        RoleProcess.begin();
        final Path tokenPath = null == tokenFile ? data.resolve("token") : tokenFile;
        final boolean hadToken = Files.exists(tokenPath) || group.isGroup();
        // What the library says at level info of each step of an election is for who works on it.
        System.setProperty(RATIS_LOG_LEVEL, System.getProperty(RATIS_LOG_LEVEL, "warn"));
        Fabric fabric = null;
        Role role = null;
        AutoCloseable autoscaler = null;
        boolean isOpen = false;
        try
        {
            final ClusterAddress address = ClusterAddress.parse(listen);
            final String name = fabric(address, tokenPath);
            makeKey(tokenPath);
            fabric = Fabrics.open(name, ProcessRole.SERVER);
            makeFolder();
            // First: what is wrong with its options leaves no folder of a new group behind.
            autoscaler = null == autoscale ? null : autoscalerOpener.open(autoscale, new AutoscalerPlace(
                data, () -> found.toString(), tokenPath, tlsOfClient(), group.isGroup(), leaseSeconds(),
                () -> leadership.getAsLong()));
            role = open(fabric, isSealed ? NetworkFabric.SEALED_NAME : NetworkFabric.clusterName(name), address,
                tokenPath);
            isOpen = true;
        }
        catch (final BootstrapException ex)
        {
            throw RoleOptions.failed(ex);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "meta server: data folder " + data +
                " cannot be made (" + FileErrors.reason(ex) +
                "): give this user the rights, or use another folder", ex);
        }
        catch (final DurableWriteError ex)
        {
            throw new CommandFailedException(ExitStatus.DISK_FAILED, ex.getMessage(), ex);
        }
        catch (final RdmaException | MetaStoreException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "meta server: " + ex.getMessage(), ex);
        }
        finally
        {
            if (!isOpen)
            {
                CloseHelper.quietCloseAll(autoscaler, role);
                undo(fabric, hadToken ? null : tokenPath);
            }
        }
        final ClusterAddress at =
            null == advertise ? found : ClusterAddress.of(NetworkFabric.host(advertise), found.port());
        return RoleProcess.run(fabric, role, healthPort, spec.commandLine().getOut(),
            group.isGroup() ? "member of a group, while it leads at " + at : "at " + at, dashboard.get(), autoscaler);
    }

    /** Name of the fabric of this process; where it has another key than the token, all processes are given that. */
    private String fabric(final ClusterAddress address, final Path tokenPath)
    {
        final String served = NetworkFabric.toServe(fabricName, address, advertise);
        isSealed = encrypt && NetworkFabric.isNetwork(served) && !NetworkFabric.isSealed(served);
        final String name = isSealed ? NetworkFabric.sealed(served, tokenPath, null != tlsCertificate) : served;
        final boolean isListening = NetworkFabric.isForOtherHosts(address.host());
        InsecureNetwork.check(insecureNetwork, isListening ? "--listen " + address : "fabric " + name,
            isListening ? address.host() : NetworkFabric.place(name), name,
            RoleOptions.isSecure(null != tlsCertificate, isSealed, name));
        return name;
    }

    /** Packets are sealed with the token, which a first start makes. */
    private void makeKey(final Path tokenPath) throws IOException
    {
        if (isSealed && !group.isGroup())
        {
            makeFolder();
            ClusterToken.readOrCreate(tokenPath);
        }
    }

    private void makeFolder() throws IOException
    {
        if (!Files.isDirectory(data))
        {
            OwnerOnly.createFolder(data);
        }
    }

    /** Nodes keep their places while another member is elected, begins to lead and is found, on busy processors too. */
    private int leaseSeconds()
    {
        return null != leaseSeconds ? leaseSeconds : group.isGroup() ? GROUP_LEASE_SECONDS : LEASE_SECONDS;
    }

    private void checkRanges()
    {
        OptionRange.check("--lease-seconds", leaseSeconds(), MIN_LEASE_SECONDS, MAX_LEASE_SECONDS);
        OptionRange.check("--fill-after-seconds", fillAfterSeconds, 0, MAX_FILL_AFTER_SECONDS);
        OptionRange.check("--secret-minutes", secretMinutes, MIN_SECRET_MINUTES, MAX_SECRET_MINUTES);
        OptionRange.check("--max-clients", maxClients, 1, MOST_CLIENTS);
        OptionRange.check("--max-nodes", maxNodes, 1, MOST_NODES);
        OptionRange.check("--spare-identities", spareIdentities, 0, MetaServerConfiguration.MAX_SPARE_IDENTITIES);
        OptionRange.check("--view-table-bytes", viewTableBytes, 0, MOST_VIEW_TABLE_BYTES);
    }

    private Role open(final Fabric fabric, final String name, final ClusterAddress address, final Path tokenPath)
    {
        final MetaServerConfiguration configuration = new MetaServerConfiguration()
            .leaseNs(TimeUnit.SECONDS.toNanos(leaseSeconds())).maxClients(maxClients).maxNodes(maxNodes)
            .viewTableBytes(viewTableBytes).spareIdentities(spareIdentities)
            .secretLifetimeNs(TimeUnit.MINUTES.toNanos(secretMinutes))
            .fillAfterNs(TimeUnit.SECONDS.toNanos(fillAfterSeconds));
        if (group.isGroup())
        {
            return openMember(fabric, name, address, tokenPath, configuration);
        }
        if (Files.exists(data.resolve(MetaGroupRole.FOLDER)))
        {
            // What it knew alone is older than what the group knows.
            throw new CommandFailedException(ExitStatus.USAGE, "data folder " + data + " is that of a member of a " +
                "group: give --peers and --member as before, or another folder", null);
        }
        final MetaServerRole alone = MetaServerRole.open(fabric, name, address,
            secured(ClusterToken.readOrCreate(tokenPath), tokenPath), data, fresh, configuration);
        found = alone.address();
        dashboard = () ->
            dashboardOpener.open(data, client(tokenPath), alone, alone.address().toString(), () -> true);
        leadership = () -> alone.isReady() ? 0 : NO_LEADERSHIP;
        return alone;
    }

    private Role openMember(
        final Fabric fabric, final String name, final ClusterAddress address, final Path tokenPath,
        final MetaServerConfiguration configuration)
    {
        if (0 == address.port())
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--listen " + address +
                ": a member of a group needs a port, which clients and nodes are given", null);
        }
        found = address;
        final ClusterToken token = secured(ClusterToken.read(tokenPath), tokenPath);
        final MetaGroupRole member = MetaGroupRole.open(fabric,
            new MetaServerPlace(name, address, NetworkFabric.announced(address, advertise), token, data, fresh,
            configuration), group.options(token, data));
        leadership = member::leadershipInForce;
        dashboard = () -> dashboardOpener.open(
            data, client(tokenPath), member, address.toString(), () -> member.leadershipInForce() >= 0);
        return member;
    }

    private ClusterToken secured(final ClusterToken token, final Path file)
    {
        try
        {
            if (null != tlsCertificate || null != tlsKey || null != tlsAuthorities)
            {
                return token.with(TlsSettings.ofServer(tlsCertificate, tlsKey, tlsAuthorities));
            }
        }
        catch (final TlsException ex)
        {
            throw TlsOptions.failed(ex);
        }
        if (null != token.tls())
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--token-file " + file + " names an authority, so " +
                "that others ask for TLS: give a certificate of it with " + TlsSettings.CERTIFICATE_OPTION + " and " +
                TlsSettings.KEY_OPTION, null);
        }
        return token;
    }

    private KvClientOptions client(final Path tokenPath)
    {
        return tlsOfClient().secure(new KvClientOptions().tokenFile(tokenPath));
    }

    /** Of a client in this process, which trusts no other meta server. */
    private TlsOptions tlsOfClient()
    {
        return null == tlsAuthorities ? TlsOptions.of(tlsCertificate, null, null) :
            TlsOptions.of(tlsCertificate, tlsCertificate, tlsKey);
    }

    /** A token of a cluster that never started would become the secret of the next one. */
    private static void undo(final Fabric fabric, final Path token)
    {
        if (null != fabric)
        {
            fabric.close();
        }
        try
        {
            if (null != token)
            {
                Files.deleteIfExists(token);
            }
        }
        catch (final IOException ignore)
        {
            // Why there is no meta server is the message.
        }
    }
}
