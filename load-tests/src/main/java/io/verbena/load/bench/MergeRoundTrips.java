package io.verbena.load.bench;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * What operations cost that meet a merge, at a live engine: a second one merges the table's two subtables and stands
 * still half way. Keys are chosen by where their words may lie. One thread, uncontended.
 */
final class MergeRoundTrips
{
    private static final int GROUPS = 128;
    /** The group at which the merge stands still: those before are merged, those behind as they were. */
    private static final int MIDDLE = GROUPS / 2;
    /** A tenth of the slots would fit; some of these keys have both groups before the middle, some behind. */
    private static final int RECORDS = 300;
    private static final int TABLE_ID = 78;
    private static final long REGION_BYTES = 16L << 20;
    private static final long CHUNK_BYTES = 64L << 10;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private EngineRig rig;
    private RoundTripMeter meter;
    private TableDescriptor descriptor;

    List<RoundTripRow> run() throws IOException
    {
        try (Arena arena = Arena.ofConfined();
            EngineRig opened = new EngineRig(REGION_BYTES, CHUNK_BYTES, 16, 1 << 15);
            SplitterRig merger = opened.splitter())
        {
            rig = opened;
            meter = new RoundTripMeter(arena);
            final OpenTable table = rig.createTable(TablePlan.ofShape("merge", TABLE_ID, 31, 1, GROUPS, new int[]{1}));
            descriptor = table.descriptor();
            meter.on(rig, descriptor);
            for (int i = 0; i < RECORDS; i++)
            {
                meter.one(OperationKind.PUT, table, i, OperationResult.STORED);
            }
            final TableMerge merge = merger.beginMerge(descriptor, rig.takeChunk());
            merger.runUntil(this::isMiddleReached);
            measure(merger, merge);
        }
        return meter.rows();
    }

    private void measure(final SplitterRig merger, final TableMerge merge)
    {
        final long merged = keyFrom(0, (group) -> group < MIDDLE);
        final long untouched = keyFrom(0, (group) -> group > MIDDLE);
        final long absent = keyFrom(RoundTripMeter.ABSENT_FROM, (group) -> group < MIDDLE);
        final int cold = RoundTripMeter.COLD_GET;
        meter.measureCold("get_stale_directory_before_merge", cold, meter.newcomer(), untouched);
        meter.measureCold("get_stale_directory_merged", cold + 1, meter.newcomer(), merged);
        meter.measure("get_absent_stale_merged", false, 2, OperationKind.GET, meter.newcomer(), absent,
            OperationResult.NOT_FOUND);

        // Who meets the merge once knows of it.
        final OpenTable informed = meter.newcomer();
        rig.coolDown();
        meter.one(OperationKind.GET, informed, merged, OperationResult.FOUND);
        meter.measureCold("get_not_merged", cold + 1, informed, untouched);
        // A writer completes one group, and looks again: one that finds its key there leaves the other one.
        meter.measureHelper("put_not_merged", 9, informed, untouched);
        meter.measureHelper("insert_not_merged", 15, informed,
            keyFrom(RoundTripMeter.ABSENT_FROM, (group) -> group > MIDDLE && isApart(group, untouched)));
        merger.runUntil(merge::isFinished);
        meter.measureBoth("get_merged", informed, merged);
    }

    private boolean isMiddleReached()
    {
        return MergeLink.isLink(rig.memory().get(WORD, DirectoryEntry.subtableOffset(descriptor.entry(0)) +
            SubtableDescriptor.GROUPS_OFFSET + (long)MIDDLE * BucketDescriptor.GROUP_BYTES +
            BucketDescriptor.HEADER_OFFSET));
    }

    private boolean isApart(final int group, final long number)
    {
        return group != meter.group1(number) && group != meter.group2(number);
    }

    /** @return the first key from a number on both of whose groups are as wanted, and not the same. */
    private long keyFrom(final long from, final IntPredicate isWanted)
    {
        long number = from;
        while (!isWanted.test(meter.group1(number)) || !isWanted.test(meter.group2(number)) ||
            meter.group1(number) == meter.group2(number))
        {
            number++;
        }
        return number;
    }
}
