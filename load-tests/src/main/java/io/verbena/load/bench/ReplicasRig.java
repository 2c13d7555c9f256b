package io.verbena.load.bench;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

import org.agrona.concurrent.NanoClock;

/** Operations of one engine on a table with some number of copies. Single thread. */
final class ReplicasRig implements AutoCloseable
{
    /** Records of YCSB are chosen so: the exponent of its Zipf distribution. */
    private static final double ZIPF = 0.99;
    private static final int PICKS = 1 << 16;
    private static final long SEED = 22;

    /** What was measured of one kind of operation. */
    record Measured(double elapsedNs, long[] tookNs, double verbs, double payloadBytes)
    {
    }

    private final Arena arena = Arena.ofConfined();
    private final NanoClock clock;
    private final EngineRig rig;
    private final OpenTable table;
    private final MemorySegment key;
    private final MemorySegment value;
    private final int[] order;
    private final int[] picks = new int[PICKS];
    private final boolean[] updates = new boolean[PICKS];
    private final long[] versions;
    private int inserted;

    /**
     * @param copies     of the table.
     * @param records    in it from the beginning.
     * @param operations of each kind in a round.
     * @param rounds     in which as many records are inserted as there are operations.
     */
    ReplicasRig(final int copies, final int records, final int operations, final int rounds, final NanoClock clock)
        throws IOException
    {
        this.clock = clock;
        final long chunkBytes = 1L << 20;
        final long most = records + (long)rounds * operations;
        final long regionBytes =
            most * (BenchmarkRecords.BLOCK_BYTES + 32L) + (long)operations * BenchmarkRecords.BLOCK_BYTES +
            32 * chunkBytes;
        rig = new EngineRig(
            regionBytes, chunkBytes, OperationLoops.GROUP, (int)(2 * most), GrowthSource.NONE, copies);
        table = rig.createTable(2 * most);
        key = arena.allocate(BenchmarkRecords.KEY_BYTES, Long.BYTES);
        value = arena.allocate(BenchmarkRecords.VALUE_BYTES, Long.BYTES);
        rig.target(arena.allocate(BenchmarkRecords.VALUE_BYTES, Long.BYTES));
        order = BenchmarkRecords.shuffled(records);
        versions = new long[records];
        choose();
        for (int record = 0; record < records; record++)
        {
            one(OperationKind.PUT, record, 0, OperationResult.STORED);
        }
    }

    private void choose()
    {
        final double[] sums = new double[order.length];
        double sum = 0;
        for (int i = 0; i < sums.length; i++)
        {
            sum += 1 / Math.pow(i + 1, ZIPF);
            sums[i] = sum;
        }
        final Random random = new Random(SEED);
        for (int i = 0; i < PICKS; i++)
        {
            final int at = Arrays.binarySearch(sums, random.nextDouble() * sum);
            picks[i] = order[Math.min(order.length - 1, at < 0 ? -at - 1 : at)];
            updates[i] = random.nextBoolean();
        }
    }

    private void one(final int kind, final long number, final long operand, final int expected)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        final int result = rig.run(kind, table, key, value, operand);
        if (result != expected)
        {
            throw new IllegalStateException(OperationKind.name(kind) + " of " + number + " ended with " +
                OperationResult.name(result) + " instead of " + OperationResult.name(expected));
        }
    }

    /** Knows where each record is, and its version; blocks of before are free again. */
    private void warm()
    {
        rig.reuseBlocks();
        for (int record = 0; record < order.length; record++)
        {
            one(OperationKind.GET, record, 0, OperationResult.FOUND);
            versions[record] = rig.lastVersion();
        }
    }

    Measured get(final int count)
    {
        return measure(count, (i) -> one(OperationKind.GET, record(i), 0, OperationResult.FOUND));
    }

    /** Of records that are there, whatever their version. */
    Measured put(final int count)
    {
        return measure(count, (i) -> one(OperationKind.PUT, record(i), 0, OperationResult.STORED));
    }

    /** Of records that have the version that this engine has seen last. */
    Measured update(final int count)
    {
        return measure(count, (i) ->
        {
            one(OperationKind.REPLACE, record(i), versions[record(i)], OperationResult.STORED);
            versions[record(i)] = rig.lastVersion();
        });
    }

    /** Of keys that are not there. */
    Measured insert(final int count)
    {
        final int first = order.length + inserted;
        inserted += count;
        return measure(count, (i) -> one(OperationKind.PUT_IF_ABSENT, first + i, 0, OperationResult.STORED));
    }

    private int record(final int i)
    {
        return order[i % order.length];
    }

    private interface Step
    {
        void run(int i);
    }

    private Measured measure(final int count, final Step step)
    {
        warm();
        final long[] tookNs = new long[count];
        final Counted before = new Counted(rig.counters());
        final long startNs = clock.nanoTime();
        long lastNs = startNs;
        for (int i = 0; i < count; i++)
        {
            step.run(i);
            final long nowNs = clock.nanoTime();
            tookNs[i] = nowNs - lastNs;
            lastNs = nowNs;
        }
        return measured(count, lastNs - startNs, tookNs, before);
    }

    /** The counters of one copy are live. */
    private record Counted(long verbs, long payloadBytes)
    {
        Counted(final VerbCounters counters)
        {
            this(counters.verbs(), counters.payloadBytes);
        }
    }

    private Measured measured(final int count, final long elapsedNs, final long[] tookNs, final Counted before)
    {
        final Counted after = new Counted(rig.counters());
        return new Measured((double)elapsedNs / count, tookNs, (double)(after.verbs - before.verbs) / count,
            (double)(after.payloadBytes - before.payloadBytes) / count);
    }

    /**
     * A workload of YCSB, as many operations at once as there are slots.
     *
     * @param isHalfUpdates workload A; else C, which only reads.
     */
    Measured workload(final boolean isHalfUpdates, final int count)
    {
        warm();
        final Counted before = new Counted(rig.counters());
        final long startNs = clock.nanoTime();
        final int groups = Math.ceilDiv(count, OperationLoops.GROUP);
        int pick = 0;
        for (int group = 0; group < groups; group++)
        {
            final long completed = rig.completed();
            rig.engine().beginGroup();
            for (int i = 0; i < OperationLoops.GROUP; i++)
            {
                pick = (pick + 1) & (PICKS - 1);
                key.set(ValueLayout.JAVA_LONG, 0, picks[pick]);
                rig.begin(isHalfUpdates && updates[pick] ? OperationKind.PUT : OperationKind.GET, table, key, value, 0);
            }
            rig.engine().endGroup();
            rig.await(completed + OperationLoops.GROUP);
        }
        return measured(groups * OperationLoops.GROUP, clock.nanoTime() - startNs, new long[0], before);
    }

    @Override
    public void close()
    {
        rig.close();
        arena.close();
    }
}
