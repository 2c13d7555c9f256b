package io.verbena.load.bench;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * What operations cost that meet a split, at a live engine: a second one splits the subtable and stands still half way,
 * with one group frozen and not moved. Keys are chosen by where their words lie. One thread, uncontended.
 */
final class SplitRoundTrips
{
    private static final int INSERT = 3;
    private static final int GROUPS = 128;
    /** The group that is frozen, and not moved. */
    private static final int FROZEN_GROUP = GROUPS / 2;
    private static final int RECORDS_PER_SUBTABLE = 1_000;
    private static final int TABLE_ID = 77;
    private static final long REGION_BYTES = 16L << 20;
    private static final long CHUNK_BYTES = 64L << 10;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private EngineRig rig;
    private RoundTripMeter meter;
    private TableDescriptor descriptor;
    private long[] firstKeys;

    List<RoundTripRow> run() throws IOException
    {
        try (Arena arena = Arena.ofConfined())
        {
            meter = new RoundTripMeter(arena);
            onSplit(0, this::measureReaders);
            onSplit(0, (table, splitter, split) -> measureWriters(""));
            // Here the windows of the words begin anew, and whoever moves one reads its hash.
            onSplit(SlotWord.WINDOW_BITS - 1, (table, splitter, split) -> measureWriters("_rehash"));
        }
        return meter.rows();
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
            meter.on(rig, descriptor);
            for (int i = 0; i < RECORDS_PER_SUBTABLE << depth; i++)
            {
                meter.one(OperationKind.PUT, table, i, OperationResult.STORED);
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
        meter.measureCold("get_stale_directory_not_reached", RoundTripMeter.COLD_GET, meter.newcomer(), untouched);
        meter.measureCold("get_stale_directory_frozen", RoundTripMeter.COLD_GET + 1, meter.newcomer(), frozen);
        meter.measureCold("get_stale_directory_moved", RoundTripMeter.COLD_GET + 1, meter.newcomer(), moved);
        measureAbsent(meter.newcomer());

        // A reader that meets the split once knows of it; then what is cached is out of date, or the slot not moved.
        meter.one(OperationKind.GET, stale, frozen, OperationResult.FOUND);
        meter.measureCold("get_not_moved", RoundTripMeter.COLD_GET, stale, untouched);
        splitter.runUntil(split::isFinished);
        meter.measureBoth("get_moved", stale, moved);
    }

    private void measureWriters(final String variant)
    {
        final OpenTable table = meter.newcomer();
        meter.one(OperationKind.GET, table, firstKeys[FROZEN_GROUP], OperationResult.FOUND);
        final long untouched = keyBehind(FROZEN_GROUP);
        meter.measureHelper("put_not_moved" + variant, RoundTripMeter.COLD_UPDATE, table, untouched);
        meter.measureHelper("insert_not_moved" + variant, INSERT + 1, table, absentBehind(FROZEN_GROUP));
    }

    /** @return a key that is not there, of the subtable that is split, of two groups behind one. */
    private long absentBehind(final int group)
    {
        long number = RoundTripMeter.ABSENT_FROM;
        while (meter.group1(number) <= group || meter.group2(number) <= group ||
            meter.group1(number) == meter.group2(number) || meter.suffix(number) != 0)
        {
            number++;
        }
        return number;
    }

    private void measureAbsent(final OpenTable table)
    {
        long number = RoundTripMeter.ABSENT_FROM;
        while (meter.group1(number) >= FROZEN_GROUP || meter.group2(number) >= FROZEN_GROUP)
        {
            number++;
        }
        meter.measure("get_absent_stale_directory", false, 2, OperationKind.GET, table, number,
            OperationResult.NOT_FOUND);
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
            if (meter.group1(firstKeys[i]) > group && meter.group2(firstKeys[i]) > group)
            {
                return firstKeys[i];
            }
        }
        throw new IllegalStateException("no key has both groups behind " + group);
    }
}
