package io.verbena.embedded;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.routing.ComputeNodeSet;
import io.verbena.client.routing.RemoteNodes;
import io.verbena.client.routing.RoutedKvClient;
import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.compute.figures.NodeSpace;
import io.verbena.memory.MemoryNode;
import io.verbena.memory.MemoryNodeConfiguration;
import io.verbena.memory.SimDisk;
import io.verbena.meta.MetaServer;
import io.verbena.meta.MetaServerConfiguration;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.remote.RequestServer;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.request.Waker;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.table.allocation.HeldRange;
import io.verbena.table.check.RegionReader;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.test.Mutation;

import org.agrona.concurrent.Agent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The agents of a whole cluster, and a client, stepped in one thread over the simulated fabric. Subtables are short.
 */
final class SimCluster implements AutoCloseable
{
    static final long LEASE_NS = 20_000_000;
    static final int CHUNK_BYTES = 64 << 10;
    private static final int GROWING_CHUNKS = 400;
    private static final int DURABLE_CHUNKS = 24;
    private static final long IDLE_EPOCH_NS = 2_000_000_000;
    private static final int QUIET_MS = 25;
    private static final long OFTEN_NS = 200_000;
    private static final int UNREADABLE_TABLE_ID = 1_000;
    private static final long EPOCH_2026_NS = 1_767_225_600_000_000_000L;
    private static final long MAX_STEPS = 20_000_000;
    static final long CONTROL_TIMEOUT_NS = 1_000_000_000;
    static final int CLIENT_PORT = 9;
    /** Clients on other machines that a compute node takes. */
    static final int MAX_CLIENTS = 4;

    /** A compute node, the simulated machine it runs on, and its server for clients on other machines, if any. */
    record Compute(SimNode machine, ComputeNode node, RequestServer server)
    {
        boolean isServing()
        {
            return machine.isRunning() && ComputeNode.State.SERVING == node.state();
        }
    }

    private final SimWorld world;
    private final InMemoryMetaStore metaStore = new InMemoryMetaStore();
    private final List<SimMemoryHost> memoryHosts = new ArrayList<>();
    private final Flaw flaw;
    private SimNode metaMachine;
    private MetaServer metaServer;
    private UnaryOperator<MetaServerConfiguration> metaOptions = UnaryOperator.identity();
    private final long leaseNs;
    private int chunksPerNode;
    /** Of compute nodes that are added from then on. */
    long fillBytesPerSecond = 256L << 20;
    private final Mutation.Opened mutation;
    private final List<Compute> computes = new ArrayList<>();
    private final ComputeNodeSet nodes = new ComputeNodeSet();
    private final boolean isRemote;
    private long heartbeatNs = LEASE_NS / 20;
    private boolean splitsSubtables = true;
    boolean addsSpares;
    private long fillLookPauseNs = TimeUnit.SECONDS.toNanos(1);
    private int maxMemoryNodes = 128;
    private String failureDomain = FailureDomain.NONE;
    private UnaryOperator<Device> computeDevices = UnaryOperator.identity();
    private final SimNode clientMachine;
    private final RoutedKvClient client;
    private RemoteNodes remoteNodes;

    SimCluster(final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount)
    {
        this(seed, options, memoryNodeCount, computeNodeCount, false, null, 127, Mutation.NONE, LEASE_NS);
    }

    /** Memory nodes have folders on simulated disks. */
    static SimCluster durable(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final Flaw flaw)
    {
        return durableGrowing(seed, options, memoryNodeCount, computeNodeCount, flaw, DURABLE_CHUNKS);
    }

    /** Memory nodes have folders on simulated disks, and memory for tables that grow. */
    static SimCluster durableGrowing(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final Flaw flaw, final int chunksPerNode)
    {
        return new SimCluster(
            seed, options, memoryNodeCount, computeNodeCount, false, flaw, chunksPerNode, flaw.mutation(), LEASE_NS);
    }

    /** @param isRemote whether the client is on a machine of its own, and reaches compute nodes by messages. */
    SimCluster(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final boolean isRemote)
    {
        this(seed, options, memoryNodeCount, computeNodeCount, isRemote, null, 127, Mutation.NONE, LEASE_NS);
    }

    SimCluster(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final int chunksPerNode)
    {
        this(seed, options, memoryNodeCount, computeNodeCount, chunksPerNode, Mutation.NONE);
    }

    /** All nodes are mutated until it is closed; so are those of other clusters. */
    SimCluster(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final int chunksPerNode, final Mutation mutation)
    {
        this(seed, options, memoryNodeCount, computeNodeCount, false, null, chunksPerNode, mutation, LEASE_NS);
    }

    /** With memory for tables that grow much. */
    static SimCluster growing(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount)
    {
        return growing(seed, options, memoryNodeCount, computeNodeCount, Mutation.NONE);
    }

    static SimCluster growing(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final Mutation mutation)
    {
        return new SimCluster(
            seed, options, memoryNodeCount, computeNodeCount, false, null, GROWING_CHUNKS, mutation, LEASE_NS);
    }

    /** As {@link #growing}, with leases that last as long as is said. */
    static SimCluster growingOnLeases(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final long leaseNs)
    {
        return new SimCluster(
            seed, options, memoryNodeCount, computeNodeCount, false, null, GROWING_CHUNKS, Mutation.NONE, leaseNs);
    }

    /** As {@link #growing}, with nodes that look all the time for subtables to be merged. */
    static SimCluster shrinking(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount)
    {
        return growing(seed, options, memoryNodeCount, 0).lookingOften(computeNodeCount);
    }

    /** As {@link #durableGrowing}, with nodes that look all the time for subtables to be merged. */
    static SimCluster durableShrinking(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final Flaw flaw, final int chunksPerNode)
    {
        return durableGrowing(seed, options, memoryNodeCount, 0, flaw, chunksPerNode).lookingOften(computeNodeCount);
    }

    private SimCluster lookingOften(final int computeNodeCount)
    {
        fillLookPauseNs = OFTEN_NS;
        for (int i = 0; i < computeNodeCount; i++)
        {
            final Compute compute = addComputeNode();
            world.runUntil(compute::isServing, MAX_STEPS);
        }
        return this;
    }

    private SimCluster(
        final long seed, final SimFabricOptions options, final int memoryNodeCount, final int computeNodeCount,
        final boolean isRemote, final Flaw flaw, final int chunksPerNode, final Mutation mutation, final long leaseNs)
    {
        this.leaseNs = leaseNs;
        this.isRemote = isRemote;
        this.flaw = flaw;
        this.chunksPerNode = chunksPerNode;
        world = new SimWorld(seed, options);
        this.mutation = mutation.open();
        try
        {
            startMetaServer();
            for (int i = 1; i <= memoryNodeCount; i++)
            {
                addMemoryNode("memory-" + i);
            }
            final KvClientOptions clientOptions = new KvClientOptions().completionExecutor(Runnable::run);
            client = RoutedKvClient.openStepped(nodes, world.clock(), clientOptions);
            clientMachine = world.addNode("client").addAgent(new Sweeper());
            if (isRemote)
            {
                remoteNodes = new RemoteNodes(clientMachine.device(), locator(), nodes,
                    new Waker(), LEASE_NS / 2, (error) -> {});
                clientMachine.addAgent(remoteNodes);
            }
            for (int i = 0; i < computeNodeCount; i++)
            {
                final Compute compute = addComputeNode();
                world.runUntil(compute::isServing, MAX_STEPS);
            }
        }
        catch (final RuntimeException | Error ex)
        {
            this.mutation.close();
            throw ex;
        }
    }

    /** Looks after the client's deadlines, as its own thread does elsewhere. */
    private final class Sweeper implements Agent
    {
        @Override
        public int doWork()
        {
            client.sweep();
            if (isRemote)
            {
                return 0;
            }
            computes.stream().filter((compute) -> ComputeNode.State.LEFT == compute.node.state())
                .forEach((compute) -> nodes.remove(compute.node.endpoint()));
            return 0;
        }

        @Override
        public String roleName()
        {
            return "client-sweeper";
        }
    }

    SimWorld world()
    {
        return world;
    }

    MetaServer metaServer()
    {
        return metaServer;
    }

    /** Of a meta server that starts from now on. */
    void metaOptions(final UnaryOperator<MetaServerConfiguration> options)
    {
        metaOptions = options;
    }

    SimNode metaMachine()
    {
        return metaMachine;
    }

    SimNode clientMachine()
    {
        return clientMachine;
    }

    RemoteNodes remoteNodes()
    {
        return remoteNodes;
    }

    List<SimNode> memoryMachines()
    {
        return memoryHosts.stream().map(SimMemoryHost::machine).toList();
    }

    List<SimMemoryHost> memoryHosts()
    {
        return memoryHosts;
    }

    /** The meta server's process ends, and a new one starts on what it had written, at another address. */
    void moveMetaServer()
    {
        metaMachine.kill();
        startMetaServer();
    }

    /** As if a later version had made it: no node can read its descriptor. The meta server moves. */
    void addUnreadableTable(final String name)
    {
        publish(name, UNREADABLE_TABLE_ID, new byte[9]);
    }

    /** As if another process had made a table known, or a newer descriptor of one. The meta server moves. */
    void publish(final String name, final int tableId, final byte[] descriptor)
    {
        metaStore.write(new MetaBatch().table(new StoredTable(name, tableId, descriptor)));
        moveMetaServer();
    }

    private void startMetaServer()
    {
        metaMachine = world.addNode("meta-server");
        metaServer = MetaServer.open(metaMachine.device(), metaStore, metaOptions.apply(new MetaServerConfiguration())
            .leaseNs(leaseNs).leaseMarginNs(leaseNs / 10)
            .epochIntervalNs(200_000).fenceTimeoutNs(5_000_000)
            .idleEpochIntervalNs(null == flaw ? IDLE_EPOCH_NS : 200_000).fenceRetryNs(1_000_000));
        metaMachine.addAgent(metaServer);
    }

    /** Knows where the meta server is only after it was not reached where it was. */
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
        };
    }

    /** A machine that runs stands still for a while. */
    void pause(final SimNode machine, final long longestNs)
    {
        if (machine.isRunning())
        {
            machine.pause();
            world.after(world.random().nextLong(longestNs), machine::resume);
        }
    }

    List<Compute> computes()
    {
        return computes;
    }

    ComputeNodeSet nodes()
    {
        return nodes;
    }

    RoutedKvClient client()
    {
        return client;
    }

    /** Of compute nodes that are added from now on. */
    void heartbeatNs(final long intervalNs)
    {
        heartbeatNs = intervalNs;
    }

    /** Of compute nodes that are added from now on. */
    void fillLookPauseNs(final long pauseNs)
    {
        fillLookPauseNs = pauseNs;
    }

    /** Of compute nodes that are added from now on. */
    void splitsSubtables(final boolean isOn)
    {
        splitsSubtables = isOn;
    }

    /** Of compute nodes that are added from now on. */
    void maxMemoryNodes(final int nodes)
    {
        maxMemoryNodes = nodes;
    }

    /** Compute nodes added from now on work on what is made of their devices. */
    void computeDevices(final UnaryOperator<Device> wrapper)
    {
        computeDevices = wrapper;
    }

    /** Starts a compute node; it takes operations as soon as it serves. */
    Compute addComputeNode()
    {
        final String name = "compute-" + (computes.size() + 1);
        final SimNode machine = world.addNode(name);
        final ComputeNode node = new ComputeNode(
            computeDevices.apply(machine.device()), locator(),
            new ComputeNodeConfiguration().fillsChunks(false).name(name)
                .servicePort(isRemote ? CLIENT_PORT : 0).splitsSubtables(splitsSubtables)
                .spare(addsSpares).fillLookPauseNs(fillLookPauseNs).maxMemoryNodes(maxMemoryNodes)
                .fillBytesPerSecond(fillBytesPerSecond)
                .operationSlots(8).heartbeatIntervalNs(heartbeatNs)
                .callTimeoutNs(LEASE_NS / 2).versionClock(() -> EPOCH_2026_NS + world.clock().nanoTime()),
            world.clock().nanoTime());
        final RequestServer server = isRemote ? RequestServer.open(
            machine.device(), CLIENT_PORT, node.endpoint(), MAX_CLIENTS, null, (error) -> {}) : null;
        (isRemote ? machine.addAgent(server) : machine).addAgent(isRemote ? node : new ServingAgent(node, nodes::add));
        computes.add(new Compute(machine, node, server));
        return computes.getLast();
    }

    /** The client stops using a node that it knows to be gone. */
    void forget(final Compute compute)
    {
        nodes.remove(compute.node.endpoint());
    }

    KvTable createTable(final String name, final long expectedRecords)
    {
        return createTable(name, expectedRecords, 1);
    }

    /** @param copies each on another memory node. */
    KvTable createTable(final String name, final long expectedRecords, final int copies)
    {
        return client.table((TableReference)done(
            computes.getFirst(), ControlRequest.Kind.CREATE_TABLE, name, expectedRecords, copies));
    }

    void dropTable(final String name)
    {
        control(computes.stream().filter(Compute::isServing).findFirst().orElseThrow(), ControlRequest.Kind.DROP_TABLE,
            name);
    }

    /** Asks one node; it answers at once. */
    Object control(final Compute compute, final ControlRequest.Kind kind, final String table)
    {
        return done(compute, kind, table, 0, 1);
    }

    private Object done(
        final Compute compute, final ControlRequest.Kind kind, final String table, final long expectedRecords,
        final int copies)
    {
        final ControlRequest request = asked(compute, kind, table, expectedRecords, copies, CONTROL_TIMEOUT_NS);
        assertThat(request.status()).as(request.detail()).isEqualTo(ControlRequest.Status.OK);
        return request.result();
    }

    /** Asks one node, however it answers. */
    ControlRequest asked(
        final Compute compute, final ControlRequest.Kind kind, final String table, final long expectedRecords,
        final long timeoutNs)
    {
        return asked(compute, kind, table, expectedRecords, 1, timeoutNs);
    }

    private ControlRequest asked(
        final Compute compute, final ControlRequest.Kind kind, final String table, final long expectedRecords,
        final int copies, final long timeoutNs)
    {
        final ControlRequest request =
            new PolledRequest(kind, table, expectedRecords, copies, world.clock().nanoTime() + timeoutNs);
        compute.node.endpoint().submit(request);
        world.runUntil(() -> NodeRequest.DONE == request.state(), MAX_STEPS);
        return request;
    }

    /** What every serving node holds. */
    List<NodeSpace> spaces()
    {
        return List.copyOf(computes).stream().filter(Compute::isServing)
            .map((compute) -> (NodeSpace)control(compute, ControlRequest.Kind.SPACE, null)).toList();
    }

    void runFor(final long durationNs)
    {
        final long untilNs = world.clock().nanoTime() + durationNs;
        world.after(durationNs, () -> { });
        world.runUntil(() -> world.clock().nanoTime() >= untilNs, MAX_STEPS);
    }

    /** Runs until no node reclaims or has an operation under way, and nobody is being fenced. */
    void settle()
    {
        int quiet = 0;
        for (int i = 0; i < 2_000; i++)
        {
            runFor(1_000_000);
            final boolean isFencing = metaServer.stat().fencingNodes() > 0 ||
                metaServer.stat().liveComputeNodes() != computes.stream().filter(Compute::isServing).count();
            quiet = isFencing || spaces().stream().anyMatch(NodeSpace::isReclaiming) ? 0 : quiet + 1;
            if (quiet == QUIET_MS)
            {
                return;
            }
        }
        throw new AssertionError("reclamation does not end: " + metaServer.stat() + " " + spaces());
    }

    /** Every serving node reclaims what is unnamed in its own chunks. */
    void sweep()
    {
        computes.stream().filter(Compute::isServing)
            .forEach((compute) -> control(compute, ControlRequest.Kind.SWEEP, null));
        settle();
    }

    /** Checks every table and every byte; nobody may work on them. */
    StoreCheck check(final List<TableDescriptor> tables)
    {
        final List<HeldRange> held =
            spaces().stream().flatMap((space) -> space.held().stream()).toList();
        return new StoreChecker(regions(), tables, held)
            .check(memoryNodes().stream().map(MemoryNode::nodeId).toList());
    }

    /** Reads what is in the memory of the nodes, without a request. */
    RegionReader regions()
    {
        return (id, offset, target, length) -> memoryNodes().stream()
            .filter((node) -> node.nodeId() == id).findFirst().orElseThrow().readRegion(offset, target, length);
    }

    /** All tables as the meta server knows them. */
    List<TableDescriptor> tables()
    {
        return metaStore.load().tables().stream()
            .map((table) -> TableDescriptor.decode(table.descriptor())).toList();
    }

    private List<MemoryNode> memoryNodes()
    {
        return memoryHosts.stream().map(SimMemoryHost::node).toList();
    }

    /** @param chunks of memory nodes that are started from now on. */
    void chunksPerNode(final int chunks)
    {
        chunksPerNode = chunks;
    }

    /** Starts a memory node, and runs until it has joined. */
    void addMemoryNode(final String name)
    {
        final SimMemoryHost host = newMemoryHost(name, flaw);
        host.start();
        world.runUntil(host::isReady, MAX_STEPS);
    }

    /** @param label of memory nodes that are started from now on. */
    void failureDomain(final String label)
    {
        failureDomain = label;
    }

    /** A host whose node is not started yet; with a disk, unless the flaw is null. */
    SimMemoryHost newMemoryHost(final String name, final Flaw planted)
    {
        final String label = failureDomain;
        final SimMemoryHost host = new SimMemoryHost(world, name, this::locator, () -> new MemoryNodeConfiguration()
            .regionLengthBytes(SuperblockDescriptor.SPACE_BYTES +
                chunksPerNode * (CHUNK_BYTES + (long)ChunkDescriptor.HEADER_BYTES))
            .chunkLengthBytes(CHUNK_BYTES).callTimeoutNs(LEASE_NS / 2).failureDomain(label)
            .epochClock(() -> (EPOCH_2026_NS + world.clock().nanoTime()) / 1_000_000)
            .retryPauseNs(1_000_000), null == planted ? null : new SimDisk(world.random()));
        if (null != planted)
        {
            planted.plant(host);
        }
        memoryHosts.add(host);
        return host;
    }

    @Override
    public void close()
    {
        world.close();
        mutation.close();
    }
}
