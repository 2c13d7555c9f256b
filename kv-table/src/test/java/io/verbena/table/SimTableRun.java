package io.verbena.table;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One seeded run of the whole stack over the simulated verbs: memory nodes, and compute nodes with an engine over
 * virtual queue pairs each; nodes die after a drawn number of requests, pause, or lose their connections; a dead or
 * paused node is fenced at the memory nodes before the epoch goes on without it.
 */
final class SimTableRun implements AutoCloseable
{
    private static final int PORT = 9;
    private static final int REGION_BYTES = 1 << 18;
    private static final int TABLE_AT = 4096;
    private static final int CHUNKS_AT = 1 << 16;
    private static final int CHUNK_STRIDE = 1 << 14;
    private static final int BLOCK_BYTES = 192;
    private static final long HASH_SEED = 42;
    private static final long DEADLINE_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long MAX_STEPS = 2_000_000;
    private static final int GROUPED_SEEDS = 3;
    private static final int GROUPED_CLIENTS = 4;
    private static final int REPEATING_SEEDS = 2;
    private static final int[] KINDS = {0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 9};
    private static final int[] COUNTING_KINDS = {0, 0, 2, 3, 4, 5, 6, 7, 7, 7, 9};

    private final long seed;
    private final SimWorld world;
    private final Random random;
    private final List<MemoryHost> hosts = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final RaceWorkload workload;
    private final int blocks;
    private final int clients;
    private final boolean shortDeadlines;
    private final boolean areGrouped;
    private long groups;
    private final TablePlan plan;
    private OpenTable formatted;
    private long epoch = 1;

    /** A memory node: registered memory and an acceptor; its agent never looks at the memory. */
    private final class MemoryHost implements Agent
    {
        private final int id;
        private final SimNode node;
        private final RaasContext context;
        private final MemoryRegion region;
        private final RpcServer server;

        private MemoryHost(final int id)
        {
            this.id = id;
            node = world.addNode("memory-" + id);
            context = RaasContext.open(node.device(), new RaasConfiguration());
            region = context.protectionDomain().allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
            server = context.serve(PORT,
                (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
                (caller, method, request, offset, length, reply) -> 0);
            node.addAgent(this);
        }

        @Override
        public int doWork()
        {
            return context.poll();
        }

        @Override
        public String roleName()
        {
            return "memory-" + id;
        }
    }

    /** A compute node: an engine, its clients, and its view of the epoch. */
    private final class Node implements Agent
    {
        private final int id;
        private final SimNode node;
        private final RaasContext context;
        private final TableEngine engine;
        private final RaceWorkload.Clients workers = workload.clients(clients);
        private final VirtualQp[] connections = new VirtualQp[hosts.size()];
        private OpenTable table;
        private long passed;
        private boolean suspect;
        private boolean fenced;

        private Node(final int id)
        {
            this.id = id;
            node = world.addNode("compute-" + id);
            context = RaasContext.open(
                node.device(), new RaasConfiguration().identity(new PeerIdentity(100 + id, 1)));
            engine = TableEngine.open(context.protectionDomain(), node.device().attributes(), context.clock(),
                new TableEngineConfiguration().operationSlots(clients).writerNumber(id)
                    .locationCacheEntries(id == 1 ? 0 : 64).seed(seed + id).backoffNs(2_000, 200_000)
                    .versionClock(() -> world.clock().nanoTime()).operationListener(workers::onComplete)
                    .chunkSource(this::refuse));
            for (final MemoryHost host : hosts)
            {
                engine.chunkLeased(host.id, CHUNKS_AT + (long)id * CHUNK_STRIDE, (long)blocks * BLOCK_BYTES);
            }
            node.addAgent(this);
        }

        private void refuse(final int memoryNodeId)
        {
            engine.chunkRefused(memoryNodeId);
        }

        @Override
        public int doWork()
        {
            connect();
            final int worked = context.poll() + engine.poll();
            if (formatted != null)
            {
                if (table == null)
                {
                    table = engine.openTable(formatted.descriptor());
                }
                begin(world.clock().nanoTime() +
                    (shortDeadlines && random.nextInt(4) == 0 ? random.nextInt(40_000) : DEADLINE_NS));
            }
            if (random.nextInt(10) == 0)
            {
                passed = engine.passedEpoch();
                engine.onEpoch(epoch, safeEpoch());
            }
            return worked + 1;
        }

        private void begin(final long deadlineNs)
        {
            if (!areGrouped)
            {
                workers.maybeBegin(engine, table, deadlineNs);
                return;
            }
            engine.beginGroup();
            try
            {
                int begun = 0;
                while (begun < clients && workers.maybeBegin(engine, table, deadlineNs))
                {
                    begun++;
                }
                groups += begun > 1 ? 1 : 0;
            }
            finally
            {
                engine.endGroup();
            }
        }

        private void connect()
        {
            for (int i = 0; i < connections.length && !fenced; i++)
            {
                if (connections[i] == null || connections[i].state() == VirtualQp.State.FAILED)
                {
                    final MemoryHost host = hosts.get(i);
                    connections[i] = context.connect(
                        new PeerAddress(host.node.device().address(), PORT, host.id, 1),
                        ReadTargetAddress.NONE, RemoteRegion.of(host.region),
                        (vqp, cookie, status) -> engine.onBatchComplete(cookie, status), DEADLINE_NS);
                    engine.attach(host.id, connections[i]);
                }
            }
        }

        private boolean isBusy()
        {
            return !fenced && (suspect || engine.active() > 0);
        }

        @Override
        public String roleName()
        {
            return "compute-" + id;
        }
    }

    SimTableRun(final long seed)
    {
        this.seed = seed;
        random = new Random(seed);
        final SimFabricOptions options =
            new SimFabricOptions().readAfterAtomicNeedsFence(random.nextInt(4) == 0).retryTimeoutNs(200_000);
        world = new SimWorld(seed, options);
        blocks = 6 + random.nextInt(8);
        // By the seed, not drawn, so that all else of a seed stays as it is.
        areGrouped = seed % GROUPED_SEEDS == 0;
        final int drawnClients = 1 + random.nextInt(2);
        clients = areGrouped ? GROUPED_CLIENTS : drawnClients;
        shortDeadlines = random.nextInt(3) == 0;
        workload = new RaceWorkload(
            "seed " + seed, random, StepRun.COLLIDING.subList(0, 1 + random.nextInt(4)),
            random.nextInt(3) == 0 ? COUNTING_KINDS : KINDS, 60);
        workload.isRepeating = seed % REPEATING_SEEDS == 0;
        workload.numbers = Numbers.of(seed);
        hosts.add(new MemoryHost(1));
        hosts.add(new MemoryHost(2));
        plan = TablePlan.ofShape("sim", 5, HASH_SEED, 1, 1 + random.nextInt(2), new int[]{1, 2});
        plan.place(1, TABLE_AT);
        plan.place(2, TABLE_AT);
        for (int i = 1; i <= 2 + random.nextInt(2); i++)
        {
            nodes.add(new Node(i));
        }
        world.after(50_000, this::coordinate);
    }

    /** @return null when all is well, else what is wrong. */
    String run()
    {
        final TableEngine first = nodes.get(0).engine;
        final TableCreator creator = first.createTable(plan, world.clock().nanoTime() + DEADLINE_NS);
        world.runUntil(() -> creator.state() != TableCreator.State.RUNNING, MAX_STEPS);
        if (creator.failure() != null)
        {
            return "seed " + seed + ": " + creator.failure();
        }
        formatted = first.openTable(creator.descriptor());
        if (random.nextBoolean())
        {
            world.after(random.nextInt(600_000), this::fault);
            world.after(random.nextInt(600_000), this::fault);
        }
        world.runUntil(() -> workload.isAllBegun() && nodes.stream().noneMatch(Node::isBusy), MAX_STEPS);
        final TableCheck check = new TableChecker(creator.descriptor(), this::read).check();
        return check.isSound() ? workload.verdict() : "seed " + seed + ": " + check;
    }

    private void fault()
    {
        final Node victim = nodes.get(random.nextInt(nodes.size()));
        if (nodes.stream().filter(node -> !node.suspect && !node.fenced).count() < 2 || victim.suspect)
        {
            return;
        }
        switch (random.nextInt(4))
        {
            case 0 ->
            {
                victim.suspect = true;
                victim.node.kill();
            }
            case 1 ->
            {
                victim.suspect = true;
                victim.node.device().killAfterRequests(random.nextInt(12));
                world.after(100_000, victim.node::kill);
            }
            case 2 ->
            {
                victim.suspect = true;
                victim.node.pause();
                victim.node.device().pause();
                world.after(100_000 + random.nextInt(600_000), () ->
                {
                    // Back too late: what it sends now bounces.
                    victim.node.device().resume();
                    victim.node.resume();
                });
            }
            default -> victim.node.device().breakConnections(hosts.get(random.nextInt(hosts.size())).node.device());
        }
    }

    /** Fences suspects, then counts them out; the epoch advances when all others have passed the one before. */
    private void coordinate()
    {
        for (final Node node : nodes)
        {
            if (node.suspect && !node.fenced && random.nextInt(3) == 0)
            {
                hosts.forEach(host -> host.server.fence(new PeerIdentity(100 + node.id, 1)));
                node.fenced = true;
                node.suspect = false;
            }
        }
        if (safeEpoch() >= epoch - 1)
        {
            epoch++;
        }
        world.after(5_000 + random.nextInt(20_000), this::coordinate);
    }

    private long safeEpoch()
    {
        return nodes.stream().filter(node -> !node.fenced).mapToLong(node -> node.passed).min().orElse(0);
    }

    private void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        final MemoryRegion region = hosts.get(memoryNodeId - 1).region;
        target.putBytes(0, new UnsafeBuffer(region.segment().address(), REGION_BYTES), (int)offset, lengthBytes);
    }

    long results(final int result)
    {
        return nodes.stream().mapToLong(node -> node.engine.counters().results[result]).sum();
    }

    /** Results of operations that were begun again. */
    long repeated(final int result)
    {
        return workload.repeated[result];
    }

    /** Groups of two operations or more. */
    long groups()
    {
        return groups;
    }

    @Override
    public void close()
    {
        nodes.forEach(node -> node.engine.close());
        world.close();
    }
}
