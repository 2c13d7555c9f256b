package io.verbena.table.growth;

import io.verbena.table.access.Scratch;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergePlacement;

/**
 * Looks at two sibling subtables: at some groups, to tell how full both are together, and at their header lines, to
 * tell whether anybody has begun to split or merge them; all of that behind one doorbell. Of a subtable that has no
 * sibling to be merged with it looks at its own groups and header line. A split that it finds the table takes note of,
 * as if an operation had met it: nobody else may.
 *
 * <p>Made by {@link EngineGrowth#beginLook}.
 */
public final class FillProbe extends SubtableWork
{
    private final MergeRoom room;
    private final HeaderLine[] lines;
    private final boolean isPair;
    private final int group;
    private final long[] offsets = new long[2];
    private boolean isKnown;
    private boolean isCounted;
    private boolean isLeft;

    /** @param first the one with split bit 0, with its sibling as the engine knows them; or one that has none. */
    FillProbe(
        final OpenTable table,
        final Subtable first,
        final int group,
        final Scratch scratch,
        final long beginEpoch,
        final long deadlineNs)
    {
        super(table, first.suffix(), scratch, beginEpoch, deadlineNs);
        this.group = group;
        room = new MergeRoom(batch, table.groupCount);
        lines = new HeaderLine[]{
            new HeaderLine(batch, GrowthBatch.HEADER_AT), new HeaderLine(batch, GrowthBatch.SECOND_HEADER_AT) };
        isPair = table.mayBeMerged(first);
        offsets[0] = wantedOffset;
        offsets[1] = isPair ? table.directory.groupsOffset(suffix(1)) - SubtableDescriptor.GROUPS_OFFSET : 0;
    }

    /** @return whether it has seen groups of two siblings, and neither is being split or merged. */
    public boolean isKnown()
    {
        return isKnown;
    }

    /** @return whether it has seen that something was begun by somebody else, and it is not known what. */
    public boolean isLeft()
    {
        return isLeft;
    }

    /** @return records in the groups of both. */
    public int records()
    {
        return isKnown ? room.records() : 0;
    }

    /** @return slots that one of the two has there. */
    public int slots()
    {
        return (room.behind() - group) * MergePlacement.SLOTS;
    }

    /** @return records in the groups that it has read; 0 where it has not read them, or they are being moved. */
    public int countedRecords()
    {
        return isCounted ? room.records() : 0;
    }

    /** @return slots of these groups, of both siblings where there are two; 0 as above. */
    public int countedSlots()
    {
        return isCounted ? sides() * slots() : 0;
    }

    private int suffix(final int side)
    {
        return side == 0 ? wantedSuffix : wantedSuffix | 1 << wantedDepth - 1;
    }

    /** Waiting for the memory node would hold up the epoch, and whatever else is to be split. */
    @Override
    boolean waitsForNode()
    {
        return false;
    }

    @Override
    void stage()
    {
        for (int side = 0; side < sides(); side++)
        {
            lines[side].stageRead(offsets[side]);
        }
        room.stageRead(offsets, group, sides());
    }

    private int sides()
    {
        return isPair ? 2 : 1;
    }

    @Override
    void onAnswer()
    {
        boolean isQuiet = true;
        boolean isLearned = false;
        for (int side = 0; side < sides(); side++)
        {
            final boolean isThere = lines[side].isOf(table.tableId, suffix(side), wantedDepth);
            isQuiet &= isThere && lines[side].link() == SplitLink.NONE;
            isLearned |= isThere && learnSplit(suffix(side), offsets[side], lines[side].link());
        }
        isCounted = isQuiet && room.isOf(table.tableId, wantedSuffix, wantedDepth);
        isKnown = isPair && isCounted;
        isLeft = !isLearned && !(isPair ? isKnown : isQuiet);
        done();
    }

    private boolean learnSplit(final int suffix, final long offset, final long found)
    {
        final long groups = offset + SubtableDescriptor.GROUPS_OFFSET;
        final boolean isSplit = found != SplitLink.NONE && !MergeLink.isLink(found) &&
            table.mayLead(groups, found, link.port.regionLengthBytes());
        if (isSplit)
        {
            table.learn(suffix, wantedDepth, groups, found);
        }
        return isSplit;
    }

    @Override
    String progress()
    {
        return "suffix=" + wantedSuffix + " depth=" + wantedDepth + " group=" + group;
    }
}
