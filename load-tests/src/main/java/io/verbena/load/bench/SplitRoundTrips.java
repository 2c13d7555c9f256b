package io.verbena.load.bench;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.OpenTable;
import io.verbena.table.OperationKind;
import io.verbena.table.OperationResult;
import io.verbena.table.TablePlan;
import io.verbena.table.TableSplit;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * What operations cost that meet a split, at a live engine: a second one splits the subtable and stands still half way,
 * with one group frozen and not moved. Keys are chosen by where their words lie. One thread, uncontended.
 */
final class SplitRoundTrips
{
    /** Of a cold GET without a split. */
    private static final int COLD_GET = 2;
    private static final int COLD_UPDATE = 3;
    private static final int INSERT = 3;
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 100;
    private static final int GROUPS = 128;
    /** The group that is frozen, and not moved. */
    private static final int FROZEN_GROUP = GROUPS / 2;
    private static final int RECORDS_PER_SUBTABLE = 1_000;
    private static final int ABSENT_FROM = 1 << 21;
    private static final int TABLE_ID = 77;
    private static final long REGION_BYTES = 16L << 20;
    private static final long CHUNK_BYTES = 64L << 10;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final List<RoundTripRow> rows = new ArrayList<>();
    private final KeyHash hash = new KeyHash();
    private EngineRig rig;
    private TableDescriptor descriptor;
    private long[] firstKeys;
    private MemorySegment key;
    private MemorySegment value;

    List<RoundTripRow> run() throws IOException
    {
        try (Arena arena = Arena.ofConfined())
        {
            key = arena.allocate(KEY_BYTES, Long.BYTES);
            value = arena.allocate(VALUE_BYTES, Long.BYTES);
            onSplit(0, this::measureReaders);
            onSplit(0, (table, splitter, split) -> measureWriters(""));
            // Here the windows of the words begin anew, and whoever moves one reads its hash.
            onSplit(SlotWord.WINDOW_BITS - 1, (table, splitter, split) -> measureWriters("_rehash"));
        }
        return rows;
    }

    /** What is measured on a subtable that is split half way. */
    private interface Measured
    {
        /** Takes the table as an engine knows it that has not heard of the split, and the splitter. */
        void on(OpenTable stale, SplitterRig splitter, TableSplit split);
    }

    private void onSplit(final int depth, final Measured measured) throws IOException
    {
        try (EngineRig opened = new EngineRig(REGION_BYTES, CHUNK_BYTES, 16, 1 << 15);
            SplitterRig splitter = opened.splitter())
        {
            rig = opened;
            final OpenTable table =
                rig.createTable(TablePlan.ofShape("split", TABLE_ID, 31, depth, GROUPS, new int[]{1}));
            descriptor = table.descriptor();
            for (int i = 0; i < RECORDS_PER_SUBTABLE << depth; i++)
            {
                one(OperationKind.PUT, table, i, OperationResult.STORED);
            }
            firstKeys = firstKeys();
            final TableSplit split = splitter.begin(descriptor, rig.takeChunk(), rig.takeChunk());
            splitter.runUntil(() -> split.groupsDone() == FROZEN_GROUP && SplitLink.isLink(header(FROZEN_GROUP)));
            measured.on(table, splitter, split);
        }
    }

    private void measureReaders(final OpenTable stale, final SplitterRig splitter, final TableSplit split)
    {
        final long moved = firstKeys[0];
        final long frozen = firstKeys[FROZEN_GROUP];
        final long untouched = keyBehind(FROZEN_GROUP);
        measureCold("get_stale_directory_not_reached", COLD_GET, newcomer(), untouched);
        measureCold("get_stale_directory_frozen", COLD_GET + 1, newcomer(), frozen);
        measureCold("get_stale_directory_moved", COLD_GET + 1, newcomer(), moved);
        measureAbsent(newcomer());

        // A reader that meets the split once knows of it; then what is cached is out of date, or the slot not moved.
        one(OperationKind.GET, stale, frozen, OperationResult.FOUND);
        measureCold("get_not_moved", COLD_GET, stale, untouched);
        splitter.runUntil(split::isFinished);
        measureCold("get_moved", COLD_GET, stale, moved);
        rig.coolDown();
        one(OperationKind.GET, stale, moved, OperationResult.FOUND);
        measure("get_moved", true, 1, OperationKind.GET, stale, moved, OperationResult.FOUND);
    }

    private void measureWriters(final String variant)
    {
        final OpenTable table = newcomer();
        one(OperationKind.GET, table, firstKeys[FROZEN_GROUP], OperationResult.FOUND);
        final long untouched = keyBehind(FROZEN_GROUP);
        measureWriter("put_not_moved" + variant, COLD_UPDATE, table, untouched);
        measureWriter("insert_not_moved" + variant, INSERT + 1, table, absentBehind(FROZEN_GROUP));
    }

    /** @return a key that is not there, of the subtable that is split, of two groups behind one. */
    private long absentBehind(final int group)
    {
        long number = ABSENT_FROM;
        while (group1(number) <= group || group2(number) <= group || group1(number) == group2(number) ||
            KeyHash.suffix(hash.high(), descriptor.depth()) != 0)
        {
            number++;
        }
        return number;
    }

    private void measureWriter(
        final String operation, final int budget, final OpenTable table, final long number)
    {
        rig.coolDown();
        measure(operation, false, budget, OperationKind.PUT, table, number, OperationResult.STORED);
        measureAfter(operation, table, number);
    }

    /** Once for a slot, or a pair of buckets: from then on an update costs what it always does. */
    private void measureAfter(final String operation, final OpenTable table, final long number)
    {
        rig.coolDown();
        measure(operation + "_again", false, COLD_UPDATE, OperationKind.PUT, table, number, OperationResult.STORED);
    }

    private void measureAbsent(final OpenTable table)
    {
        long number = ABSENT_FROM;
        while (group1(number) >= FROZEN_GROUP || group2(number) >= FROZEN_GROUP)
        {
            number++;
        }
        measure("get_absent_stale_directory", false, 2, OperationKind.GET, table, number, OperationResult.NOT_FOUND);
    }

    private void measureCold(final String operation, final int budget, final OpenTable table, final long number)
    {
        rig.coolDown();
        measure(operation, false, budget, OperationKind.GET, table, number, OperationResult.FOUND);
    }

    private void measure(
        final String operation, final boolean isCached, final int budget, final int kind, final OpenTable table,
        final long number, final int expected)
    {
        final VerbCounters before = new VerbCounters().add(rig.counters());
        one(kind, table, number, expected);
        final VerbCounters after = rig.counters();
        rows.add(new RoundTripRow(operation, isCached, rig.lastRoundTrips(), after.doorbells - before.doorbells,
            after.verbs() - before.verbs(), after.payloadBytes - before.payloadBytes, budget));
    }

    /** @return the table as an engine knows it that has just opened it with a descriptor from before the split. */
    private OpenTable newcomer()
    {
        return rig.engine().openTable(descriptor);
    }

    private void one(final int kind, final OpenTable table, final long number, final int expected)
    {
        key.set(WORD, 0, number);
        final int result = rig.run(kind, table, key, value, 0);
        if (result != expected)
        {
            throw new IllegalStateException(OperationKind.name(kind) + " of " + number + " ended with " +
                OperationResult.name(result) + " instead of " + OperationResult.name(expected));
        }
    }

    private long header(final int group)
    {
        return rig.memory().get(WORD, groupAt(group) + BucketDescriptor.HEADER_OFFSET);
    }

    private long groupAt(final int group)
    {
        return DirectoryEntry.subtableOffset(descriptor.entry(0)) + SubtableDescriptor.GROUPS_OFFSET +
            (long)group * BucketDescriptor.GROUP_BYTES;
    }

    /** @return of each group a key whose word lies there. */
    private long[] firstKeys()
    {
        final long[] keys = new long[GROUPS];
        for (int group = 0; group < GROUPS; group++)
        {
            final long first = firstWord(group, BucketDescriptor.MAIN_0_OFFSET);
            final long word = first == SlotWord.EMPTY ? firstWord(group, BucketDescriptor.MAIN_1_OFFSET) : first;
            if (word == SlotWord.EMPTY)
            {
                throw new IllegalStateException("group " + group + " is empty");
            }
            keys[group] = rig.memory().get(WORD, SlotWord.blockOffset(word) + BlockDescriptor.KEY_OFFSET);
        }
        return keys;
    }

    private long firstWord(final int group, final int bucketOffset)
    {
        final long word = rig.memory().get(WORD, groupAt(group) + bucketOffset + BucketDescriptor.SLOTS_OFFSET);
        return SlotWord.isCommitted(word) ? word : SlotWord.EMPTY;
    }

    /** @return a key whose two groups lie behind a group. */
    private long keyBehind(final int group)
    {
        for (int i = group + 1; i < GROUPS; i++)
        {
            if (group1(firstKeys[i]) > group && group2(firstKeys[i]) > group)
            {
                return firstKeys[i];
            }
        }
        throw new IllegalStateException("no key has both groups behind " + group);
    }

    private int group1(final long number)
    {
        key.set(WORD, 0, number);
        hash.compute(KeyHash.function(descriptor.hashSeed()), key);
        return KeyHash.group1(hash.low(), GROUPS);
    }

    private int group2(final long number)
    {
        key.set(WORD, 0, number);
        hash.compute(KeyHash.function(descriptor.hashSeed()), key);
        return KeyHash.group2(hash.low(), GROUPS);
    }
}
