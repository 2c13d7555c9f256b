package io.verbena.load.bench;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs single operations at a live engine, whose keys are numbers, and keeps a row of what each of them cost. One
 * thread, uncontended.
 */
final class RoundTripMeter
{
    /** Round trips of a cold GET without splits and merges. */
    static final int COLD_GET = 2;
    /** Of a cold update. */
    static final int COLD_UPDATE = 3;
    /** Numbers from here on are keys of no record. */
    static final int ABSENT_FROM = 1 << 21;
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 100;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final List<RoundTripRow> rows = new ArrayList<>();
    private final KeyHash hash = new KeyHash();
    private final MemorySegment key;
    private final MemorySegment value;
    private EngineRig rig;
    private TableDescriptor descriptor;

    /** @param arena of its key and value; must outlive it. */
    RoundTripMeter(final Arena arena)
    {
        key = arena.allocate(KEY_BYTES, Long.BYTES);
        value = arena.allocate(VALUE_BYTES, Long.BYTES);
    }

    /** From now on measures at another engine, on tables of the descriptor's shape; neither is owned. */
    void on(final EngineRig measured, final TableDescriptor of)
    {
        rig = measured;
        descriptor = of;
    }

    /** @return a row for each measured operation, in their order. */
    List<RoundTripRow> rows()
    {
        return rows;
    }

    /** @return the table as an engine knows it that has just opened it with the descriptor. */
    OpenTable newcomer()
    {
        return rig.engine().openTable(descriptor);
    }

    /** Runs an operation that must end as expected. */
    void one(final int kind, final OpenTable table, final long number, final int expected)
    {
        key.set(WORD, 0, number);
        final int result = rig.run(kind, table, key, value, 0);
        if (result != expected)
        {
            throw new IllegalStateException(OperationKind.name(kind) + " of " + number + " ended with " +
                OperationResult.name(result) + " instead of " + OperationResult.name(expected));
        }
    }

    void measure(
        final String operation, final boolean isCached, final int budget, final int kind, final OpenTable table,
        final long number, final int expected)
    {
        final VerbCounters before = new VerbCounters().add(rig.counters());
        one(kind, table, number, expected);
        final VerbCounters after = rig.counters();
        rows.add(new RoundTripRow(operation, isCached, rig.lastRoundTrips(), after.doorbells - before.doorbells,
            after.verbs() - before.verbs(), after.payloadBytes - before.payloadBytes, budget));
    }

    /** A GET of a record whose location is not known. */
    void measureCold(final String operation, final int budget, final OpenTable table, final long number)
    {
        rig.coolDown();
        measure(operation, false, budget, OperationKind.GET, table, number, OperationResult.FOUND);
    }

    /** A GET of a record, without its location and then with it. */
    void measureBoth(final String operation, final OpenTable table, final long number)
    {
        measureCold(operation, COLD_GET, table, number);
        rig.coolDown();
        one(OperationKind.GET, table, number, OperationResult.FOUND);
        measure(operation, true, 1, OperationKind.GET, table, number, OperationResult.FOUND);
    }

    /** A PUT that helps first, and the next one, which has nothing left to help with. */
    void measureHelper(final String operation, final int budget, final OpenTable table, final long number)
    {
        rig.coolDown();
        measure(operation, false, budget, OperationKind.PUT, table, number, OperationResult.STORED);
        rig.coolDown();
        measure(
            operation + "_again", false, COLD_UPDATE, OperationKind.PUT, table, number, OperationResult.STORED);
    }

    /** @return a group in which the key may lie. */
    int group1(final long number)
    {
        compute(number);
        return KeyHash.group1(hash.low(), descriptor.groupCount());
    }

    /** @return the other group in which the key may lie. */
    int group2(final long number)
    {
        compute(number);
        return KeyHash.group2(hash.low(), descriptor.groupCount());
    }

    /** @return what identifies the key's subtable. */
    int suffix(final long number)
    {
        compute(number);
        return KeyHash.suffix(hash.high(), descriptor.depth());
    }

    private void compute(final long number)
    {
        key.set(WORD, 0, number);
        hash.compute(KeyHash.function(descriptor.hashSeed()), key);
    }
}
