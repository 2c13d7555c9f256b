package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.routing.ComputeNodeSet;
import io.verbena.client.routing.JvmFlags;
import io.verbena.client.routing.RoutedKvClient;
import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.compute.ComputeNodeException;
import io.verbena.compute.ComputeNodeRunner;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;

import org.agrona.CloseHelper;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A meta server, memory nodes and compute nodes in this process. Thread-safe. Closed by whoever started it, or else
 * when the JVM shuts down in order; nothing is left in /dev/shm or, unless a data directory was given, on disk.
 */
public final class EmbeddedCluster implements AutoCloseable
{
    /** How long the servers are kept awake for a node that joins: 100 ms. */
    private static final long KEEP_AWAKE_NS = 100_000_000;
    /** Reclamation is at rest when so many looks in a row, longer apart than an idle node's heartbeats, say so. */
    private static final int QUIET_LOOKS = 4;
    private static final long QUIET_PAUSE_NS = 150_000_000;

    /** Of each table that the dashboard counts. */
    private static final Duration TABLES_TIMEOUT = Duration.ofSeconds(2);

    /** Compute nodes, memory nodes, meta server: what the fabric waits for when the JVM shuts down. */
    private static final int CLOSING_STEPS = 3;

    private final EmbeddedServers servers;
    private final long stepTimeoutNs;
    private final boolean growsTables;
    private final long sweepIntervalNs;
    private final long fillLookPauseNs;
    private final long closeTimeoutNs;
    private final ComputeNodeSet nodes = new ComputeNodeSet();
    /** Changed with the lock, read also without: a dashboard waits for nobody. */
    private final List<EmbeddedComputeNode> computeNodes = new CopyOnWriteArrayList<>();
    private final List<RoutedKvClient> clients = new ArrayList<>();
    private final VerbCounters goneCounters = new VerbCounters();
    private final Thread shutdownHook = new Thread(this::close, "verbena-embedded-shutdown");
    private final RoutedKvClient client;
    private final boolean isWatched;
    private volatile EmbeddedDashboard dashboard;
    private int computeNodesMade;
    private boolean closed;

    private EmbeddedCluster(final EmbeddedServers servers, final EmbeddedClusterOptions options)
    {
        this.servers = servers;
        stepTimeoutNs = options.stepTimeoutNs();
        growsTables = options.growingTables();
        sweepIntervalNs = options.sweepInterval().toNanos();
        fillLookPauseNs = options.fillLookPauseNs();
        isWatched = EmbeddedClusterOptions.NO_DASHBOARD != options.dashboardPort();
        closeTimeoutNs = Math.max(stepTimeoutNs, EmbeddedServers.MIN_CLOSE_NS);
        client = openRoutedClient(options.clientOptions());
    }

    /**
     * Starts a cluster and waits until it serves.
     *
     * @param options what it is made of.
     * @return the cluster, closed by the caller.
     * @throws EmbeddedClusterException when it could not be started (flags of the JVM missing, fabric or data directory
     *                                  unusable, not enough memory, a step past its deadline); everything begun was
     *                                  undone.
     */
    public static EmbeddedCluster start(final EmbeddedClusterOptions options)
    {
        if (null != JvmFlags.missing())
        {
            throw new EmbeddedClusterException(JvmFlags.missing());
        }
        final EmbeddedServers servers = EmbeddedServers.start(options);
        final EmbeddedCluster cluster = new EmbeddedCluster(servers, options);
        try
        {
            for (int i = 0; i < options.computeNodes(); i++)
            {
                cluster.addComputeNode();
            }
            cluster.openDashboard(options.dashboardPort());
            Runtime.getRuntime().addShutdownHook(cluster.shutdownHook);
            servers.awaitCloseAtExit(CLOSING_STEPS * cluster.closeTimeoutNs);
            return cluster;
        }
        catch (final RuntimeException ex)
        {
            cluster.closeAfter(ex);
            throw EmbeddedServers.startFailure(ex);
        }
    }

    private synchronized void openDashboard(final int port)
    {
        if (!isWatched)
        {
            return;
        }
        final KvClient tables = openRoutedClient(new KvClientOptions().timeout(TABLES_TIMEOUT));
        try
        {
            dashboard = EmbeddedDashboard.open(port, servers, computeNodes, tables);
        }
        catch (final NoClassDefFoundError ex)
        {
            throw new EmbeddedClusterException("dashboardPort=" + port + ": the dashboard is in verbena-kv-server, " +
                "which is not on the class path: add that dependency, or leave the option out", ex);
        }
    }

    /** @return where browsers of this host find the dashboard; null where there is none. */
    public String dashboardUrl()
    {
        final EmbeddedDashboard opened = dashboard;
        return null == opened ? null : "http://localhost:" + opened.port() + "/dashboard";
    }

    /** @return the cluster's own client, shared by all callers; closed with the cluster. */
    public KvClient client()
    {
        return client;
    }

    /**
     * Opens another client, with statistics of its own.
     *
     * @param options how it behaves.
     * @return the client, closed by the caller or with the cluster.
     */
    public synchronized KvClient openClient(final KvClientOptions options)
    {
        checkOpen();
        return openRoutedClient(options);
    }

    /**
     * Adds a compute node and waits until it serves: clients use it from then on.
     *
     * @return the node.
     * @throws EmbeddedClusterException when it could not join before the deadline; it is gone then.
     */
    public synchronized ComputeNodeHandle addComputeNode()
    {
        checkOpen();
        final long beganNs = servers.clock().nanoTime();
        final String name = "compute-" + ++computeNodesMade;
        servers.keepAwake(KEEP_AWAKE_NS);
        final Device device = servers.openDevice(name);
        final ComputeNode node = new ComputeNode(
            device, servers.metaServerAddress(),
            new ComputeNodeConfiguration().name(name).joinTimeoutNs(stepTimeoutNs).splitsSubtables(growsTables)
                .fillLookPauseNs(fillLookPauseNs).sweepIntervalNs(sweepIntervalNs),
            beganNs);
        final ComputeNodeRunner runner = new ComputeNodeRunner(node, () -> nodes.remove(node.endpoint()));
        final EmbeddedComputeNode added = new EmbeddedComputeNode(device, node, runner, name);
        if (isWatched)
        {
            added.watch();
        }
        runner.start();
        try
        {
            added.awaitServing(stepTimeoutNs);
        }
        catch (final ComputeNodeException ex)
        {
            added.kill(closeTimeoutNs);
            throw new EmbeddedClusterException(ex.getMessage(), ex);
        }
        finally
        {
            servers.letSleep();
        }
        computeNodes.add(added);
        nodes.add(added.endpoint());
        if (ComputeNode.State.SERVING != node.state())
        {
            nodes.remove(node.endpoint()); // it ended between the two, so it may have removed itself too early
        }
        return added;
    }

    /**
     * Removes a compute node in order: clients stop using it, it finishes what it has begun, hands back what it has
     * not, leaves, and its thread ends. No operation fails by it, as long as another compute node is there or is added
     * before the operation's deadline.
     *
     * @param nodeId of the node.
     * @throws EmbeddedClusterException when there is no such node, or it did not leave before the deadline (then it was
     *                                  stopped as by {@link #killComputeNode(int)}).
     */
    public synchronized void removeComputeNode(final int nodeId)
    {
        checkOpen();
        final EmbeddedComputeNode node = take(nodeId);
        nodes.remove(node.endpoint());
        final boolean left = node.leave(closeTimeoutNs);
        goneCounters.add(node.counters(closeTimeoutNs));
        if (!left)
        {
            throw new EmbeddedClusterException(
                "compute node did not leave in order within " + closeTimeoutNs + " ns and was stopped: " + node);
        }
    }

    /**
     * Stops a compute node between two steps, as a crash of its process would: no farewell, what it had begun has an
     * unknown outcome, the meta server fences it when its lease has run out. For tests and fault demonstrations.
     *
     * @param nodeId of the node.
     * @throws EmbeddedClusterException when there is no such node.
     */
    public synchronized void killComputeNode(final int nodeId)
    {
        checkOpen();
        final EmbeddedComputeNode node = take(nodeId);
        node.kill(closeTimeoutNs);
        goneCounters.add(node.counters(closeTimeoutNs));
    }

    /** @return compute nodes that serve now, in the order in which they came. */
    public synchronized List<ComputeNodeHandle> computeNodes()
    {
        return computeNodes.stream().filter(EmbeddedComputeNode::isServing).map(ComputeNodeHandle.class::cast).toList();
    }

    /**
     * What all compute nodes, living and gone, have posted on the fabric. READ, WRITE and atomic counts include,
     * besides the operations of clients, the making of tables and the lookups of peers; SENDs are control calls. So in
     * a period without joins and table changes, from half a second after the last one, the growth of reads + writes +
     * compareSwaps + fetchAdds equals the growth of {@link io.verbena.client.OperationStatistics#verbs()} over all
     * clients.
     *
     * @return a snapshot; each node's share was taken at one instant by its own thread.
     */
    public synchronized VerbCounters computeVerbCounters()
    {
        checkOpen();
        final VerbCounters sum = new VerbCounters().add(goneCounters);
        for (final EmbeddedComputeNode node : computeNodes)
        {
            sum.add(node.counters(closeTimeoutNs));
        }
        return sum;
    }

    /**
     * Checks all tables and accounts for every byte of memory, once reclamation is at rest. Nobody may use the cluster
     * meanwhile, else what it finds means nothing.
     *
     * @param sweeps    whether every compute node first reclaims what no word names in its own chunks: repairs what
     *                  dead nodes and broken connections left.
     * @param timeoutNs longest wait for reclamation.
     * @return what was found.
     * @throws EmbeddedClusterException when reclamation does not come to rest in time.
     */
    public synchronized MemoryCheck check(final boolean sweeps, final long timeoutNs)
    {
        checkOpen();
        final long deadlineNs = servers.clock().nanoTime() + timeoutNs;
        if (sweeps)
        {
            awaitRest(deadlineNs);
            serving().forEach((node) -> node.sweep(closeTimeoutNs));
        }
        awaitRest(deadlineNs);
        return MemoryCheck.of(servers.check(
            serving().flatMap((node) -> node.space(closeTimeoutNs).held().stream()).toList()));
    }

    private Stream<EmbeddedComputeNode> serving()
    {
        return List.copyOf(computeNodes).stream().filter(EmbeddedComputeNode::isServing);
    }

    private void awaitRest(final long deadlineNs)
    {
        int quiet = 0;
        while (quiet < QUIET_LOOKS)
        {
            if (servers.clock().nanoTime() - deadlineNs >= 0)
            {
                throw new EmbeddedClusterException("reclamation did not come to rest in time at compute nodes " +
                    serving().filter((node) -> node.isReclaiming(closeTimeoutNs)).map(ComputeNodeHandle::nodeId)
                    .toList());
            }
            LockSupport.parkNanos(QUIET_PAUSE_NS);
            quiet = serving().anyMatch((node) -> node.isReclaiming(closeTimeoutNs)) ? 0 : quiet + 1;
        }
    }

    /** @return where the meta server keeps its files. */
    public Path dataDirectory()
    {
        return servers.dataDirectory();
    }

    /**
     * Ends clients, compute nodes, memory nodes and the meta server, in this order, each step with a deadline.
     * Idempotent.
     *
     * @throws EmbeddedClusterException when a thread did not end in time; all else was closed nevertheless.
     */
    @Override
    public synchronized void close()
    {
        if (closed)
        {
            return;
        }
        closed = true;
        final List<AutoCloseable> steps = new ArrayList<>();
        steps.add(this::removeShutdownHook);
        steps.add(dashboard);
        steps.addAll(clients);
        computeNodes.forEach((node) -> steps.add(node::beginLeave));
        computeNodes.forEach((node) -> steps.add(() -> node.leave(closeTimeoutNs)));
        steps.add(servers::close);
        try
        {
            CloseHelper.closeAll(steps);
        }
        catch (final EmbeddedClusterException ex)
        {
            throw ex;
        }
        catch (final RuntimeException ex)
        {
            throw new EmbeddedClusterException("the cluster did not close in order: " + ex.getMessage(), ex);
        }
    }

    private void closeAfter(final RuntimeException cause)
    {
        try
        {
            close();
        }
        catch (final RuntimeException ex)
        {
            cause.addSuppressed(ex);
        }
    }

    private void removeShutdownHook()
    {
        if (Thread.currentThread() != shutdownHook)
        {
            try
            {
                Runtime.getRuntime().removeShutdownHook(shutdownHook);
            }
            catch (final IllegalStateException ex)
            {
                return; // the JVM shuts down already; the hook will find the cluster closed
            }
        }
    }

    private RoutedKvClient openRoutedClient(final KvClientOptions options)
    {
        final RoutedKvClient opened = RoutedKvClient.open(nodes, servers.clock(), options);
        clients.add(opened);
        return opened;
    }

    private EmbeddedComputeNode take(final int nodeId)
    {
        for (final EmbeddedComputeNode node : computeNodes)
        {
            if (node.nodeId() == nodeId)
            {
                computeNodes.remove(node);
                return node;
            }
        }
        throw new EmbeddedClusterException("there is no compute node with this id: nodeId=" + nodeId);
    }

    private void checkOpen()
    {
        if (closed)
        {
            throw new EmbeddedClusterException("cluster is closed");
        }
    }

    @Override
    public String toString()
    {
        return "EmbeddedCluster{" + servers + ", computeNodes=" + nodes + '}';
    }
}
