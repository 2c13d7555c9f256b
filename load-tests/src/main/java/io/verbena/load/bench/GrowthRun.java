package io.verbena.load.bench;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.NanoClock;

/**
 * Fills one table with one engine, in groups of operations that do not wait for each other: a table that was made for a
 * thousand records and grows, or one that was made large enough. Counts what its operations and its splits cost. One
 * thread; one run.
 */
final class GrowthRun
{
    /** Chunks of memory nodes, of which each is a subtable. */
    static final long CHUNK_BYTES = 256L << 10;
    static final int FIRST_RECORDS = 1_000;
    static final int KEY_BYTES = 16;
    static final int VALUE_BYTES = 100;
    private static final int NODE = 1;
    private static final int SAMPLES = 200;
    private static final int BATCH = 16;
    private static final int MOST_CACHED = 1 << 20;
    private static final int OPERATIONS_PER_EPOCH = 1 << 17;
    /** Of a table that grows: the index at its emptiest, with old subtables that wait for their epochs. */
    private static final long INDEX_BYTES_PER_RECORD = 48;
    /** From here on the early splits, which everybody meets, are over. */
    static final int MANY_SUBTABLES = 64;
    private static final double NS_PER_S = 1e9;

    private final int records;
    private final boolean isGrowing;
    private final boolean isMixed;
    private final NanoClock clock;
    private final RigSplits splits = new RigSplits();
    private final Random random = new Random(20261122);
    private final List<GrowthSample> samples = new ArrayList<>();
    private long verbs;
    private long payloadBytes;
    private final RoundTripCounts quiet = new RoundTripCounts();
    private final RoundTripCounts splitting = new RoundTripCounts();
    private final RoundTripCounts splittingMany = new RoundTripCounts();
    private EngineRig rig;
    private OpenTable table;
    private MemorySegment key;
    private MemorySegment value;
    private int stored;
    private long begun;
    private double seconds;
    private long pairsHelped;

    /**
     * @param records   in the end.
     * @param isGrowing whether the table is made for {@link #FIRST_RECORDS}, and split as it fills.
     * @param isMixed   whether each insert comes with a GET of any record and, each other time, with an update.
     */
    GrowthRun(final int records, final boolean isGrowing, final boolean isMixed, final NanoClock clock)
    {
        this.records = records;
        this.isGrowing = isGrowing;
        this.isMixed = isMixed;
        this.clock = clock;
    }

    GrowthRun run() throws IOException
    {
        final int blockBytes = SizeClasses.lengthBytes(
            SizeClasses.classFor(BlockDescriptor.recordLength(KEY_BYTES, VALUE_BYTES)));
        final long updatedBytes = isMixed ? (long)records * blockBytes : 0;
        final long regionBytes =
            (records + 1L) * (blockBytes + INDEX_BYTES_PER_RECORD) + updatedBytes + 64 * CHUNK_BYTES;
        try (Arena arena = Arena.ofConfined(); EngineRig opened = new EngineRig(regionBytes, CHUNK_BYTES, BATCH,
            Math.min(MOST_CACHED, 2 * records), isGrowing ? splits : GrowthSource.NONE))
        {
            rig = opened;
            key = arena.allocate(KEY_BYTES, Long.BYTES);
            value = arena.allocate(VALUE_BYTES, Long.BYTES);
            final TablePlan plan = TablePlan.forRecords(
                "growth", 1, 31, isGrowing ? FIRST_RECORDS : records, new int[]{NODE}, CHUNK_BYTES);
            table = rig.createTable(isGrowing ? plan.ofWholeChunks(CHUNK_BYTES) : plan);
            splits.serve(rig, table);
            rig.onTurn(splits::poll);
            fill();
        }
        return this;
    }

    private void fill()
    {
        insertUpTo(FIRST_RECORDS);
        final VerbCounters before = new VerbCounters().add(rig.counters());
        final long start = clock.nanoTime();
        long last = start;
        for (int sample = 1; sample <= SAMPLES; sample++)
        {
            final int from = stored;
            insertUpTo((int)(FIRST_RECORDS + (long)(records - FIRST_RECORDS) * sample / SAMPLES));
            final long now = clock.nanoTime();
            if (stored > from)
            {
                samples.add(new GrowthSample(isGrowing ? "growing" : "created_large", (now - start) / NS_PER_S, stored,
                    table.subtableCount(), (stored - from) * NS_PER_S / (now - last)));
            }
            last = now;
        }
        seconds = (last - start) / NS_PER_S;
        verbs = rig.counters().verbs() - before.verbs();
        payloadBytes = rig.counters().payloadBytes - before.payloadBytes;
        pairsHelped = rig.engine().counters().pairsHelped;
        final long done = rig.engine().counters().results[OperationResult.STORED] +
            rig.engine().counters().results[OperationResult.FOUND];
        if (done != begun)
        {
            throw new IllegalStateException(begun - done + " of " + begun + " operations failed; the last ended with " +
                OperationResult.name(rig.lastResult()));
        }
    }

    private void insertUpTo(final int count)
    {
        while (stored < count)
        {
            if (stored % OPERATIONS_PER_EPOCH < BATCH)
            {
                rig.expireLocations();
            }
            final int batch = Math.min(isMixed ? BATCH / 4 : BATCH, count - stored);
            rig.countRoundTrips(splits.isBusy() ?
                splits.splits() + 1 < MANY_SUBTABLES ? splitting : splittingMany : quiet);
            final long before = rig.completed();
            final long begunBefore = begun;
            rig.engine().beginGroup();
            for (int i = 0; i < batch; i++)
            {
                begin(OperationKind.PUT, stored + i);
                mixIn(i);
            }
            rig.engine().endGroup();
            rig.await(before + begun - begunBefore);
            stored += batch;
        }
    }

    private void mixIn(final int number)
    {
        if (isMixed && stored > 0)
        {
            begin(OperationKind.GET, random.nextInt(stored));
            if (number % 2 == 0)
            {
                begin(OperationKind.PUT_IF_PRESENT, random.nextInt(stored));
            }
        }
    }

    private void begin(final int kind, final long number)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        rig.begin(kind, table, key, value, 0);
        begun++;
    }

    List<GrowthSample> samples()
    {
        return samples;
    }

    /** @return inserts in a second, from the first to the last. */
    double insertsPerS()
    {
        return (records - FIRST_RECORDS) / seconds;
    }

    /** @return requests that the connection was asked for from the first insert to the last. */
    long verbs()
    {
        return verbs;
    }

    /** @return payload of these. */
    long payloadBytes()
    {
        return payloadBytes;
    }

    RigSplits splits()
    {
        return splits;
    }

    long pairsHelped()
    {
        return pairsHelped;
    }

    /** @return round trips of operations that began while nothing was split. */
    RoundTripCounts quiet()
    {
        return quiet;
    }

    /** @return round trips of operations that began while a subtable was split. */
    RoundTripCounts splitting()
    {
        return new RoundTripCounts().add(splitting).add(splittingMany);
    }

    /** @return the same, of operations that began when there were {@link #MANY_SUBTABLES} or more. */
    RoundTripCounts splittingMany()
    {
        return splittingMany;
    }

    /** @return bytes of a subtable that grows. */
    static long subtableBytes()
    {
        return SubtableDescriptor.lengthBytes(SubtableDescriptor.groupsWithin(CHUNK_BYTES));
    }
}
