package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.launch.CommandLauncher;
import io.verbena.cli.autoscale.launch.Launcher;
import io.verbena.cli.autoscale.launch.LauncherProvider;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.role.AutoscalerPlace;
import io.verbena.cli.role.TlsOptions;
import io.verbena.protocol.bootstrap.OwnerOnly;

import org.agrona.concurrent.SystemNanoClock;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;

/** Where compute nodes are started and ended, and by what. */
final class LauncherOptions
{
    private static final long META_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final String LOCAL = "local";
    private static final String COMMAND = "command";
    private static final String KUBERNETES = "kubernetes";
    private static final List<String> ALL = List.of(LOCAL, COMMAND, KUBERNETES);

    @Option(names = "--launcher", paramLabel = "KIND", defaultValue = LOCAL,
        description = "What starts and ends nodes: 'local', processes of the cluster on this host; 'command', " +
            "--start and --stop on --hosts; 'kubernetes', pods of --workload; both for the cluster at --cluster. " +
            "Default: ${DEFAULT-VALUE}.")
    private String launcher = LOCAL;

    @Option(names = "--start", paramLabel = "COMMAND",
        description = "Command of sh that starts node {name} on {host}, with --name {name}, such as " +
            "'ssh {host} systemctl start verbena-compute-node@{name}'.")
    private String start;

    @Option(names = "--stop", paramLabel = "COMMAND",
        description = "Command of sh that ends it, by SIGTERM, such as " +
            "'ssh {host} systemctl stop verbena-compute-node@{name}'.")
    private String stop;

    @Option(names = "--hosts", paramLabel = "HOSTS", split = ",",
        description = "Where nodes may run, separated by commas. Default: localhost.")
    private List<String> hosts;

    @Option(names = "--workload", paramLabel = "KIND/NAME",
        description = "Workload whose pods are compute nodes, deployment/NAME or statefulset/NAME. Default: " +
            "deployment/verbena-compute.")
    private String workload;

    @Option(names = "--namespace", paramLabel = "NAME",
        description = "Its namespace. Default: that of this pod, or of kubectl's configuration.")
    private String namespace;

    @Option(names = "--cluster", paramLabel = "ADDRESS",
        description = "Address of the cluster whose nodes are elsewhere: verbena://host:port.")
    private String cluster;

    @Option(names = "--token-file", paramLabel = "FILE", description = "File with the cluster's token, mode 0600.")
    private Path tokenFile;

    @Option(names = "--fabric", paramLabel = "NAME",
        description = "Fabric of this command, PROVIDER or PROVIDER:ARGUMENT. Default: that of the cluster.")
    private String fabric;

    @Option(names = "--encrypt", description = "Encrypt calls to compute nodes and the meta server, which 'command' " +
        "and 'kubernetes' do by themselves where packets are sealed. 'local' does as its cluster was made, always.")
    private boolean encrypt;

    @Mixin
    private final TlsOptions tls = new TlsOptions();

    private AutoscalerPlace place;

    /**
     * As the other one, for the autoscaler of a meta server: the cluster is the one of that, where the options name
     * none.
     *
     * @param metaServer     where it runs; the same each time.
     * @param launchTimeoutS that a node may take until it serves.
     * @param permission     to change nodes elsewhere.
     * @return the nodes to be changed.
     */
    Fleet open(final AutoscalerPlace metaServer, final int launchTimeoutS, final ChangePermission permission)
    {
        if (LOCAL.equals(launcher) && metaServer.isGroup())
        {
            throw usage("--launcher " + launcher + " is not for a group of meta servers, whose members are on " +
                "several hosts: use command or kubernetes");
        }
        if (!LOCAL.equals(launcher))
        {
            place = metaServer;
            tokenFile = null == tokenFile ? place.tokenFile() : tokenFile;
            tls.useWhereNoneIsGiven(place.tls());
        }
        return open(ClusterFolder.of(metaServer.data()), true, launchTimeoutS, permission);
    }

    /**
     * Checks the options, and makes the folder of the record where there is no cluster.
     *
     * @param folder         of the record, and of a cluster on this host.
     * @param isFolderGiven  whether the user named it.
     * @param launchTimeoutS that a node may take until it serves.
     * @return the nodes to be changed.
     */
    Fleet open(final ClusterFolder folder, final boolean isFolderGiven, final int launchTimeoutS)
    {
        return open(folder, isFolderGiven, launchTimeoutS, ChangePermission.ALWAYS);
    }

    private Fleet open(
        final ClusterFolder folder, final boolean isFolderGiven, final int launchTimeoutS,
        final ChangePermission permission)
    {
        if (!ALL.contains(launcher))
        {
            throw usage("--launcher " + launcher + ": must be " + String.join(" or ", ALL));
        }
        final Map<String, Object> others = new LinkedHashMap<>();
        others.put("--start", start);
        others.put("--stop", stop);
        others.put("--hosts", hosts);
        others.put("--workload", workload);
        others.put("--namespace", namespace);
        others.put("--cluster", cluster);
        others.put("--token-file", tokenFile);
        others.put("--fabric", fabric);
        if (LOCAL.equals(launcher))
        {
            refuse(others, others.keySet());
            return new LocalFleet(folder, launchTimeoutS);
        }
        require(others, null == place ? List.of("--cluster", "--token-file") : List.of());
        if (!isFolderGiven)
        {
            throw usage("--launcher " + launcher + " needs --data DIR, a folder for the record of decisions");
        }
        final Launcher nodes = COMMAND.equals(launcher) ? commands(others, launchTimeoutS) : pods(others);
        makeFolder(folder);
        return new ClusterFleet(() -> MetaCalls.open(null == cluster ? place.address().get() : cluster, tokenFile, tls,
            fabric, encrypt, false, META_TIMEOUT_NS), new LeadersLauncher(nodes, permission), permission,
            launchTimeoutS, SystemNanoClock.INSTANCE);
    }

    private Launcher commands(final Map<String, Object> others, final int launchTimeoutS)
    {
        refuse(others, List.of("--workload", "--namespace"));
        require(others, List.of("--start", "--stop"));
        return new CommandLauncher(start, stop, null == hosts ? List.of("localhost") : hosts,
            TimeUnit.SECONDS.toMillis(launchTimeoutS), SystemNanoClock.INSTANCE);
    }

    private Launcher pods(final Map<String, Object> others)
    {
        refuse(others, List.of("--start", "--stop", "--hosts"));
        final Map<String, String> given = new HashMap<>();
        given.put("workload", workload);
        given.put("namespace", namespace);
        given.values().removeIf(Objects::isNull);
        return ServiceLoader.load(LauncherProvider.class).stream().map(ServiceLoader.Provider::get)
            .filter((provider) -> launcher.equals(provider.kind())).findFirst()
            .orElseThrow(() -> new CommandFailedException(ExitStatus.UNAVAILABLE, "--launcher " + launcher +
                ": its libraries are not on the class path, where ./verbena puts them for it", null)).open(given);
    }

    private void refuse(final Map<String, Object> others, final Collection<String> names)
    {
        for (final String name : names)
        {
            if (null != others.get(name))
            {
                throw usage(name + " is not for --launcher " + launcher);
            }
        }
    }

    private void require(final Map<String, Object> others, final List<String> names)
    {
        for (final String name : names)
        {
            if (null == others.get(name))
            {
                throw usage("--launcher " + launcher + " needs " + name);
            }
        }
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }

    private static void makeFolder(final ClusterFolder folder)
    {
        try
        {
            OwnerOnly.createFolder(folder.path());
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "--data " + folder.path() +
                " cannot be made: " + FileErrors.reason(ex), ex);
        }
    }
}
