package io.verbena.table;

import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.format.SplitLink;

/**
 * The splits and merges of an engine, one at a time, and the memory they work in. Owner thread of the engine only.
 */
public final class EngineSplits
{
    private final ProtectionDomain protectionDomain;
    private final DeviceAttributes attributes;
    private final EpochTracker epochs;
    private final int groupsUnderWay;
    private final int droppedGuards;
    private final int droppedMergeGuards;
    private final SplitSource source;
    private Scratch scratch;
    private TableSplit split;
    private TableMerge merge;
    private FillLook look;

    EngineSplits(
        final ProtectionDomain protectionDomain,
        final DeviceAttributes attributes,
        final EpochTracker epochs,
        final TableEngineConfiguration configuration)
    {
        this.protectionDomain = protectionDomain;
        this.attributes = attributes;
        this.epochs = epochs;
        groupsUnderWay = configuration.splitGroupsUnderWay();
        droppedGuards = configuration.droppedGuards();
        droppedMergeGuards = configuration.droppedMergeGuards();
        source = configuration.splitSource();
    }

    /**
     * Begins to split the subtable of a suffix, or goes on with a split of it that has begun; driven by the engine's
     * poll.
     *
     * @param table      opened by this engine.
     * @param suffix     directory bits of a key in it, as many as the deepest subtable known has.
     * @param offset0    of memory at its node, for the keys with split bit 0; 0: only finishes a split that has begun.
     * @param offset1    of the same for the others.
     * @param deadlineNs after which it fails, to be begun again by anybody.
     * @return its progress; one at a time.
     */
    public TableSplit begin(
        final OpenTable table, final int suffix, final long offset0, final long offset1, final long deadlineNs)
    {
        prepare();
        split = new TableSplit(
            table, suffix, offset0, offset1, scratch, groupsUnderWay, droppedGuards, epochs.epoch(), deadlineNs);
        return split;
    }

    /**
     * Begins to merge the subtable of a suffix with its sibling, or goes on with a merge of them that has begun; driven
     * by the engine's poll.
     *
     * @param table      opened by this engine.
     * @param suffix     directory bits of a key in one of them, as many as the deepest subtable known has.
     * @param offset     of memory at their node; 0: only finishes a merge that has begun.
     * @param deadlineNs after which it fails, to be begun again by anybody.
     * @return its progress; one at a time.
     */
    public TableMerge beginMerge(
        final OpenTable table, final int suffix, final long offset, final long deadlineNs)
    {
        return beginMerge(table, suffix, offset, SplitLink.NONE, deadlineNs);
    }

    /**
     * Begins to take back a merge that was proposed and never decided; finishes it if it was.
     *
     * @param table      opened by this engine.
     * @param suffix     directory bits of a key in one of the two.
     * @param proposal   {@link TableMerge#proposal()} of a merge that failed for it, in an epoch that all have passed
     *                   since: {@link TableEngine#isReusable}.
     * @param deadlineNs after which it fails, to be begun again by anybody.
     * @return its progress.
     */
    public TableMerge withdrawMerge(
        final OpenTable table, final int suffix, final long proposal, final long deadlineNs)
    {
        return beginMerge(table, suffix, 0, proposal, deadlineNs);
    }

    /** As {@link #beginMerge} without memory, in a store that nobody else works on: decides what is proposed. */
    TableMerge finishMergeAlone(final OpenTable table, final int suffix, final long deadlineNs)
    {
        return beginMerge(table, suffix, 0, TableMerge.ANY_ALONE, deadlineNs);
    }

    private TableMerge beginMerge(
        final OpenTable table, final int suffix, final long offset, final long stale, final long deadlineNs)
    {
        prepare();
        merge = new TableMerge(table, suffix, offset, stale, scratch, droppedMergeGuards, epochs.epoch(), deadlineNs);
        return merge;
    }

    /**
     * Begins to look how full two siblings are, in some groups of them.
     *
     * @param table      opened by this engine.
     * @param first      the one with split bit 0, of which {@link OpenTable#mayBeMerged} says yes.
     * @param group      from which it looks.
     * @param deadlineNs after which it ends without an answer.
     * @return the look; one at a time, and none while something is split or merged.
     */
    public FillLook beginLook(
        final OpenTable table, final Subtable first, final int group, final long deadlineNs)
    {
        prepare();
        look = new FillLook(table, first, group, scratch, epochs.epoch(), deadlineNs);
        return look;
    }

    private void prepare()
    {
        if (split != null && !split.isFinished() || merge != null && !merge.isFinished() ||
            look != null && !look.isFinished())
        {
            throw new IllegalStateException("one subtable is split, merged or looked at at a time: split=" + split +
                " merge=" + merge + " look=" + look);
        }
        split = null;
        merge = null;
        look = null;
        if (scratch == null)
        {
            scratch = SplitBatch.allocateScratch(protectionDomain, attributes);
        }
    }

    SplitSource source()
    {
        return source;
    }

    int poll(final long nowNs)
    {
        return (split == null ? 0 : split.poll(nowNs)) + (merge == null ? 0 : merge.poll(nowNs)) +
            (look == null ? 0 : look.poll(nowNs));
    }

    void onComplete(final int cookie, final int status)
    {
        if (split != null)
        {
            split.onComplete(cookie, status);
        }
        if (merge != null)
        {
            merge.onComplete(status);
        }
        if (look != null)
        {
            look.onComplete(status);
        }
    }

    void onDetached(final NodeLink link)
    {
        if (split != null && split.isInFlightAt(link))
        {
            split.onDetached();
        }
        if (merge != null && merge.isInFlightAt(link))
        {
            merge.onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
        if (look != null && look.isInFlightAt(link))
        {
            look.onComplete(WorkCompletionStatus.WR_FLUSH_ERR);
        }
    }

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    long heldEpoch()
    {
        return Math.min(split == null ? Long.MAX_VALUE : split.heldEpoch(),
            Math.min(merge == null ? Long.MAX_VALUE : merge.heldEpoch(),
                look == null ? Long.MAX_VALUE : look.heldEpoch()));
    }

    void close()
    {
        if (split != null)
        {
            split.close();
        }
        if (merge != null)
        {
            merge.close();
        }
        if (look != null)
        {
            look.close();
        }
        if (scratch != null)
        {
            scratch.close();
        }
    }
}
