package io.verbena.load.verbs;

import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Predicts throughput over the number of connections of one machine, as in figure 5 of the RDMAdvisor paper: each
 * connection READs at random offsets of another machine, one request at a time; with a queue pair for each connection,
 * with one queue pair for each other machine that all share, or with one DC initiator for everything. Time is virtual
 * and comes from an {@link RnicModel}, so the figures are the same on every machine.
 */
public final class QpScaling
{
    /** Name of the RNIC model that is used unless another is given. */
    public static final String MODEL_NAME = RnicModel.CONNECTX3_ROCE;

    /** Other machines; the paper's cluster has four in all. */
    static final int TARGETS = 3;
    private static final int SERVICE_PORT = 1;
    private static final int REGION_BYTES = 1 << 22;
    private static final int SHARED_DEPTH = 1 << 10;
    private static final int MAX_READ_ATOMIC = 16;
    private static final int READS_PER_CONNECTION = 2;
    private static final int FEWEST_READS = 600;
    private static final int MOST_STEPS = 50_000_000;
    private static final long ACCESS_KEY = 1;
    private static final int MTU_BYTES = 1024;
    /** About 67 ms a try. */
    private static final int TIMEOUT = 14;
    private static final int RETRIES = 7;
    private static final byte[] NOTHING = {};

    private final RnicModel model;
    private final int readBytes;
    private final long seed;

    /** How connections come to queue pairs. */
    public enum Series
    {
        /** One each. */
        QP_PER_CONNECTION,
        /** One for each other machine. */
        SHARED,
        /** A single DC initiator, which takes requests as they come and so changes its target with most of them. */
        DC_INITIATOR;

        private int queuePairs(final int connections)
        {
            return switch (this)
            {
                case QP_PER_CONNECTION -> connections;
                case SHARED -> TARGETS;
                case DC_INITIATOR -> 1;
            };
        }
    }

    /**
     * One measured point.
     *
     * @param connections      at work.
     * @param series           how they share queue pairs.
     * @param queuePairs       of the machine.
     * @param gigabitsPerSecond of payload, virtual time.
     * @param readsPerSecond   virtual time.
     * @param missRatio        context misses per look at a context, of this machine's NIC, 0 to 1.
     * @param latencyNs        mean time of a READ, with the time that it waits to be posted.
     */
    public record Point(
        int connections,
        Series series,
        int queuePairs,
        double gigabitsPerSecond,
        double readsPerSecond,
        double missRatio,
        double latencyNs)
    {
        /** @return what is written as JSON, in order. */
        public Map<String, Object> fields()
        {
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("series", series.name().toLowerCase(Locale.ROOT));
            fields.put("connections_count", (long)connections);
            fields.put("queue_pairs_count", (long)queuePairs);
            fields.put("payload_gbit_per_second", gigabitsPerSecond);
            fields.put("reads_per_second", readsPerSecond);
            fields.put("context_miss_ratio", missRatio);
            fields.put("mean_latency_us", latencyNs / 1e3);
            return fields;
        }
    }

    /**
     * With the model {@link #MODEL_NAME}.
     *
     * @param readBytes of each READ, 1 to 1 MiB.
     * @param seed      of offsets and targets.
     */
    public QpScaling(final int readBytes, final long seed)
    {
        this(RnicModel.load(MODEL_NAME), readBytes, seed);
    }

    /**
     * @param model     of each NIC.
     * @param readBytes of each READ, 1 to 1 MiB.
     * @param seed      of offsets and targets.
     */
    public QpScaling(final RnicModel model, final int readBytes, final long seed)
    {
        this.model = model;
        this.readBytes = readBytes;
        this.seed = seed;
    }

    /** @return contexts of queue pairs that the modelled NIC holds. */
    public int contextCacheEntries()
    {
        return model.qpContextCacheEntries();
    }

    /**
     * Runs one point in a world of its own.
     *
     * @param connections 1 or more.
     * @param series      how they share queue pairs.
     * @return the figures, after a time for the first READs, which find a cold cache.
     */
    public Point measure(final int connections, final Series series)
    {
        final SimFabricOptions options = SimFabricOptions.calm().rnicModel(model).agentStepNs(200, 200, 200);
        try (SimWorld world = new SimWorld(seed, options))
        {
            final SimNode node = world.addNode("clients");
            final Machine clients = new Machine(node.device(), 2 * SHARED_DEPTH * TARGETS + connections);
            final List<Machine> targets = new ArrayList<>();
            for (int i = 0; i < TARGETS; i++)
            {
                targets.add(new Machine(world.addNode("target-" + i).device(), SHARED_DEPTH));
            }
            final boolean isDc = series == Series.DC_INITIATOR;
            final List<QueuePair> queuePairs = new ArrayList<>();
            for (int i = 0; i < series.queuePairs(connections); i++)
            {
                queuePairs.add(isDc ? clients.initiator() : connect(
                    world.fabric(), clients, targets.get(i % TARGETS), series == Series.SHARED ? SHARED_DEPTH : 1));
            }
            final ReadClients readers = new ReadClients(
                clients.region,
                targets.stream().map(machine -> isDc ? machine.dcSource(clients) : machine.source()).toList(),
                queuePairs, clients.completions, connections, readBytes, world);
            node.addAgent(readers);
            return run(world, node.device(), readers, connections, series);
        }
    }

    private Point run(
        final SimWorld world,
        final SimDevice device,
        final ReadClients readers,
        final int connections,
        final Series series)
    {
        final long count = Math.max(FEWEST_READS, (long)READS_PER_CONNECTION * connections);
        world.runUntil(() -> readers.completed() >= count, MOST_STEPS);
        final long startNs = world.clock().nanoTime();
        final long startCount = readers.completed();
        final long startBytes = device.receivedBytes();
        final long startMisses = device.contextMisses();
        final long startHits = device.contextHits();
        readers.resetLatency();
        world.runUntil(() -> readers.completed() >= startCount + count, MOST_STEPS);
        final double seconds = (world.clock().nanoTime() - startNs) / 1e9;
        // Of bytes, because READs that take turns end together, a few times in all of this.
        final double bytes = device.receivedBytes() - startBytes;
        final double misses = device.contextMisses() - startMisses;
        return new Point(
            connections, series, series.queuePairs(connections), bytes * Byte.SIZE / 1e9 / seconds,
            bytes / readBytes / seconds, misses / (misses + device.contextHits() - startHits), readers.meanLatencyNs());
    }

    private static QueuePair connect(
        final SimFabric fabric, final Machine from, final Machine to, final int depth)
    {
        final QueuePairCapabilities capabilities =
            new QueuePairCapabilities(depth, 1, 0, Math.min(depth, MAX_READ_ATOMIC));
        final QueuePair queuePair = from.domain.createQueuePair(from.completions, from.completions, capabilities);
        try (ConnectionListener listener = to.device.listen(SERVICE_PORT))
        {
            final ConnectionAttempt attempt = from.device.connect(
                queuePair, to.device.address(), SERVICE_PORT, NOTHING, Long.MAX_VALUE / 2);
            ConnectionRequest request = listener.poll();
            while (request == null)
            {
                fabric.step();
                request = listener.poll();
            }
            request.accept(to.domain.createQueuePair(to.completions, to.completions, capabilities),
                AccessFlags.ALL_REMOTE, NOTHING);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                fabric.step();
            }
        }
        return queuePair;
    }

    /** Verbs objects of one machine. */
    private static final class Machine
    {
        private final SimDevice device;
        private final ProtectionDomain domain;
        private final CompletionQueue completions;
        private final MemoryRegion region;

        private Machine(final SimDevice device, final int completionCount)
        {
            this.device = device;
            domain = device.allocateProtectionDomain();
            completions = device.createCompletionQueue(completionCount);
            region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        }

        private ReadClients.Source source()
        {
            return new ReadClients.Source(region, null, 0, 0);
        }

        /** As a DC target. */
        private ReadClients.Source dcSource(final Machine from)
        {
            final DcTarget target = domain.createDcTarget(new DcTargetOptions(
                completions, domain.createSharedReceiveQueue(1), ACCESS_KEY, AccessFlags.ALL_REMOTE, MAX_READ_ATOMIC));
            return new ReadClients.Source(
                region, from.domain.createAddressHandle(device.address()), target.number(), ACCESS_KEY);
        }

        private QueuePair initiator()
        {
            final QueuePair queuePair = domain.createQueuePair(new QueuePairOptions().type(QueuePairType.DC_INITIATOR)
                .completions(completions, completions)
                .capabilities(new QueuePairCapabilities(SHARED_DEPTH, 0, 0, MAX_READ_ATOMIC)));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).pathMtuBytes(MTU_BYTES));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0).timeout(TIMEOUT)
                .retryCount(RETRIES).rnrRetry(RETRIES).maxReadAtomic(MAX_READ_ATOMIC));
            return queuePair;
        }
    }
}
