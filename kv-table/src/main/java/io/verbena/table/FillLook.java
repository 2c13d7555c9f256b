package io.verbena.table;

import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Looks at some groups of two sibling subtables, to tell how full both are together: two READs behind one doorbell.
 * Made by {@link EngineSplits#beginLook}, driven by its poll; owner thread only. Belongs to its first epoch.
 */
public final class FillLook
{
    private final OpenTable table;
    private final NodeLink link;
    private final SplitBatch batch;
    private final MergeRoom room;
    private final int suffix;
    private final int depth;
    private final int group;
    private final long[] offsets = new long[2];
    private final long beginEpoch;
    private final long deadlineNs;
    private boolean inFlight;
    private boolean hasEnded;
    private boolean isKnown;
    private boolean isLeft;
    private int records;

    /** @param first the one with split bit 0, with its sibling as the engine knows them. */
    FillLook(
        final OpenTable table,
        final Subtable first,
        final int group,
        final Scratch scratch,
        final long beginEpoch,
        final long deadlineNs)
    {
        this.table = table;
        this.group = group;
        this.beginEpoch = beginEpoch;
        this.deadlineNs = deadlineNs;
        batch = new SplitBatch(scratch);
        room = new MergeRoom(batch, table.groupCount);
        suffix = first.suffix();
        depth = first.depth();
        link = table.link(suffix & table.descriptor().subtableCount() - 1);
        offsets[0] = first.offset();
        offsets[1] =
            table.directory.groupsOffset(suffix | 1 << depth - 1) - SubtableDescriptor.GROUPS_OFFSET;
    }

    /** @return whether it has ended, and nothing of it is under way. */
    public boolean isFinished()
    {
        return hasEnded && !inFlight;
    }

    /** @return whether it has seen groups of both, and neither was split or merged there. */
    public boolean isKnown()
    {
        return isKnown;
    }

    /** @return whether it has seen groups that were split or merged meanwhile, or before, by somebody else. */
    public boolean isLeft()
    {
        return isLeft;
    }

    /** @return records in the groups of both. */
    public int records()
    {
        return records;
    }

    /** @return slots that one of the two has there. */
    public int slots()
    {
        return (room.behind() - group) * MergePlacement.SLOTS;
    }

    long heldEpoch()
    {
        return isFinished() ? Long.MAX_VALUE : beginEpoch;
    }

    boolean isInFlightAt(final NodeLink node)
    {
        return inFlight && link == node;
    }

    int poll(final long nowNs)
    {
        if (hasEnded || inFlight)
        {
            return 0;
        }
        if (nowNs - deadlineNs >= 0 || link.port == null || !link.port.isReady())
        {
            // Waiting for the memory node would hold up the epoch, and whatever else is to be split.
            hasEnded = true;
            return 1;
        }
        if (link.port.space() < Batch.MAX_REQUESTS)
        {
            return 0;
        }
        batch.begin(link.port);
        room.stageRead(offsets, group);
        inFlight = batch.complete();
        hasEnded = !inFlight;
        return 1;
    }

    void onComplete(final int status)
    {
        if (!inFlight)
        {
            return;
        }
        inFlight = false;
        hasEnded = true;
        isKnown = status == WorkCompletionStatus.SUCCESS && room.isOf(table.tableId, suffix, depth);
        isLeft = status == WorkCompletionStatus.SUCCESS && !isKnown;
        records = isKnown ? room.records() : 0;
    }

    /** Ends it when no request can touch its memory any more. */
    void close()
    {
        inFlight = false;
        hasEnded = true;
    }

    @Override
    public String toString()
    {
        return "FillLook{suffix=" + suffix + " depth=" + depth + " group=" + group + " records=" + records + '}';
    }
}
