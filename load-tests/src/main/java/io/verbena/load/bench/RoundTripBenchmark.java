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
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Runs each operation once, with its location cached and not, on a live engine with records of 16-byte keys and
 * 100-byte values, and reads the cost off the counters of its connection. One thread, uncontended.
 */
public final class RoundTripBenchmark
{
    /** Keys of the row multi_get. */
    public static final int MULTI_GET_KEYS = 16;
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 100;
    private static final int RECORDS = 10_000;
    private static final int COUNTERS_FROM = 1 << 20;
    private static final int ABSENT_FROM = 1 << 21;
    private static final long REGION_BYTES = 64L << 20;
    private static final long CHUNK_BYTES = 1L << 20;

    private final List<RoundTripRow> rows = new ArrayList<>();
    private final int copies;
    private EngineRig rig;
    private OpenTable table;
    private MemorySegment key;
    private MemorySegment value;
    private int next;

    /** Of tables with one copy. */
    public RoundTripBenchmark()
    {
        this(1);
    }

    /** @param copies of the table: with several, what meets a split or a merge is not measured. */
    public RoundTripBenchmark(final int copies)
    {
        this.copies = copies;
    }

    /** @return a row for each operation and state of the cache, and for those that meet a split or a merge. */
    public List<RoundTripRow> run() throws IOException
    {
        try (Arena arena = Arena.ofConfined();
            EngineRig opened = new EngineRig(REGION_BYTES, CHUNK_BYTES, 64, 1 << 16, GrowthSource.NONE, copies))
        {
            rig = opened;
            key = arena.allocate(KEY_BYTES, Long.BYTES);
            value = arena.allocate(VALUE_BYTES, Long.BYTES);
            table = rig.createTable(4 * RECORDS);
            for (int i = 0; i < RECORDS; i++)
            {
                one(OperationKind.PUT, i, 0, OperationResult.STORED);
                one(OperationKind.INCREMENT, COUNTERS_FROM + i, 1, OperationResult.STORED);
            }
            if (1 == copies)
            {
                measureAll();
            }
            else
            {
                measureCopies();
            }
        }
        if (1 == copies)
        {
            rows.addAll(new SplitRoundTrips().run());
            rows.addAll(new MergeRoundTrips().run());
        }
        return rows;
    }

    /** One round trip more for a write than where there is one copy: it is decided at the head before it counts. */
    private void measureCopies()
    {
        onBoth("get", 1, 2, i -> one(OperationKind.GET, i, 0, OperationResult.FOUND));
        measure("get_absent", false, 1, i -> one(OperationKind.GET, ABSENT_FROM + i, 0, OperationResult.NOT_FOUND));
        onBoth("update", 2, 4, i -> one(OperationKind.PUT, i, 0, OperationResult.STORED));
        measureReplace(true, 2);
        measureReplace(false, 4);
        measure("insert", false, 4, i -> one(OperationKind.PUT, ABSENT_FROM + i, 0, OperationResult.STORED));
        measure("put_if_absent", false, 4,
            i -> one(OperationKind.PUT_IF_ABSENT, ABSENT_FROM + i, 0, OperationResult.STORED));
        onBoth("delete", 2, 4, i -> one(OperationKind.DELETE, i, 0, OperationResult.DELETED));
        onBoth("increment", 2, 4,
            i -> one(OperationKind.INCREMENT, COUNTERS_FROM + i, 1, OperationResult.STORED));
        onBoth("append", 3, 4, i -> one(OperationKind.APPEND, i, 0, OperationResult.STORED));
    }

    private void measureAll()
    {
        onBoth("get", 1, 2, i -> one(OperationKind.GET, i, 0, OperationResult.FOUND));
        measureStale("get_stale", 2, i -> one(OperationKind.GET, i, 0, OperationResult.FOUND));
        measureSomeEpochsLater(
            "get_some_epochs_later", 1, i -> one(OperationKind.GET, i, 0, OperationResult.FOUND));
        measure("get_absent", false, 1, i -> one(OperationKind.GET, ABSENT_FROM + i, 0, OperationResult.NOT_FOUND));
        onBoth("update", 1, 3, i -> one(OperationKind.PUT, i, 0, OperationResult.STORED));
        measureStale("update_stale", 3, i -> one(OperationKind.PUT, i, 0, OperationResult.STORED));
        measureSomeEpochsLater(
            "update_some_epochs_later", 2, i -> one(OperationKind.PUT, i, 0, OperationResult.STORED));
        measureReplace(true, 1);
        measureReplace(false, 3);
        measure("insert", false, 3, i -> one(OperationKind.PUT, ABSENT_FROM + i, 0, OperationResult.STORED));
        measure("put_if_absent", false, 3,
            i -> one(OperationKind.PUT_IF_ABSENT, ABSENT_FROM + i, 0, OperationResult.STORED));
        onBoth("delete", 1, 3, i -> one(OperationKind.DELETE, i, 0, OperationResult.DELETED));
        onBoth("increment", 1, 3,
            i -> one(OperationKind.INCREMENT, COUNTERS_FROM + i, 1, OperationResult.STORED));
        onBoth("append", 2, 3, i -> one(OperationKind.APPEND, i, 0, OperationResult.STORED));
        onBoth("multi_get", 1, 2, this::getMany);
    }

    private void onBoth(final String operation, final int cached, final int uncached, final LongConsumer work)
    {
        measure(operation, true, cached, work);
        measure(operation, false, uncached, work);
    }

    private void measureReplace(final boolean isCached, final int budget)
    {
        one(OperationKind.GET, next + MULTI_GET_KEYS, 0, OperationResult.FOUND);
        final long version = rig.lastVersion();
        measure("update_by_version", isCached, budget,
            i -> one(OperationKind.REPLACE, i, version, OperationResult.STORED));
    }

    /** Locations are cached, but another engine has put these records since. */
    private void measureStale(final String operation, final int budget, final LongConsumer work)
    {
        warmUp();
        try (SplitterRig other = rig.splitter())
        {
            key.set(ValueLayout.JAVA_LONG, 0, next);
            other.put(table.descriptor(), key, value, rig.takeChunk(), CHUNK_BYTES);
        }
        count(operation, false, budget, work);
    }

    private void measureSomeEpochsLater(final String operation, final int budget, final LongConsumer work)
    {
        warmUp();
        rig.expireLocations();
        count(operation, false, budget, work);
    }

    private void measure(final String operation, final boolean isCached, final int budget, final LongConsumer work)
    {
        if (isCached)
        {
            warmUp();
        }
        else
        {
            next += MULTI_GET_KEYS;
            rig.coolDown();
        }
        count(operation, isCached, budget, work);
    }

    /** Takes keys that nothing was measured on before, and has their locations cached. */
    private void warmUp()
    {
        next += MULTI_GET_KEYS;
        rig.coolDown();
        for (int i = next; i < next + MULTI_GET_KEYS; i++)
        {
            one(OperationKind.GET, i, 0, OperationResult.FOUND);
            one(OperationKind.GET, COUNTERS_FROM + i, 0, OperationResult.FOUND);
        }
    }

    private void count(final String operation, final boolean isCached, final int budget, final LongConsumer work)
    {
        rig.mostRoundTrips();
        final long steps = rig.stepsPosted();
        final VerbCounters before = new VerbCounters().add(rig.counters());
        work.accept(next);
        final VerbCounters after = rig.counters();
        final long roundTrips = 1 == copies ? rig.mostRoundTrips() : rig.stepsPosted() - steps;
        rows.add(new RoundTripRow(operation, isCached, roundTrips, after.doorbells - before.doorbells,
            after.verbs() - before.verbs(), after.payloadBytes - before.payloadBytes, budget));
    }

    private void getMany(final long from)
    {
        final long before = rig.completed();
        rig.engine().beginGroup();
        for (long i = from; i < from + MULTI_GET_KEYS; i++)
        {
            key.set(ValueLayout.JAVA_LONG, 0, i);
            rig.begin(OperationKind.GET, table, key, null, 0);
        }
        rig.engine().endGroup();
        rig.await(before + MULTI_GET_KEYS);
        require(OperationKind.GET, rig.lastResult(), OperationResult.FOUND);
    }

    private void one(final int kind, final long number, final long operand, final int expected)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        require(kind, rig.run(kind, table, key, value, operand), expected);
    }

    private static void require(final int kind, final int result, final int expected)
    {
        if (result != expected)
        {
            throw new IllegalStateException(OperationKind.name(kind) + " ended with " + OperationResult.name(result) +
                " instead of " + OperationResult.name(expected));
        }
    }
}
