package io.verbena.table.growth;

import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import java.util.function.LongSupplier;

/**
 * The splits and merges of an engine, one at a time, and the memory they work in. Owner thread of the engine only.
 */
public final class EngineGrowth
{
    private final ProtectionDomain protectionDomain;
    private final EpochTracker epochs;
    private final LongSupplier emptiedWords;
    private final int groupsUnderWay;
    private Scratch scratch;
    private SubtableWork work;

    /** @param emptiedWords of the engine, each another one. */
    public EngineGrowth(
        final ProtectionDomain protectionDomain,
        final EpochTracker epochs,
        final LongSupplier emptiedWords,
        final int groupsUnderWay)
    {
        this.protectionDomain = protectionDomain;
        this.epochs = epochs;
        this.emptiedWords = emptiedWords;
        this.groupsUnderWay = groupsUnderWay;
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
        return begun(new TableSplit(
            table, suffix, offset0, offset1, scratch, groupsUnderWay, epochs.epoch(), deadlineNs));
    }

    /**
     * Begins to merge the subtable of a suffix with its sibling, or goes on with a merge of them that has begun; driven
     * by the engine's poll. A proposal that nobody will decide any more is taken back.
     *
     * @param table      opened by this engine.
     * @param suffix     directory bits of a key in one of them, as many as the deepest subtable known has.
     * @param offset     of memory at their node; 0: only finishes what has begun.
     * @param deadlineNs after which it fails, to be begun again by anybody.
     * @return its progress; one at a time.
     */
    public TableMerge beginMerge(
        final OpenTable table, final int suffix, final long offset, final long deadlineNs)
    {
        return beginMerge(table, suffix, offset, false, deadlineNs);
    }

    /** As {@link #beginMerge} without memory, in a store that nobody else works on: decides what is proposed. */
    public TableMerge finishMergeAlone(final OpenTable table, final int suffix, final long deadlineNs)
    {
        return beginMerge(table, suffix, 0, true, deadlineNs);
    }

    private TableMerge beginMerge(
        final OpenTable table, final int suffix, final long offset, final boolean isAlone, final long deadlineNs)
    {
        prepare();
        return begun(new TableMerge(table, suffix, offset, scratch, epochs, emptiedWords, isAlone, deadlineNs));
    }

    /**
     * Begins to look how full two siblings are, in some groups of them, and whether anything was begun there, or in a
     * subtable that has no sibling to be merged with.
     *
     * @param table      opened by this engine.
     * @param first      the one with split bit 0, if {@link OpenTable#mayBeMerged} says yes of it; else any.
     * @param group      from which it looks.
     * @param deadlineNs after which it ends without an answer.
     * @return the look; one at a time, and none while something is split or merged.
     */
    public FillProbe beginLook(
        final OpenTable table, final Subtable first, final int group, final long deadlineNs)
    {
        prepare();
        return begun(new FillProbe(table, first, group, scratch, epochs.epoch(), deadlineNs));
    }

    private <T extends SubtableWork> T begun(final T begun)
    {
        work = begun;
        return begun;
    }

    private void prepare()
    {
        if (work != null && !work.isFinished())
        {
            throw new IllegalStateException("one subtable is split, merged or looked at at a time: " + work);
        }
        work = null;
        if (scratch == null)
        {
            scratch = GrowthBatch.allocateScratch(protectionDomain);
        }
    }

    public int poll(final long nowNs)
    {
        return work == null ? 0 : work.poll(nowNs);
    }

    public void onComplete(final int cookie, final int status)
    {
        if (work != null)
        {
            work.onComplete(cookie, status);
        }
    }

    public void onDetached(final NodeLink link)
    {
        if (work != null && work.isInFlightAt(link))
        {
            work.onDetached();
        }
    }

    /** A memory node has come in: what was formatted and is not linked yet is written again. Nothing is under way. */
    public void writeAgain(final NodeLink link)
    {
        if (work != null && work.link == link)
        {
            work.writeAgain();
        }
    }

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    public long heldEpoch()
    {
        return work == null ? Long.MAX_VALUE : work.heldEpoch();
    }

    public void close()
    {
        if (work != null)
        {
            work.close();
        }
        if (scratch != null)
        {
            scratch.close();
        }
    }
}
