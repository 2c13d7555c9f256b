package io.verbena.memory;

import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaStore;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.Agent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A meta server, memory nodes and compute nodes of the control plane's view, in one simulated world. */
final class SimControlPlane implements AutoCloseable
{
    static final long LEASE_NS = 10_000_000;
    static final long MARGIN_NS = 1_000_000;
    static final long CALL_TIMEOUT_NS = 2_000_000;
    static final int CHUNK_LENGTH_BYTES = 64 << 10;
    static final long REGION_LENGTH_BYTES = SuperblockDescriptor.SPACE_BYTES +
        16L * (CHUNK_LENGTH_BYTES + ChunkDescriptor.HEADER_BYTES);
    private static final long MAX_STEPS = 3_000_000;

    final SimWorld world;
    private SimNode metaNode;
    final List<SimNode> memorySimNodes = new ArrayList<>();
    final List<MemoryNode> memoryNodes = new ArrayList<>();
    final StubbornDevice stubbornDevice = new StubbornDevice();
    private final MetaStore store;
    private final long secretLifetimeNs;
    /** How far the clock of the next meta server is from that of the world. */
    long wallOffsetMs;
    MetaServer metaServer;
    private HaltingAgent metaAgent;

    SimControlPlane(final long seed, final MetaStore store, final int memoryNodeCount)
    {
        this(new SimWorld(seed, options()), store, memoryNodeCount);
    }

    /** In a world of somebody else's, who closes it. */
    SimControlPlane(final SimWorld world, final MetaStore store, final int memoryNodeCount)
    {
        this(world, store, memoryNodeCount, TimeUnit.HOURS.toNanos(24));
    }

    /** As above, with secrets of nodes that are renewed after half of this time. */
    SimControlPlane(
        final SimWorld world, final MetaStore store, final int memoryNodeCount, final long secretLifetimeNs)
    {
        this.store = store;
        this.secretLifetimeNs = secretLifetimeNs;
        this.world = world;
        metaNode = world.addNode("meta");
        startMetaServer();

        for (int i = 0; i < memoryNodeCount; i++)
        {
            addMemoryNode();
        }

        runUntil(() -> memoryNodes.stream().allMatch(MemoryNode::isReady));
    }

    static SimFabricOptions options()
    {
        return new SimFabricOptions().retryTimeoutNs(2_000_000);
    }

    MemoryNode addMemoryNode()
    {
        return addMemoryNode(new MemoryNodeConfiguration());
    }

    /** One whose memory outlives its process; it makes no checkpoints by itself. The folder is the caller's. */
    MemoryNode addMemoryNode(final MemoryFolder folder)
    {
        return addMemoryNode(new MemoryNodeConfiguration().folder(folder).noCheckpointThread());
    }

    private MemoryNode addMemoryNode(final MemoryNodeConfiguration configuration)
    {
        final SimNode node = world.addNode("memory" + memoryNodes.size());
        final MemoryNode memoryNode = MemoryNode.open(
            stubbornDevice.wrap(node.device()),
            locator(),
            configuration
                .regionLengthBytes(REGION_LENGTH_BYTES)
                .chunkLengthBytes(CHUNK_LENGTH_BYTES)
                .callTimeoutNs(CALL_TIMEOUT_NS)
                .retryPauseNs(200_000));
        node.addAgent(memoryNode);
        memorySimNodes.add(node);
        memoryNodes.add(memoryNode);
        return memoryNode;
    }

    SimComputeNode addComputeNode()
    {
        final SimComputeNode node = new SimComputeNode(world.addNode("compute"), locator());
        runUntil(() -> null != node.registration);
        return node;
    }

    PeerAddress address(final MemoryNode memoryNode)
    {
        final SimNode node = memorySimNodes.get(memoryNodes.indexOf(memoryNode));
        return new PeerAddress(node.device().address(), 1, memoryNode.nodeId(), memoryNode.incarnation());
    }

    SimNode simNode(final MemoryNode memoryNode)
    {
        return memorySimNodes.get(memoryNodes.indexOf(memoryNode));
    }

    /** Knows where the meta server is only after it was not reached where it was, or took long. */
    MetaServerLocator locator()
    {
        return new MetaServerLocator()
        {
            private PeerAddress known = metaServer.address();

            @Override
            public PeerAddress address()
            {
                return known;
            }

            @Override
            public void onUnreachable()
            {
                known = metaServer.address();
            }

            @Override
            public void onLate()
            {
                onUnreachable();
            }
        };
    }

    /** The server's machine is gone, and a new one starts on the same store, at another address. */
    void moveMetaServer()
    {
        metaNode.kill();
        metaNode = world.addNode("meta");
        startMetaServer();
    }

    /** The server's process stands still, connected as it is, and another one starts on the same store elsewhere. */
    void stopMetaServer()
    {
        metaNode.removeAgent(metaAgent);
        metaNode = world.addNode("meta");
        startMetaServer();
    }

    /** The server's process ends without notice and a new one starts on the same store, at the same address. */
    void restartMetaServer()
    {
        metaNode.removeAgent(metaAgent);
        metaServer.close();
        startMetaServer();
    }

    /** Whether the meta server has halted: it does nothing any more. */
    boolean hasHalted()
    {
        return metaAgent.hasHalted;
    }

    void runUntil(final BooleanSupplier condition)
    {
        world.runUntil(condition, MAX_STEPS);
    }

    @Override
    public void close()
    {
        world.close();
    }

    private void startMetaServer()
    {
        final long offsetMs = wallOffsetMs;
        metaServer = MetaServer.open(
            metaNode.device(),
            store,
            new MetaServerConfiguration()
                .maxNodes(16)
                .leaseNs(LEASE_NS)
                .leaseMarginNs(MARGIN_NS)
                .epochIntervalNs(100_000)
                .fenceTimeoutNs(2_000_000)
                .fenceRetryNs(500_000)
                .secretLifetimeNs(secretLifetimeNs)
                .wallClock(() -> offsetMs + metaNode.device().clock().nanoTime() / 1_000_000));
        metaAgent = new HaltingAgent(metaServer);
        metaNode.addAgent(metaAgent);
    }

    /** The server's process ends when its disk has failed. */
    private static final class HaltingAgent implements Agent
    {
        private final MetaServer server;
        private boolean hasHalted;

        private HaltingAgent(final MetaServer server)
        {
            this.server = server;
        }

        @Override
        public int doWork()
        {
            try
            {
                return hasHalted ? 0 : server.doWork();
            }
            catch (final DurableWriteError ex)
            {
                hasHalted = true;
                return 1;
            }
        }

        @Override
        public String roleName()
        {
            return server.roleName();
        }

        @Override
        public void onClose()
        {
            server.onClose();
        }
    }
}
