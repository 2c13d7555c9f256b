package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ClusterTls;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.NodePlaces;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.role.MemoryNodeCommand;
import io.verbena.cli.role.RespOptions;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.KvOutOfMemoryException;
import io.verbena.client.TableOptions;
import io.verbena.protocol.bootstrap.BootstrapException;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.NetworkFabric;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** {@code verbena up}. */
@Command(
    name = "up",
    description = "Start a cluster of processes on this host, in the background, and print how to reach it; or start " +
        "again the processes of one that died.",
    footer = {"", "Records live in shared memory of the memory nodes: they survive the death of every process. When " +
        "the host restarts, those of the last checkpoint do: one is made each minute, and at 'verbena down'."},
    defaultValueProvider = SettingsProvider.class)
public final class UpCommand implements Callable<Integer>
{
    /** Nodes that lived on may have to find a meta server again that was started anew. */
    private static final Duration FIRST_ANSWER_TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_NODES = 30;
    private static final String MEMORY_FOLDER = ",memory=";
    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--listen", paramLabel = "ADDRESS",
        description = "Address at which the cluster listens; port 0, the default, for any free port. Others join at " +
            "an address that they reach, with a port, as verbena://10.0.0.7:7373.")
    private String listen;

    @Option(names = "--fabric", paramLabel = "NAME",
        description = "Fabric of a cluster that nodes and clients of other hosts join: roce, at the address of " +
            "--listen, or roce:ADDRESS; processes of this host share memory then, too. Default: memory of this host " +
            "alone, or what it was.")
    private String fabric;

    @Option(names = "--advertise", paramLabel = "ADDRESS",
        description = "Address of this host, on fabric roce, by which others reach the meta server, as 10.0.0.7, or " +
            "[fd00::7]:4791 for a port that stays the same. Default: that of --listen, and any free port.")
    private String advertise;

    @Option(names = "--insecure-network", description = "Allow an address that other hosts reach without --tls " +
        "and --encrypt.")
    private boolean insecureNetwork;

    @Option(names = "--tls", description = "Shake hands over TLS 1.3: a certificate authority is made with the " +
        "cluster, and its token file names it, so that who has that file needs nothing else. It stays so.")
    private boolean isTls;

    @Option(names = "--encrypt", description = "Have compute nodes refuse clients that do not encrypt, and, on " +
        "a --fabric of other hosts, seal packets between hosts. It stays so until 'verbena down --discard'.")
    private boolean encrypt;

    @Option(names = "--memory-nodes", paramLabel = "N",
        description = "Memory nodes. Default: 1, or as many as there were.")
    private Integer memoryNodes;

    @Option(names = "--memory", paramLabel = "MIB",
        description = "Registered memory of each memory node, in MiB. Default: 256, or what it was.")
    private Integer memoryMib;

    @Option(names = "--failure-domains", paramLabel = "LABEL", split = ",",
        description = "Labels of failure domains, for memory-1, memory-2 and so on, one each; they keep it. Default: " +
            "each is a failure domain of its own, or what it was.")
    private List<String> failureDomains;

    @Option(names = "--compute-nodes", paramLabel = "N",
        description = "Compute nodes. Default: 1, or as many as died with the cluster.")
    private Integer computeNodes;

    @Option(names = "--meta-servers", paramLabel = "N",
        description = "Meta servers: 1, or a group of 3 or 5, of which the cluster can miss 1 or 2. A group takes as " +
            "many ports from that of --listen on for nodes and clients, and as many more for itself. Default: 1, or " +
            "as many as there were.")
    private Integer metaServers;

    @Option(names = "--autoscale", paramLabel = "FILE",
        description = "Meta servers that start now run the autoscaler while they lead, with the options in FILE, one " +
            "a line, such as max=8.")
    private Path autoscale;

    @Option(names = "--accept-damage",
        description = "Start memory nodes also when there are damaged records in their memory: operations on their " +
            "keys then fail with a typed error. Default: such a node does not start, and changes nothing.")
    private boolean acceptsDamage;

    @Mixin
    private RespOptions resp;

    @Override
    public Integer call()
    {
        resp.configuration(System.getenv());
        OptionRange.check("--memory-nodes", orOne(memoryNodes), 1, MAX_NODES);
        OptionRange.check("--compute-nodes", orOne(computeNodes), 1, MAX_NODES);
        OptionRange.check("--memory", orOne(memoryMib), 1, MemoryNodeCommand.MAX_MIB);
        if (null != failureDomains)
        {
            failureDomains.forEach((label) -> MemoryNodeCommand.checkFailureDomain("--failure-domains", label));
        }
        if (null != failureDomains && failureDomains.size() != orOne(memoryNodes))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--failure-domains " +
                String.join(",", failureDomains) + ": there are " + failureDomains.size() +
                " labels, and --memory-nodes " + orOne(memoryNodes), null);
        }
        if (null != metaServers && 1 != metaServers && 3 != metaServers && 5 != metaServers)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--meta-servers " + metaServers + ": 1, or a group of 3 or 5", null);
        }
        checkAddress();
        final PrintWriter out = spec.commandLine().getOut();
        final ClusterFolder folder = ClusterFolder.of(data);
        try (LocalCluster cluster = LocalCluster.open(folder))
        {
            refuseWhatCannotChangeNow(cluster);
            cluster.places(NodePlaces.onFabric(null == fabric ? null : fabricOf(fabric, null != advertise),
                insecureNetwork ? List.of("--insecure-network") : List.of()));
            cluster.metaOptions(Stream.of(null == advertise ? List.<String>of() : List.of("--advertise", advertise),
                null == autoscale ? List.<String>of() : List.of("--autoscale", autoscale.toAbsolutePath().toString()))
                .flatMap(List::stream).toList());
            cluster.metaServers(metaServers);
            cluster.computeOptionsByNumber(resp::forNode);
            cluster.memoryOptions(acceptsDamage ? List.of("--accept-damage") : List.of());
            cluster.failureDomains(null == failureDomains ? List.of() : failureDomains);
            final String where = null != listen ? listen : null != fabric ? listenOf(fabric) : LocalCluster.ANY_PORT;
            if (isTls && cluster.live().isEmpty())
            {
                new ClusterTls(folder).create(Instant.now(), Stream.of("127.0.0.1", "::1", "localhost",
                    ClusterAddress.parse(where).host(), null == advertise ? null : NetworkFabric.host(advertise))
                    .filter(Objects::nonNull).map((host) -> host.replaceAll("[\\[\\]]", "")).distinct().toList());
            }
            if (encrypt && cluster.live().isEmpty())
            {
                folder.encrypt();
            }
            cluster.up(where, orOne(memoryNodes), memoryMib, computeNodes, (line) -> out.println(line));
            requireTable(folder);
        }
        out.println("up: " + folder.address());
        out.println("token: " + folder.token());
        out.println("try: ./verbena put hello world" + (null == data ? "" : " --data " + data));
        return ExitStatus.OK;
    }

    private void checkAddress()
    {
        try
        {
            ClusterAddress.parse(null == listen ? LocalCluster.ANY_PORT : listen);
        }
        catch (final BootstrapException ex)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--listen: " + ex.getMessage(), ex);
        }
    }

    /** That of the meta server: nodes find theirs by its answer. */
    static String fabricOf(final String fabric, final boolean isAdvertised)
    {
        if (!fabric.startsWith(NetworkFabric.NAME + ':'))
        {
            return fabric;
        }
        if (!isAdvertised && fabric.contains(MEMORY_FOLDER))
        {
            // A directory of its own for the memory of its processes: that of the network alone.
            return fabric;
        }
        // Its address is that of --advertise then, and not that of the name.
        return isAdvertised ? NetworkFabric.NAME :
            NetworkFabric.ofHost(fabric.substring(NetworkFabric.NAME.length() + 1));
    }

    /** Where others look for the cluster who know the address of its fabric. */
    static String listenOf(final String fabric)
    {
        if (NetworkFabric.NAME.equals(fabric))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--fabric " + fabric +
                ": give --listen ADDRESS, where others find the cluster, or --fabric " + fabric + ":ADDRESS", null);
        }
        final String place = NetworkFabric.place(fabric);
        return null == place ? LocalCluster.ANY_PORT :
            ClusterAddress.of(NetworkFabric.addressOf(place), ClusterAddress.DEFAULT_PORT).toString();
    }

    private static int orOne(final Integer count)
    {
        return null == count ? 1 : count;
    }

    /** What died is started again as it was, beside what lives. */
    private void refuseWhatCannotChangeNow(final LocalCluster cluster)
    {
        final boolean isAnyDead = cluster.entries().stream().anyMatch((entry) -> !entry.isLive());
        if (cluster.live().isEmpty() || !isAnyDead)
        {
            return;
        }
        refuse("--listen", listen, "or 'verbena down' first");
        refuse("--fabric", fabric, "or 'verbena down' first");
        refuse("--tls", isTls ? "" : null, "or 'verbena down' first");
        refuse("--encrypt", encrypt && !ClusterFolder.of(data).isEncrypted() ? "" : null, "or 'verbena down' first");
        refuse("--memory-nodes", memoryNodes, "or 'verbena down' first");
        refuse("--failure-domains", failureDomains, "or 'verbena down' first");
        refuse("--meta-servers", metaServers, "or 'verbena down' first");
        refuse("--memory", memoryMib, "or 'verbena down' first");
        refuse("--compute-nodes", computeNodes, "and 'verbena scale --compute-nodes' then");
    }

    private static void refuse(final String option, final Object value, final String remedy)
    {
        if (null != value)
        {
            throw new CommandFailedException(ExitStatus.USAGE, option + ' ' + value +
                ": a part of the cluster is up, and the dead processes are started again as they were; leave it out, " +
                remedy, null);
        }
    }

    private static void requireTable(final ClusterFolder folder)
    {
        try (KvClient client = KvClient.connect(
            folder.address(), new KvClientOptions().tokenFile(folder.token()).encrypt(folder.isEncrypted())
                .timeout(FIRST_ANSWER_TIMEOUT)))
        {
            if (!client.tables().contains("default"))
            {
                client.createTable("default", TableOptions.DEFAULTS);
            }
        }
        catch (final KvOutOfMemoryException ex)
        {
            throw new CommandFailedException(ClientOptions.status(ex.category()), "the cluster is up, but has no " +
                "room for table default (" + ex.getMessage() + "): 'verbena table create default --records' fewer, " +
                "or 'verbena down' and 'verbena up --memory' more", ex);
        }
        catch (final KvException ex)
        {
            throw new CommandFailedException(ClientOptions.status(ex.category()),
                "the cluster is up, but does not answer: " + ex.getMessage(), ex);
        }
    }
}
