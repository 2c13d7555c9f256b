package io.verbena.load.bench;

import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableCreator;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.Agent;

/**
 * Compute nodes that update the same keys, Zipf-distributed, on one simulated memory node whose RNIC has a cost: how
 * throughput and compare-and-swaps for an update change with the number of nodes. Time is virtual, and everything comes
 * from the seed: the same figures on every machine. One run at a time.
 */
public final class ContentionBenchmark
{
    private static final double ZIPF = 0.99;
    private static final int KEYS = 10_000;
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 100;
    private static final int CLIENTS_PER_NODE = 4;
    private static final int NODE_ID = 1;
    private static final int PORT = 7;
    private static final long CHUNK_BYTES = 1 << 19;
    private static final long FIRST_CHUNK = 1 << 16;
    private static final long EPOCH_NS = 100_000;
    /** About two round trips of the modelled RNIC when it is busy. */
    private static final long MIN_PAUSE_NS = 16_000;
    private static final long MAX_PAUSE_NS = 1_000_000;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_STEPS = 500_000_000L;
    private static final long SEED = 20261121;

    private final boolean isControlled;
    private final long updates;
    private final SimWorld world;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment value = arena.allocate(VALUE_BYTES, Long.BYTES);
    private final List<Writer> writers = new ArrayList<>();
    private final double[] cumulated = new double[KEYS];
    private final RaasContext memory;
    private final SimNode memoryNode;
    private final MemoryRegion region;
    private OpenTable formatted;
    private long nextChunk = FIRST_CHUNK;
    private long epoch = 1;
    private long loaded;
    private long ended;
    private boolean isLoaded;
    private boolean isClosing;

    /** A compute node: an engine whose clients each begin the next update when their last one has ended. */
    private final class Writer implements Agent
    {
        private final int id;
        private final RaasContext context;
        private final TableEngine engine;
        private final RandomGenerator random;
        private final MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
        private final TableRequest request = new TableRequest();
        private OpenTable table;
        private VirtualQp connection;
        private long passed;

        private Writer(final int id)
        {
            this.id = id;
            random = new java.util.Random(SEED + id);
            final SimNode node = world.addNode("compute-" + id);
            context = RaasContext.open(node.device(), new RaasConfiguration().identity(new PeerIdentity(100 + id, 1)));
            engine = TableEngine.open(context.protectionDomain(), node.device().attributes(), context.clock(),
                new TableEngineConfiguration().operationSlots(CLIENTS_PER_NODE).writerNumber(id).seed(SEED + id)
                    .locationCacheEntries(2 * KEYS).versionClock(() -> world.clock().nanoTime())
                    .controlsContention(isControlled).backoffNs(MIN_PAUSE_NS, MAX_PAUSE_NS)
                    .operationListener(this::onEnd).chunkSource(this::lease));
            node.addAgent(this);
        }

        private void lease(final int memoryNodeId)
        {
            if (nextChunk + CHUNK_BYTES > region.lengthBytes())
            {
                engine.chunkRefused(memoryNodeId);
                return;
            }
            engine.chunkLeased(memoryNodeId, nextChunk, CHUNK_BYTES);
            nextChunk += CHUNK_BYTES;
        }

        private void onEnd(final Operation operation)
        {
            if (operation.result() != OperationResult.STORED && !isClosing)
            {
                throw new IllegalStateException("an update ended with " + OperationResult.name(operation.result()));
            }
            ended++;
        }

        @Override
        public int doWork()
        {
            if (connection == null)
            {
                connection = context.connect(
                    new PeerAddress(memoryNode.device().address(), PORT, NODE_ID, 1),
                    ReadTargetAddress.NONE, RemoteRegion.of(region),
                    (vqp, cookie, status) -> engine.onBatchComplete(cookie, status), DEADLINE_NS);
                engine.attach(NODE_ID, connection);
            }
            final int worked = context.poll() + engine.poll();
            if (formatted != null)
            {
                table = table == null ? engine.openTable(formatted.descriptor()) : table;
                begin();
            }
            passed = engine.passedEpoch();
            engine.onEpoch(epoch, safeEpoch());
            return worked;
        }

        private void begin()
        {
            while (engine.freeSlots() > 0 && (isLoaded || id == 1 && loaded < KEYS))
            {
                key.set(ValueLayout.JAVA_LONG, 0, isLoaded ? draw(random.nextDouble()) : loaded++);
                engine.begin(request.of(OperationKind.PUT, table, context.clock().nanoTime() + DEADLINE_NS, 0)
                    .key(key, 0, KEY_BYTES).value(value, 0, VALUE_BYTES));
            }
        }

        @Override
        public String roleName()
        {
            return "compute-" + id;
        }
    }

    private ContentionBenchmark(final int nodes, final boolean isControlled, final long updates)
    {
        this.isControlled = isControlled;
        this.updates = updates;
        world = new SimWorld(SEED,
            SimFabricOptions.calm().rnicModel(RnicModel.load(RnicModel.CONNECTX3_ROCE)).agentStepNs(200, 300, 500));
        double sum = 0;
        for (int i = 0; i < KEYS; i++)
        {
            sum += 1 / Math.pow(i + 1, ZIPF);
            cumulated[i] = sum;
        }
        memoryNode = world.addNode("memory");
        memory = RaasContext.open(memoryNode.device(), new RaasConfiguration());
        region = memory.protectionDomain().allocateRegistered(
            FIRST_CHUNK + (2L * nodes + 32) * CHUNK_BYTES, AccessFlags.ALL_REMOTE);
        memory.serve(PORT, (caller, source) -> Admission.accept(AccessFlags.ALL_REMOTE, new byte[0], region),
            (caller, method, request, offset, length, reply) -> 0);
        memoryNode.addAgent(new Agent()
        {
            @Override
            public int doWork()
            {
                return memory.poll();
            }

            @Override
            public String roleName()
            {
                return "memory";
            }
        });
        for (int i = 1; i <= nodes; i++)
        {
            writers.add(new Writer(i));
        }
        world.after(EPOCH_NS, this::advanceEpoch);
    }

    /**
     * Measures.
     *
     * @param nodes        compute nodes, 1 to 64.
     * @param isControlled see {@link TableEngineConfiguration#controlsContention}.
     * @param updates      to measure; a quarter as many go before.
     * @return what they reach.
     */
    public static ContentionRow measure(final int nodes, final boolean isControlled, final long updates)
    {
        final ContentionBenchmark benchmark = new ContentionBenchmark(nodes, isControlled, updates);
        try
        {
            return benchmark.run();
        }
        finally
        {
            benchmark.close();
        }
    }

    private ContentionRow run()
    {
        final TableEngine first = writers.getFirst().engine;
        final TablePlan plan = TablePlan.forRecords("contention", 1, 31, KEYS, new int[]{NODE_ID}, CHUNK_BYTES);
        while (plan.place(NODE_ID, nextChunk))
        {
            nextChunk += CHUNK_BYTES;
        }
        final TableCreator creator = first.createTable(plan, world.clock().nanoTime() + DEADLINE_NS);
        world.runUntil(() -> creator.state() != TableCreator.State.RUNNING, MAX_STEPS);
        if (creator.failure() != null)
        {
            throw new IllegalStateException(creator.failure());
        }
        formatted = first.openTable(creator.descriptor());
        world.runUntil(() -> ended >= KEYS, MAX_STEPS);
        isLoaded = true;
        final long warmUntil = ended + updates / 4;
        world.runUntil(() -> ended >= warmUntil, MAX_STEPS);
        final long endedBefore = ended;
        final long swapsBefore = swaps();
        final long combinedBefore = combined();
        final long startNs = world.clock().nanoTime();
        world.runUntil(() -> ended >= endedBefore + updates, MAX_STEPS);
        final double count = ended - endedBefore;
        return new ContentionRow(writers.size(), isControlled, ended - endedBefore,
            count * TimeUnit.SECONDS.toNanos(1) / (world.clock().nanoTime() - startNs),
            (swaps() - swapsBefore) / count, (combined() - combinedBefore) / count);
    }

    private long swaps()
    {
        return writers.stream().mapToLong(writer -> writer.engine.counters().decisiveSwaps).sum();
    }

    private long combined()
    {
        return writers.stream().mapToLong(writer -> writer.engine.counters().combined).sum();
    }

    private long draw(final double uniform)
    {
        final int at = Arrays.binarySearch(cumulated, uniform * cumulated[KEYS - 1]);
        return at < 0 ? -at - 1 : at;
    }

    private void advanceEpoch()
    {
        if (safeEpoch() >= epoch - 1)
        {
            epoch++;
        }
        world.after(EPOCH_NS, this::advanceEpoch);
    }

    private long safeEpoch()
    {
        return writers.stream().mapToLong(writer -> writer.passed).min().orElse(0);
    }

    private void close()
    {
        isClosing = true;
        writers.forEach(writer -> writer.engine.close());
        world.close();
        arena.close();
    }
}
