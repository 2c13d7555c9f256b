package io.verbena.load.bench;

import com.sun.management.ThreadMXBean;
import io.verbena.raas.RpcClient;
import io.verbena.raas.VirtualQp;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * What many connections over one queue pair take and cost, on the soft fabric, beside a queue pair for each, one
 * connection alone, and receive rings. One thread, so that a call's time is the work of both ends.
 */
public final class ConnectionsBenchmark
{
    /** Connections of which the goals speak. */
    public static final int FULL_CONNECTIONS = 10_000;
    /** Fewest connections. */
    public static final int MIN_CONNECTIONS = 100;
    private static final int FIRST_PART = 10;
    private static final int ROUNDS = 5;
    private static final int READS = 400_000;
    private static final int CALLS = 100_000;
    private static final int BASE_QUEUE_PAIRS = 100;
    private static final double MOST_IDLE_BYTES = 256;
    private static final double LEAST_AGAINST_EACH = 2;
    private static final double LEAST_AGAINST_ONE = 0.8;
    private static final double MOST_AGAINST_RINGS = 1.05;

    private final int connections;
    private final int share;
    private final NanoClock clock;
    private final Consumer<TableFigure> progress;
    private final List<TableFigure> figures = new ArrayList<>();
    private long sink;

    /**
     * @param connections {@link #MIN_CONNECTIONS} to {@link #FULL_CONNECTIONS}.
     * @param clock       that measures.
     * @param progress    hears of each figure.
     */
    public ConnectionsBenchmark(final int connections, final NanoClock clock, final Consumer<TableFigure> progress)
    {
        this(connections, 1, clock, progress);
    }

    /** @param share of the usual operations: one of so many. */
    ConnectionsBenchmark(
        final int connections, final int share, final NanoClock clock, final Consumer<TableFigure> progress)
    {
        this.connections = connections;
        this.share = share;
        this.clock = clock;
        this.progress = progress;
    }

    /** @return the figures, each beside its reference. */
    public List<TableFigure> run() throws IOException
    {
        try (ConnectionsRig rig = new ConnectionsRig(true))
        {
            final VirtualQp[] vqps = connect(rig);
            measureReads(rig, vqps);
        }
        measureCalls();
        return figures;
    }

    private VirtualQp[] connect(final ConnectionsRig rig)
    {
        final VirtualQp[] vqps = new VirtualQp[connections];
        final int first = connections / FIRST_PART;
        for (int i = 0; i < first; i++)
        {
            vqps[i] = rig.connect();
        }
        final long heapBefore = heapBytes();
        final int buffersBefore = rig.receiveBuffers();
        for (int i = first; i < connections; i++)
        {
            vqps[i] = rig.connect();
        }
        final double heap = (double)(heapBytes() - heapBefore) / (connections - first);
        final double registered = (double)(rig.receiveBuffers() - buffersBefore) *
            RpcClient.MAX_MESSAGE_BYTES / (connections - first);
        add(TableFigure.of("connections_idle", heap + registered, "bytes", MOST_IDLE_BYTES, true));
        add(TableFigure.of("connections_idle_registered", registered, "bytes", Double.NaN, true));
        return vqps;
    }

    private static long heapBytes()
    {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++)
        {
            System.gc();
            least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }

    private void measureReads(final ConnectionsRig rig, final VirtualQp[] vqps)
    {
        final int[] order = new Random(1).ints(1 << 16, 0, connections).toArray();
        final VirtualQp[] one = {vqps[0]};
        final ConnectionsRig.Touched[] touched = new ConnectionsRig.Touched[connections];
        for (int i = 0; i < connections; i++)
        {
            touched[i] = new ConnectionsRig.Touched();
        }
        final int reads = Math.max(ConnectionsRig.GROUP, READS / share) & -ConnectionsRig.GROUP;
        double manyNs = Double.MAX_VALUE;
        double oneNs = Double.MAX_VALUE;
        for (int round = 0; round < 2 * ROUNDS; round++)
        {
            final long start = clock.nanoTime();
            sink += rig.read(vqps, order, reads, null);
            final long between = clock.nanoTime();
            sink += rig.read(one, order, reads, touched);
            manyNs = Math.min(manyNs, (double)(between - start) / reads);
            oneNs = Math.min(oneNs, (double)(clock.nanoTime() - between) / reads);
        }
        add(allocation(rig, vqps, order, reads));
        final long heapBefore = heapBytes();
        rig.connectQueuePairs(Math.min(connections, BASE_QUEUE_PAIRS));
        final long heapBetween = heapBytes();
        rig.connectQueuePairs(connections - Math.min(connections, BASE_QUEUE_PAIRS));
        add(TableFigure.of("connections_queue_pair_each_heap", connections == BASE_QUEUE_PAIRS ?
            (double)(heapBetween - heapBefore) / connections :
            (double)(heapBytes() - heapBetween) / (connections - BASE_QUEUE_PAIRS), "bytes", Double.NaN, true));
        double eachNs = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++)
        {
            final long start = clock.nanoTime();
            rig.readEach(order, reads);
            final long between = clock.nanoTime();
            sink += rig.read(vqps, order, reads, null);
            eachNs = Math.min(eachNs, (double)(between - start) / reads);
            manyNs = Math.min(manyNs, (double)(clock.nanoTime() - between) / reads);
        }
        add(TableFigure.faster("connections_read_against_queue_pair_each", manyNs, eachNs, LEAST_AGAINST_EACH));
        add(TableFigure.faster("connections_read_against_one", manyNs, oneNs, LEAST_AGAINST_ONE));
    }

    private TableFigure allocation(
        final ConnectionsRig rig, final VirtualQp[] vqps, final int[] order, final int reads)
    {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        double least = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++)
        {
            final long first = threads.getCurrentThreadAllocatedBytes();
            final long start = threads.getCurrentThreadAllocatedBytes();
            sink += rig.read(vqps, order, reads, null);
            final long bytes = threads.getCurrentThreadAllocatedBytes() - start - (start - first);
            least = Math.min(least, (double)bytes / reads);
        }
        return TableFigure.of("connections_allocation_per_request", least, "bytes", 0, true);
    }

    private void measureCalls() throws IOException
    {
        final int calls = Math.max(1, CALLS / share);
        try (ConnectionsRig sharing = new ConnectionsRig(true); ConnectionsRig rings = new ConnectionsRig(false))
        {
            final VirtualQp overShared = sharing.connect();
            final VirtualQp overRings = rings.connect();
            double sharedNs = Double.MAX_VALUE;
            double ringsNs = Double.MAX_VALUE;
            for (int round = 0; round < 2 * ROUNDS; round++)
            {
                final long start = clock.nanoTime();
                sharing.call(overShared, calls);
                final long between = clock.nanoTime();
                rings.call(overRings, calls);
                sharedNs = Math.min(sharedNs, (double)(between - start) / calls);
                ringsNs = Math.min(ringsNs, (double)(clock.nanoTime() - between) / calls);
            }
            add(TableFigure.ratio("connections_call_with_shared_receives", sharedNs, ringsNs, MOST_AGAINST_RINGS));
        }
    }

    private void add(final TableFigure figure)
    {
        figures.add(figure);
        progress.accept(figure);
    }
}
