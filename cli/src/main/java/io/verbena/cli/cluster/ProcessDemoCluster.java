package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.TlsOptions;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.compute.ComputeNodeException;
import io.verbena.embedded.ComputeNodeHandle;
import io.verbena.load.LoadException;
import io.verbena.load.demo.DemoCluster;
import io.verbena.load.demo.TableCheckFigures;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A demo's cluster as processes of this host, in a folder and on a fabric of its own, both gone at the end. Its first
 * compute node is killed, and before that the leader of a group of meta servers.
 */
public final class ProcessDemoCluster implements DemoCluster
{
    /** How the names of the folders begin. */
    private static final String PREFIX = "verbena-demo-";
    private static final String FIRST = "compute-1";
    private static final String FIRST_MEMORY = "memory-1";
    private static final String SECOND = "compute-2";
    private static final long BYTES_PER_MIB = 1 << 20;
    private static final long CHECK_TIMEOUT_NS = 20_000_000_000L;
    private static final long LEADER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Figure of a meta server of a group: 0 for who does not lead. */
    private static final String LEASE = "group_lease_left_ms";

    private final Path path;
    private final LocalCluster cluster;
    private final String fabric;
    private final KvClient client;
    private final Thread fault;
    private final int metaServers;

    private ProcessDemoCluster(
        final Path path, final LocalCluster cluster, final String fabric, final KvClient client, final Runnable fault,
        final int metaServers)
    {
        this.metaServers = metaServers;
        this.fault = Thread.ofPlatform().name("verbena-demo-fault").daemon().unstarted(fault);
        this.path = path;
        this.cluster = cluster;
        this.fabric = fabric;
        this.client = client;
    }

    /**
     * Starts it on this host.
     *
     * @param needs of the demo; its fabric is not used.
     * @return the cluster.
     */
    public static DemoCluster start(final Needs needs)
    {
        return start(needs, 1);
    }

    /**
     * Starts it on this host.
     *
     * @param needs       of the demo; its fabric is not used.
     * @param metaServers 1, or a group of 3 or 5, whose leader is killed.
     * @return the cluster.
     */
    public static DemoCluster start(final Needs needs, final int metaServers)
    {
        return start(needs, NodePlaces.HERE, LocalCluster.ANY_PORT, () -> {}, metaServers);
    }

    /**
     * Starts it.
     *
     * @param needs  of the demo; its fabric is not used.
     * @param places of its processes.
     * @param listen where its meta server listens.
     * @param fault  is made once the second compute node serves; the first one is not killed before that is over.
     * @return the cluster.
     */
    public static DemoCluster start(
        final Needs needs, final NodePlaces places, final String listen, final Runnable fault)
    {
        return start(needs, places, listen, fault, 1);
    }

    private static DemoCluster start(
        final Needs needs, final NodePlaces places, final String listen, final Runnable fault, final int metaServers)
    {
        Path path = null;
        LocalCluster cluster = null;
        try
        {
            path = Files.createTempDirectory(PREFIX);
            final ClusterFolder folder = ClusterFolder.of(path);
            cluster = LocalCluster.open(folder);
            cluster.places(places);
            cluster.metaServers(metaServers);
            cluster.up(listen, needs.memoryNodes(),
                (int)((needs.memoryBytesPerNode() + BYTES_PER_MIB - 1) / BYTES_PER_MIB), 1, (line) -> {});
            final KvClient client =
                KvClient.connect(folder.address(),
                    new KvClientOptions().tokenFile(folder.token()).timeout(Duration.ofNanos(needs.timeoutNs())));
            return new ProcessDemoCluster(path, cluster, folder.fabric(), client, fault, metaServers);
        }
        catch (final IOException ex)
        {
            throw new LoadException(LoadException.Reason.CANNOT_CREATE, "no folder for the cluster: " + ex, ex);
        }
        catch (final RuntimeException ex)
        {
            end(cluster, path);
            throw ex instanceof final CommandFailedException known ?
                new LoadException(reason(known.exitStatus()), known.getMessage(), known) : ex;
        }
    }

    private static LoadException.Reason reason(final int exitStatus)
    {
        return ExitStatus.CANNOT_CREATE == exitStatus ? LoadException.Reason.CANNOT_CREATE :
            LoadException.Reason.UNAVAILABLE;
    }

    @Override
    public KvClient client()
    {
        return client;
    }

    @Override
    public String fabric()
    {
        return fabric;
    }

    /** @return the folder of the cluster. */
    Path path()
    {
        return path;
    }

    @Override
    public ComputeNodeHandle addComputeNode()
    {
        final long startedNs = SystemNanoClock.INSTANCE.nanoTime();
        cluster.scale(2, (line) -> {});
        fault.start();
        return new ProcessComputeNode(entry(SECOND), startedNs);
    }

    @Override
    public int metaServers()
    {
        return metaServers;
    }

    @Override
    public String killMetaLeader()
    {
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + LEADER_TIMEOUT_NS;
        while (true)
        {
            for (final Entry entry : cluster.live())
            {
                if (isLeader(entry) && entry.process().orElse(null) instanceof final ProcessHandle process)
                {
                    process.destroyForcibly();
                    process.onExit().join();
                    return entry.name();
                }
            }
            if (SystemNanoClock.INSTANCE.nanoTime() - endNs > 0)
            {
                throw new LoadException(LoadException.Reason.FAILED, "no meta server has led for " +
                    TimeUnit.NANOSECONDS.toSeconds(LEADER_TIMEOUT_NS) + " s", null);
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private static boolean isLeader(final Entry entry)
    {
        return entry.name().startsWith(MetaServers.NAME) &&
            HealthProbe.figures(entry) instanceof final Map<?, ?> figures &&
            figures.get(LEASE) instanceof final Number leaseMs && leaseMs.longValue() > 0;
    }

    @Override
    public String killMemoryNode()
    {
        kill(entry(FIRST_MEMORY));
        return FIRST_MEMORY;
    }

    private void kill(final Entry entry)
    {
        final ProcessHandle process = entry.process().orElseThrow(() -> new LoadException(
            LoadException.Reason.FAILED, entry.name() + " has ended by itself: see " + path.resolve("logs")));
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public int removeFirstComputeNode()
    {
        awaitFault();
        final Entry first = entry(FIRST);
        final int nodeId = new ProcessComputeNode(first, 0).nodeId();
        kill(first);
        return nodeId;
    }

    private void awaitFault()
    {
        try
        {
            fault.join();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean kills()
    {
        return true;
    }

    @Override
    public long oneSidedVerbs()
    {
        return NOT_COUNTED;
    }

    @Override
    public TableCheckFigures checkTables()
    {
        final ClusterFolder folder = ClusterFolder.of(path);
        try (OpenedStore opened = OpenedStore.open(null, null, TlsOptions.NONE, folder, null, false,
            CHECK_TIMEOUT_NS))
        {
            return figures(new StoreChecker(opened.store()).check(opened.memoryNodeIds()));
        }
        catch (final CommandFailedException | ComputeNodeException ex)
        {
            return new TableCheckFigures(0, 1, TableCheckFigures.NOT_KNOWN, 0, "no check: " + ex.getMessage());
        }
    }

    private static TableCheckFigures figures(final StoreCheck check)
    {
        final List<String> problems = new ArrayList<>(check.problems());
        check.tables().values().forEach((table) -> problems.addAll(table.problems()));
        return new TableCheckFigures(
            check.tables().values().stream().mapToLong((table) -> table.committed).sum(), problems.size(),
            TableCheckFigures.NOT_KNOWN, check.leftovers().size(), problems.isEmpty() ? null : problems.getFirst());
    }

    private Entry entry(final String name)
    {
        return cluster.entries().stream().filter((entry) -> entry.name().equals(name)).findFirst().orElseThrow(() ->
            new LoadException(LoadException.Reason.FAILED, "there is no process " + name));
    }

    @Override
    public void close()
    {
        try
        {
            client.close();
        }
        finally
        {
            end(cluster, path);
        }
    }

    private static void end(final LocalCluster cluster, final Path path)
    {
        if (null != cluster)
        {
            try (cluster)
            {
                cluster.down((line) -> {});
            }
        }
        if (null != path)
        {
            delete(path);
        }
    }

    /** Removes a folder with all that is in it. */
    static void delete(final Path path)
    {
        try (Stream<Path> files = Files.walk(path))
        {
            for (final Path file : (Iterable<Path>)files.sorted(Comparator.reverseOrder())::iterator)
            {
                Files.delete(file);
            }
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("folder of the demo's cluster is left: " + path, ex);
        }
    }
}
