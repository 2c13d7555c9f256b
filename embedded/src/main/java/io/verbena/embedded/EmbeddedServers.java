package io.verbena.embedded;

import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.memory.MemoryNodeState;
import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.RocksMetaStore;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.allocation.HeldRange;
import io.verbena.table.check.RegionReader;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.format.TableDescriptor;

import org.agrona.CloseHelper;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The fabric, the meta server and the memory nodes of an embedded cluster. One thread at a time. */
final class EmbeddedServers
{
    private static final long POLL_NS = 100_000;
    /** A step of closing gets no less than this, however short the deadlines of the user: 2 s. */
    static final long MIN_CLOSE_NS = 2_000_000_000;

    /** A memory node, with what it has published last; null before. */
    static final class WatchedMemory
    {
        private final MemoryNode node;
        private volatile NodeSight.Memory sight;

        private WatchedMemory(final MemoryNode node)
        {
            this.node = node;
        }

        private void publish()
        {
            sight = NodeSight.Memory.of(node);
        }

        MemoryNode node()
        {
            return node;
        }

        NodeSight.Memory sight()
        {
            return sight;
        }
    }

    private final long stepTimeoutNs;
    private final boolean isWatched;
    private final List<WatchedMemory> watchedMemory = new ArrayList<>();
    private volatile NodeSight.Meta metaSight;
    private final List<Device> devices = new ArrayList<>();
    private final List<AgentThread> memoryNodes = new ArrayList<>();
    private final List<MemoryNode> nodes = new ArrayList<>();
    private DataFolder dataFolder;
    private Fabric fabric;
    private RocksMetaStore store;
    private NanoClock clock;
    private AgentThread metaServer;
    private PeerAddress metaServerAddress;

    private EmbeddedServers(final long stepTimeoutNs, final boolean isWatched)
    {
        this.stepTimeoutNs = stepTimeoutNs;
        this.isWatched = isWatched;
    }

    /**
     * Starts the servers and waits until the memory nodes are ready.
     *
     * @param options of the cluster.
     * @return the servers, closed by the caller.
     * @throws EmbeddedClusterException when one did not start; everything begun was undone.
     */
    static EmbeddedServers start(final EmbeddedClusterOptions options)
    {
        final EmbeddedServers servers = new EmbeddedServers(
            options.stepTimeoutNs(), EmbeddedClusterOptions.NO_DASHBOARD != options.dashboardPort());
        try
        {
            servers.startMetaServer(options.dataDirectory(), options.fabric());
            servers.startMemoryNodes(options.memoryNodes(), options.memoryBytesPerNode());
            return servers;
        }
        catch (final RuntimeException ex)
        {
            try
            {
                servers.close();
            }
            catch (final RuntimeException suppressed)
            {
                ex.addSuppressed(suppressed);
            }
            throw startFailure(ex);
        }
    }

    static EmbeddedClusterException startFailure(final RuntimeException ex)
    {
        return ex instanceof final EmbeddedClusterException known ?
            known : new EmbeddedClusterException("cluster could not be started: " + ex.getMessage(), ex);
    }

    private Agent watched(final Agent agent, final Runnable publisher)
    {
        return isWatched ? new WatchedAgent(agent, publisher, clock) : agent;
    }

    /** @return what the meta server has published last; null before. */
    NodeSight.Meta metaSight()
    {
        return metaSight;
    }

    /** @return the memory nodes; not to be changed, and the same from the start on. */
    List<WatchedMemory> watchedMemory()
    {
        return watchedMemory;
    }

    NanoClock clock()
    {
        return clock;
    }

    PeerAddress metaServerAddress()
    {
        return metaServerAddress;
    }

    Path dataDirectory()
    {
        return dataFolder.path();
    }

    /**
     * @param name for messages.
     * @return a new device, closed by the caller before the servers.
     */
    Device openDevice(final String name)
    {
        return fabric.openDevice(name);
    }

    /** The cluster closes the fabric itself when the JVM shuts down: compute nodes finish what they began first. */
    void awaitCloseAtExit(final long timeoutNs)
    {
        fabric.awaitCloseAtExit(timeoutNs);
    }

    /** Keeps all servers from sleeping, for somebody who is about to call them several times in a row. */
    void keepAwake(final long durationNs)
    {
        metaServer.idleStrategy().keepAwake(durationNs);
        memoryNodes.forEach((thread) -> thread.idleStrategy().keepAwake(durationNs));
    }

    /** Ends {@link #keepAwake(long)}. */
    void letSleep()
    {
        metaServer.idleStrategy().letSleep();
        memoryNodes.forEach((thread) -> thread.idleStrategy().letSleep());
    }

    private static Fabric openFabric(final String name)
    {
        try
        {
            return Fabrics.open(name);
        }
        catch (final RdmaException ex)
        {
            throw new FabricUnusableException("fabric " + name + " cannot be used: " + ex.getMessage(), ex);
        }
    }

    private void startMetaServer(final Path dataDirectory, final String fabricName)
    {
        dataFolder = DataFolder.open(dataDirectory);
        store = RocksMetaStore.open(dataFolder.path().resolve("meta"));
        forgetEarlierRun();
        fabric = openFabric(fabricName);
        final Device device = openServerDevice("meta-server");
        clock = device.clock();
        final MetaServer server = MetaServer.open(
            device,
            store,
            // Every node of an embedded cluster ends with its process, and the data folder is locked by one process.
            new MetaServerConfiguration().maxNodes(4 * EmbeddedClusterOptions.MAX_NODES).previousNodesAreGone(true));
        metaServerAddress = server.address();
        metaServer = AgentThread.start("verbena-meta-server",
            watched(server, () -> metaSight = NodeSight.Meta.of(server)), clock);
    }

    /**
     * All nodes of an earlier run lived in the process that held this folder, so they are dead, and their memory, which
     * the tables were in, is gone. What must never go back (incarnations, epochs, writer numbers) stays.
     */
    private void forgetEarlierRun()
    {
        final MetaState state = store.load();
        final MetaBatch batch = new MetaBatch();
        state.nodes().forEach((node) -> batch.removeNode(node.nodeId()));
        state.tables().forEach((table) -> batch.removeTable(table.name()));
        if (!state.nodes().isEmpty() || !state.tables().isEmpty())
        {
            store.write(batch);
        }
    }

    private void startMemoryNodes(final int count, final long lengthBytes)
    {
        keepAwake(stepTimeoutNs);
        for (int i = 1; i <= count; i++)
        {
            final Device device = openServerDevice("memory-" + i);
            final MemoryNode node = MemoryNode.open(
                device, metaServerAddress,
                new MemoryNodeConfiguration().regionLengthBytes(lengthBytes).joinTimeoutNs(stepTimeoutNs));
            nodes.add(node);
            final WatchedMemory watched = new WatchedMemory(node);
            watchedMemory.add(watched);
            memoryNodes.add(AgentThread.start("verbena-memory-" + i, watched(node, watched::publish), clock));
        }
        keepAwake(stepTimeoutNs);
        nodes.forEach(this::awaitReady);
        letSleep();
    }

    /**
     * Checks all tables and all memory, while nobody changes them.
     *
     * @param held what all compute nodes hold.
     * @return what was found.
     */
    StoreCheck check(final List<HeldRange> held)
    {
        final List<TableDescriptor> tables = store.load().tables().stream()
            .map((table) -> TableDescriptor.decode(table.descriptor())).toList();
        final RegionReader reader = (id, offset, target, length) -> nodes.stream()
            .filter((node) -> node.nodeId() == id).findFirst().orElseThrow().readRegion(offset, target, length);
        return new StoreChecker(reader, tables, held).check(nodes.stream().map(MemoryNode::nodeId).toList());
    }

    private Device openServerDevice(final String name)
    {
        final Device device = fabric.openDevice(name);
        devices.add(device);
        return device;
    }

    private void awaitReady(final MemoryNode node)
    {
        final long deadlineNs = clock.nanoTime() + stepTimeoutNs;
        while (!node.isReady())
        {
            if (MemoryNodeState.FAILED == node.state() || clock.nanoTime() - deadlineNs >= 0)
            {
                throw new EmbeddedClusterException(
                    "memory node did not become ready: state=" + node.state() + " " + node.failure());
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    /** Ends threads, then frees what they used, in the reverse order of their start. */
    void close()
    {
        final long timeoutNs = Math.max(stepTimeoutNs, MIN_CLOSE_NS);
        final List<AutoCloseable> steps = new ArrayList<>();
        memoryNodes.forEach((thread) -> steps.add(() -> thread.close(timeoutNs)));
        if (null != metaServer)
        {
            steps.add(() -> metaServer.close(timeoutNs));
        }
        steps.addAll(devices.reversed());
        steps.add(fabric);
        steps.add(store);
        steps.add(dataFolder);
        CloseHelper.closeAll(steps);
    }

    @Override
    public String toString()
    {
        return "EmbeddedServers{metaServer=" + metaServerAddress + ", memoryNodes=" + memoryNodes.size() + '}';
    }
}
