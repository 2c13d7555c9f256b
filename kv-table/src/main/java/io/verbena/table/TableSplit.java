package io.verbena.table;

import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Splits a subtable into two of the same shape on the same memory node, while everybody goes on reading and writing it:
 * formats the two with slots that are not initialised, swaps the link to them into the header line of the old one,
 * which decides and records the split, and then freezes and moves its groups, several at a time ({@link SplitLanes}).
 * From then on anybody can go on: operations move what they need themselves ({@link SlotMoves}), another node can do
 * the rest. A split that finds the link there goes on with that one, and a subtable that is not whole itself is made so
 * first.
 *
 * <p>Made by {@link EngineSplits#begin}, driven by its poll; owner thread only. Belongs to the epoch in which it began,
 * so that no memory it works on is used for anything else meanwhile.
 */
public final class TableSplit
{
    /** Where it stands. */
    public enum State
    {
        /** Under way. */
        RUNNING,
        /** Every slot of the two new subtables is initialised: nobody needs the old one any more. */
        DONE,
        /** {@link #failure()} says why. What was done stays, and harms nobody. */
        FAILED
    }

    /** What the batch under way does. */
    private enum Phase
    {
        INSPECT, FORMAT, FORMAT_HEADER, LINK, GROUPS, FINISH
    }

    /** Header line swaps of the last batch. */
    private static final int FINISH_SWAPS = 3;
    /** Longer ones would keep operations of the same connection waiting. */
    private static final int MOST_FORMAT_WRITES = 8;

    private final OpenTable table;
    private final NodeLink link;
    private final SplitBatch batch;
    private final SplitLanes lanes;
    private final int droppedGuards;
    private final long deadlineNs;
    private final long beginEpoch;
    private final int wantedSuffix;
    private final int wantedDepth;
    private final long wantedOffset;
    private final long[] newOffsets;
    private State state = State.RUNNING;
    private Phase phase = Phase.INSPECT;
    private String failure;
    private boolean inFlight;
    private boolean isLinkOurs;
    private boolean isMerged;
    private long oldOffset;
    private int oldSuffix;
    private int oldDepth;
    private long splitLink;
    /** FORMAT: the next one that is written; and behind the last one of the batch under way. */
    private int group;
    private int groupsStaged;
    private int formattedSide;

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
        final int droppedGuards,
        final long beginEpoch,
        final long deadlineNs)
    {
        this.table = table;
        batch = new SplitBatch(scratch);
        lanes = new SplitLanes(scratch, groups, table.tableId, droppedGuards);
        this.droppedGuards = droppedGuards;
        this.beginEpoch = beginEpoch;
        this.deadlineNs = deadlineNs;
        newOffsets = new long[]{ offset0, offset1 };
        wantedSuffix = table.directory.suffix(splitsEntry);
        wantedDepth = table.directory.depth(splitsEntry);
        wantedOffset = table.directory.groupsOffset(splitsEntry) - SubtableDescriptor.GROUPS_OFFSET;
        link = table.link(wantedSuffix & table.descriptor().subtableCount() - 1);
        aimAt(wantedSuffix, wantedDepth, wantedOffset);
    }

    /** @return where it stands. */
    public State state()
    {
        return state;
    }

    /** @return why it failed, or null. */
    public String failure()
    {
        return failure;
    }

    /** @return whether it failed because a merge of the subtable has begun, which is to be finished first. */
    public boolean isMerged()
    {
        return isMerged;
    }

    /** @return whether the memory given may be part of the table now; if not, it is the caller's still, once ended. */
    public boolean usesGivenMemory()
    {
        return isLinkOurs;
    }

    /** @return requests posted. */
    public long verbs()
    {
        return batch.verbs() + lanes.verbs();
    }

    /** @return doorbells rung. */
    public long doorbells()
    {
        return batch.doorbells() + lanes.doorbells();
    }

    /** @return bytes read, written and swapped. */
    public long payloadBytes()
    {
        return batch.payloadBytes() + lanes.payloadBytes();
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

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    long heldEpoch()
    {
        return isFinished() ? Long.MAX_VALUE : beginEpoch;
    }

    /** @return whether it has ended, and nothing of it is under way. */
    public boolean isFinished()
    {
        return state != State.RUNNING && !isInFlight();
    }

    boolean isInFlightAt(final NodeLink node)
    {
        return isInFlight() && link == node;
    }

    private boolean isInFlight()
    {
        return inFlight || lanes.isInFlight();
    }

    private boolean isDropped(final int guard)
    {
        return (droppedGuards & guard) != 0;
    }

    private void aimAt(final int suffix, final int depth, final long offset)
    {
        oldSuffix = suffix;
        oldDepth = depth;
        oldOffset = offset;
        phase = Phase.INSPECT;
    }

    int poll(final long nowNs)
    {
        if (state != State.RUNNING)
        {
            return 0;
        }
        final OneSidedPort port = link.port;
        if (nowNs - deadlineNs >= 0)
        {
            fail("deadline passed with " + lanes.groupsDone() + " of " + table.groupCount + " groups moved");
            return 1;
        }
        if (inFlight)
        {
            return 0;
        }
        if (port != null && port.isFailed())
        {
            fail("memory node " + link.memoryNodeId + " cannot be reached");
            return 1;
        }
        if (port == null || !port.isReady() || port.space() < Batch.MAX_REQUESTS)
        {
            return 0;
        }
        if (phase == Phase.GROUPS)
        {
            return lanes.post(port);
        }
        batch.begin(port);
        stage();
        inFlight = batch.complete();
        return 1;
    }

    private void stage()
    {
        switch (phase)
        {
            case INSPECT -> batch.read(SplitBatch.HEADER_AT, SubtableDescriptor.HEADER_BYTES, oldOffset);
            case FORMAT -> stageFormat();
            case FORMAT_HEADER ->
                batch.write(SplitBatch.HEADER_AT, SubtableDescriptor.HEADER_BYTES, newOffsets[formattedSide]);
            case LINK -> batch.swap(0, oldOffset + SubtableDescriptor.SPLIT_OFFSET, SplitLink.NONE,
                SplitLink.of(newOffsets[0], newOffsets[1]));
            default -> stageFinish();
        }
    }

    void onComplete(final int cookie, final int status)
    {
        final int lane = SplitBatch.laneOf(cookie);
        if (lane >= 0)
        {
            lanes.onComplete(lane, status);
            onGroups();
        }
        else
        {
            onComplete(status);
        }
    }

    private void onComplete(final int status)
    {
        inFlight = false;
        if (phase == Phase.LINK)
        {
            // Also when the deadline has passed. Whether a link took that was not answered is not known: then the
            // memory given is the table's, or lost until it is found to be named by nothing.
            isLinkOurs = status != WorkCompletionStatus.SUCCESS || batch.result(0) == SplitLink.NONE;
        }
        if (state != State.RUNNING)
        {
            return;
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            fail("request failed: " + WorkCompletionStatus.text(status) + " phase=" + phase);
            return;
        }
        switch (phase)
        {
            case INSPECT -> onInspect();
            case FORMAT -> onFormat();
            case FORMAT_HEADER -> onFormatHeader();
            case LINK -> onLink();
            default -> onWhole();
        }
    }

    private void onInspect()
    {
        try
        {
            SubtableDescriptor.check(batch.scratch.buffer, SplitBatch.HEADER_AT);
        }
        catch (final FormatException ex)
        {
            fail(ex.getMessage());
            return;
        }
        if (SubtableDescriptor.tableId(batch.scratch.buffer, SplitBatch.HEADER_AT) != table.tableId ||
            SubtableDescriptor.suffix(batch.scratch.buffer, SplitBatch.HEADER_AT) != oldSuffix ||
            SubtableDescriptor.depth(batch.scratch.buffer, SplitBatch.HEADER_AT) != oldDepth)
        {
            fail("no subtable " + oldSuffix + " of depth " + oldDepth + " of this table at " + oldOffset);
            return;
        }
        final long found = SubtableDescriptor.split(batch.scratch.buffer, SplitBatch.HEADER_AT);
        final long predecessor = SubtableDescriptor.predecessor(batch.scratch.buffer, SplitBatch.HEADER_AT);
        if (MergeLink.isLink(found) ||
            predecessor != 0 && SubtableDescriptor.secondPredecessor(batch.scratch.buffer, SplitBatch.HEADER_AT) != 0)
        {
            failMerged();
        }
        else if (predecessor != 0 && !isDropped(Guard.WHOLE_BEFORE_SPLIT))
        {
            aimAt(oldSuffix & (1 << oldDepth - 1) - 1, oldDepth - 1, predecessor);
        }
        else if (found != SplitLink.NONE)
        {
            follow(found);
        }
        else if (newOffsets[0] == 0)
        {
            // Nothing has begun: nothing to finish.
            state = State.DONE;
        }
        else if (oldDepth == BucketDescriptor.MAX_DEPTH)
        {
            fail("subtable is as deep as a directory can be: depth=" + oldDepth);
        }
        else
        {
            formattedSide = 0;
            beginFormat();
        }
    }

    private void beginFormat()
    {
        final int suffix = oldSuffix | formattedSide << oldDepth;
        final long header = BucketDescriptor.header(table.tableId, suffix, oldDepth + 1);
        final long word = isDropped(Guard.UNINITIALISED) ? SlotWord.EMPTY : SlotWord.UNINITIALISED;
        for (int at = SplitBatch.FORMAT_AT; at < SplitBatch.SCRATCH_BYTES; at += BucketDescriptor.BUCKET_BYTES)
        {
            batch.word(at + BucketDescriptor.HEADER_OFFSET, header);
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                batch.word(at + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES, word);
            }
        }
        SubtableDescriptor.write(batch.scratch.buffer, SplitBatch.HEADER_AT, table.tableId, suffix, oldDepth + 1,
            table.groupCount, table.descriptor().hashSeed(), oldOffset);
        group = 0;
        phase = Phase.FORMAT;
    }

    /** All from the same memory: the groups of one side are alike. */
    private void stageFormat()
    {
        groupsStaged = group;
        for (int write = 0; write < MOST_FORMAT_WRITES && groupsStaged < table.groupCount; write++)
        {
            final int groups = Math.min(SplitBatch.GROUPS_PER_WRITE, table.groupCount - groupsStaged);
            batch.write(SplitBatch.FORMAT_AT, groups * BucketDescriptor.GROUP_BYTES,
                SplitGroup.groupOffset(newOffsets[formattedSide], groupsStaged));
            groupsStaged += groups;
        }
    }

    private void onFormat()
    {
        group = groupsStaged;
        phase = group < table.groupCount ? Phase.FORMAT : Phase.FORMAT_HEADER;
    }

    private void onFormatHeader()
    {
        if (formattedSide == 0)
        {
            formattedSide = 1;
            beginFormat();
        }
        else
        {
            phase = Phase.LINK;
        }
    }

    /** Of several that want to split this subtable one succeeds; the others go on with its link. */
    private void onLink()
    {
        follow(isLinkOurs ? SplitLink.of(newOffsets[0], newOffsets[1]) : batch.result(0));
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
            lanes.begin(oldOffset, oldSuffix, oldDepth, splitLink, isLinkOurs, table.groupCount);
        }
    }

    private void onGroups()
    {
        if (state == State.RUNNING && lanes.failure() != null)
        {
            fail(lanes.failure());
        }
        else if (state == State.RUNNING)
        {
            table.noteMoved(oldOffset + SubtableDescriptor.GROUPS_OFFSET, lanes.groupsMovedInOrder());
            phase = lanes.isDone() ? Phase.FINISH : phase;
        }
    }

    /**
     * The new ones are whole before the old one says so. That of side 0 last: it is what the directory leads to in the
     * place of the old one, so who goes on with this takes all for done when that is whole.
     */
    private void stageFinish()
    {
        for (int side = 1; side >= 0; side--)
        {
            batch.swap(side, SplitLink.offset(splitLink, side) + SubtableDescriptor.PREDECESSOR_OFFSET, oldOffset, 0);
        }
        batch.swap(FINISH_SWAPS - 1, oldOffset + SubtableDescriptor.SPLIT_OFFSET, splitLink,
            SplitLink.complete(splitLink));
    }

    private void onWhole()
    {
        if (oldOffset == wantedOffset)
        {
            state = State.DONE;
        }
        else
        {
            aimAt(wantedSuffix, wantedDepth, wantedOffset);
        }
    }

    private void fail(final String reason)
    {
        state = State.FAILED;
        failure = reason;
    }

    /** Its connection is lost. */
    void onDetached()
    {
        if (inFlight)
        {
            onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
        lanes.onDetached();
        onGroups();
    }

    /** Ends it when no request can touch its memory any more. */
    void close()
    {
        isLinkOurs |= inFlight && phase == Phase.LINK;
        inFlight = false;
        lanes.close();
        if (state == State.RUNNING)
        {
            fail("engine closed");
        }
    }

    @Override
    public String toString()
    {
        return "TableSplit{state=" + state + " phase=" + phase + " suffix=" + oldSuffix + " depth=" + oldDepth +
            " groups=" + lanes.groupsDone() + " verbs=" + verbs() +
            (failure == null ? "" : " failure=" + failure) + '}';
    }
}
