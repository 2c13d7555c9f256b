package io.verbena.table.growth;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Splits a subtable into two of the same shape on the same memory node, while everybody goes on reading and writing it:
 * formats the two with slots that are not initialised, swaps the link to them into the header line of the old one,
 * which decides and records the split, and then freezes and moves its groups, several at a time ({@link SplitLanes}).
 * From then on anybody can go on: operations move what they need themselves ({@code SlotMoves}), another node can do
 * the rest. A split that finds the link there goes on with that one, and a subtable that is not whole itself is made so
 * first. Done when every slot of the two is initialised: nobody needs the old one any more.
 *
 * <p>Made by {@link EngineGrowth#begin}.
 */
public final class TableSplit extends SubtableWork
{
    /** What the batch under way does. */
    private enum Phase
    {
        INSPECT, FORMAT, LINK, GROUPS, FINISH
    }

    /** Header line swaps of the last batch. */
    private static final int FINISH_SWAPS = 3;

    private final HeaderLine line;
    private final SubtableFormat format;
    private final SplitLanes lanes;
    private final long[] newOffsets;
    private Phase phase = Phase.INSPECT;
    private boolean isMerged;
    private long oldOffset;
    private int oldSuffix;
    private int oldDepth;
    private long splitLink;
    private int formattedSide;
    private int finishSwaps;
    /** The word in the place of the link when there was none. */
    private long linkedOn;

    /**
     * @param splitsEntry entry of the directory: the subtable to split.
     * @param offset0     of memory for the new subtables, or 0 if only a split that has begun is to be finished.
     * @param groups      most groups under way at a time.
     */
    TableSplit(
        final OpenTable table,
        final int splitsEntry,
        final long offset0,
        final long offset1,
        final Scratch scratch,
        final int groups,
        final long beginEpoch,
        final long deadlineNs)
    {
        super(table, splitsEntry, scratch, beginEpoch, deadlineNs);
        line = new HeaderLine(batch, GrowthBatch.HEADER_AT);
        format = new SubtableFormat(table, batch);
        lanes = new SplitLanes(scratch, groups, table.tableId);
        newOffsets = new long[]{ offset0, offset1 };
        aimAt(wantedSuffix, wantedDepth, wantedOffset);
    }

    /** @return whether it failed because a merge of the subtable has begun, which is to be finished first. */
    public boolean isMerged()
    {
        return isMerged;
    }

    @Override
    public long verbs()
    {
        return super.verbs() + lanes.verbs();
    }

    @Override
    public long doorbells()
    {
        return super.doorbells() + lanes.doorbells();
    }

    @Override
    public long payloadBytes()
    {
        return super.payloadBytes() + lanes.payloadBytes();
    }

    /** @return records in the groups it has moved, by itself or finding them moved. */
    public long movedRecords()
    {
        return lanes.movedRecords();
    }

    /** @return groups moved. */
    public long groupsDone()
    {
        return lanes.groupsDone();
    }

    @Override
    boolean isInFlight()
    {
        return super.isInFlight() || lanes.isInFlight();
    }

    @Override
    boolean isLinking()
    {
        return phase == Phase.LINK;
    }

    @Override
    long linkedOn()
    {
        return linkedOn;
    }

    @Override
    String progress()
    {
        return "phase=" + phase + " suffix=" + oldSuffix + " depth=" + oldDepth + " groups=" + lanes.groupsDone();
    }

    private void aimAt(final int suffix, final int depth, final long offset)
    {
        oldSuffix = suffix;
        oldDepth = depth;
        oldOffset = offset;
        phase = Phase.INSPECT;
    }

    @Override
    int post(final OneSidedPort port)
    {
        return phase == Phase.GROUPS ? lanes.post(port) : super.post(port);
    }

    @Override
    void stage()
    {
        switch (phase)
        {
            case INSPECT -> line.stageRead(oldOffset);
            case FORMAT -> format.stage();
            case LINK -> batch.swapLink(0, oldOffset + SubtableDescriptor.SPLIT_OFFSET, linkedOn,
                SplitLink.of(newOffsets[0], newOffsets[1]));
            default -> stageFinish();
        }
    }

    @Override
    void onComplete(final int cookie, final int status)
    {
        final int lane = GrowthBatch.laneOf(cookie);
        if (lane >= 0)
        {
            lanes.onComplete(lane, status);
            onGroups();
        }
        else
        {
            super.onComplete(cookie, status);
        }
    }

    @Override
    void onAnswer()
    {
        switch (phase)
        {
            case INSPECT -> onInspect();
            case FORMAT -> onFormat();
            case LINK -> onLink();
            default -> onFinish();
        }
    }

    private void onInspect()
    {
        final long predecessor = line.predecessor();
        if (!line.isOf(table.tableId, oldSuffix, oldDepth))
        {
            fail("no subtable " + oldSuffix + " of depth " + oldDepth + " of this table at " + oldOffset);
        }
        else if (MergeLink.isLink(line.link()) || line.isBeingMerged())
        {
            failMerged();
        }
        else if (!isWhole(predecessor))
        {
            aimAt(oldSuffix & (1 << oldDepth - 1) - 1, oldDepth - 1, predecessor);
        }
        else if (line.link() != SplitLink.NONE)
        {
            follow(line.link());
        }
        else if (newOffsets[0] == 0)
        {
            // Nothing has begun: nothing to finish.
            done();
        }
        else if (oldDepth == BucketDescriptor.MAX_DEPTH)
        {
            fail("subtable is as deep as a directory can be: depth=" + oldDepth);
        }
        else if (!link.isOfGroup && MergeLink.isWithdrawn(line.linkWord()))
        {
            fail(String.format("a link that is damaged: %016x", line.linkWord()));
        }
        else
        {
            linkedOn = line.linkWord();
            beginFormat(0);
        }
    }

    /** Whether every slot of a subtable is initialised: only then its header names no predecessor. */
    private static boolean isWhole(final long predecessor)
    {
        return predecessor == 0;
    }

    private void beginFormat(final int side)
    {
        formattedSide = side;
        format.beginSplit(oldSuffix | side << oldDepth, oldDepth + 1, newOffsets[side], oldOffset);
        phase = Phase.FORMAT;
    }

    private void onFormat()
    {
        final boolean isWritten = format.onComplete();
        if (isWritten && formattedSide == 0)
        {
            beginFormat(1);
        }
        else if (isWritten)
        {
            phase = Phase.LINK;
        }
    }

    @Override
    void writeAgain()
    {
        if (phase == Phase.FORMAT || phase == Phase.LINK)
        {
            beginFormat(0);
        }
    }

    /** Of several that want to split this subtable one succeeds; the others go on with its link. */
    private void onLink()
    {
        if (link.isOfGroup && !usesGivenMemory() && MergeLink.isWithdrawn(batch.result(0)))
        {
            // A proposal to merge it came and went meanwhile.
            linkedOn = batch.result(0);
        }
        else
        {
            follow(usesGivenMemory() ? SplitLink.of(newOffsets[0], newOffsets[1]) : batch.result(0));
        }
    }

    private void failMerged()
    {
        isMerged = true;
        fail("subtable " + oldSuffix + " of depth " + oldDepth + " is being merged");
    }

    private void follow(final long newLink)
    {
        if (MergeLink.isLink(newLink))
        {
            failMerged();
            return;
        }
        if (!table.mayLead(
            oldOffset + SubtableDescriptor.GROUPS_OFFSET, newLink, link.port.regionLengthBytes()))
        {
            fail(String.format("subtable %d of depth %d has a link that leads nowhere: %016x", oldSuffix, oldDepth,
                newLink));
            return;
        }
        splitLink = SplitLink.underWay(newLink);
        table.learn(oldSuffix, oldDepth, oldOffset + SubtableDescriptor.GROUPS_OFFSET, newLink);
        if (SplitLink.isComplete(newLink))
        {
            onWhole();
        }
        else
        {
            phase = Phase.GROUPS;
            table.noteMoved(oldOffset + SubtableDescriptor.GROUPS_OFFSET, 0);
            lanes.begin(oldOffset, oldSuffix, oldDepth, splitLink, usesGivenMemory(), table.groupCount);
        }
    }

    private void onGroups()
    {
        if (state() == State.RUNNING && lanes.failure() != null)
        {
            fail(lanes.failure());
        }
        else if (state() == State.RUNNING)
        {
            table.noteMoved(oldOffset + SubtableDescriptor.GROUPS_OFFSET, lanes.groupsMovedInOrder());
            phase = lanes.isDone() ? Phase.FINISH : phase;
            finishSwaps = 0;
        }
    }

    /**
     * The new ones are whole before the old one says so. That of side 0 last: it is what the directory leads to in the
     * place of the old one, so who goes on with this takes all for done when that is whole.
     */
    private void stageFinish()
    {
        final int end = link.isMirrored ? finishSwaps + 1 : FINISH_SWAPS;
        for (int swap = finishSwaps; swap < end; swap++)
        {
            stageFinish(swap);
        }
    }

    private void stageFinish(final int swap)
    {
        if (swap < FINISH_SWAPS - 1)
        {
            batch.swapLink(swap, SplitLink.offset(splitLink, 1 - swap) + SubtableDescriptor.PREDECESSOR_OFFSET,
                oldOffset, 0);
        }
        else
        {
            batch.swapLink(swap, oldOffset + SubtableDescriptor.SPLIT_OFFSET, splitLink,
                SplitLink.complete(splitLink));
        }
    }

    /** With several copies each in a batch of its own: rounds of one batch may be over in any order. */
    private void onFinish()
    {
        finishSwaps = link.isMirrored ? finishSwaps + 1 : FINISH_SWAPS;
        if (finishSwaps == FINISH_SWAPS)
        {
            onWhole();
        }
    }

    private void onWhole()
    {
        if (oldOffset == wantedOffset)
        {
            done();
        }
        else
        {
            aimAt(wantedSuffix, wantedDepth, wantedOffset);
        }
    }

    @Override
    void onDetached()
    {
        super.onDetached();
        lanes.onDetached();
        onGroups();
    }

    @Override
    void close()
    {
        super.close();
        lanes.close();
    }
}
