package io.verbena.table.growth;

import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergeUnit;
import java.util.function.LongSupplier;

/**
 * Merges two sibling subtables with few records into one of the same shape, while everybody goes on reading and
 * writing: reserves slots of both until what can ever be in two groups fits one, formats the new subtable, proposes it
 * in the header line of one of the two and decides it in that of the other, and then freezes and places group after
 * group. From the decision on anybody can go on; until then nothing has changed for anybody, and nobody but who has
 * proposed it decides: the sibling that a proposal names may be gone since. Done when every slot of the new subtable is
 * initialised: nobody needs the old ones any more. Section "Merge" of {@code docs/protocol/growth.md}.
 *
 * <p>Made by {@link EngineGrowth#beginMerge}.
 */
public final class TableMerge extends SubtableWork
{
    /** What the batch under way does. */
    private enum Phase
    {
        INSPECT, INSPECT_SIBLING, IS_DECIDED, COUNT, RESERVE_READ, RESERVE, FORMAT, PROPOSE, DECIDE, REFUSE, WITHDRAW,
        UNIT, FINISH
    }

    private final EpochTracker epochs;
    private final LongSupplier emptiedWords;
    private final HeaderLine line;
    private final HeaderLine mergedLine;
    private final SubtableFormat format;
    private final MergeUnit unit;
    private final MergeRoom room;
    private final long givenOffset;
    private final boolean isAlone;
    private final long[] offsets = new long[2];
    private Phase phase = Phase.INSPECT;
    private boolean isFull;
    private boolean isWithdrawn;
    private boolean isUndecided;
    private long undecidedEpoch;
    /** The word in the place of the link of side 0 when there was none. */
    private long linkedOn;
    /** The same of side 1, as far as it was looked for. */
    private long decidedOn = SplitLink.NONE;
    private int suffix;
    private int depth;
    private long merged;
    private int group;

    /**
     * @param entry   entry of the directory: one of the two subtables.
     * @param offset  of memory for the new subtable, or 0 if only a merge that has begun is to be finished.
     * @param epochs  of the engine: which show that a proposal will never be decided.
     * @param emptiedWords each another one: what is left of a proposal that is taken back.
     * @param isAlone whether nobody else works on the table, so that any proposal may be decided.
     */
    TableMerge(
        final OpenTable table,
        final int entry,
        final long offset,
        final Scratch scratch,
        final EpochTracker epochs,
        final LongSupplier emptiedWords,
        final boolean isAlone,
        final long deadlineNs)
    {
        super(table, entry, scratch, epochs.epoch(), deadlineNs);
        this.epochs = epochs;
        this.emptiedWords = emptiedWords;
        this.isAlone = isAlone;
        line = new HeaderLine(batch, GrowthBatch.HEADER_AT);
        mergedLine = new HeaderLine(batch, GrowthBatch.SECOND_HEADER_AT);
        format = new SubtableFormat(table, batch);
        unit = new MergeUnit(table.tableId);
        room = new MergeRoom(batch, table.groupCount);
        givenOffset = offset;
    }

    /** @return whether it failed because the two have more records than one may hold in each group. */
    public boolean isFull()
    {
        return isFull;
    }

    /** @return whether it failed because a proposal was taken back: nothing is under way any more. */
    public boolean isWithdrawn()
    {
        return isWithdrawn;
    }

    /**
     * @return whether it failed for the proposal of somebody else, who may decide it still; after all have passed the
     *     {@link #undecidedEpoch()} nobody will, and who tries again takes it back.
     */
    public boolean isUndecided()
    {
        return isUndecided;
    }

    /** @return when {@code TableEngine.isReusable} says so of this one, what still stands there is a stale one. */
    public long undecidedEpoch()
    {
        return undecidedEpoch;
    }

    /** @return the subtable that took the place of the two, or null if there was nothing to finish. */
    public Subtable merged()
    {
        return merged == 0 ? null : new Subtable(link.memoryNodeId, suffix, depth, merged);
    }

    @Override
    boolean isLinking()
    {
        return phase == Phase.PROPOSE;
    }

    @Override
    long linkedOn()
    {
        return linkedOn;
    }

    @Override
    String progress()
    {
        return "phase=" + phase + " suffix=" + suffix + " depth=" + depth + " group=" + group;
    }

    @Override
    void stage()
    {
        switch (phase)
        {
            case INSPECT -> line.stageRead(wantedOffset);
            case INSPECT_SIBLING -> line.stageRead(offsets[1 - wantedSide()]);
            case IS_DECIDED ->
            {
                line.stageRead(offsets[1]);
                mergedLine.stageRead(merged);
            }
            case COUNT, RESERVE_READ -> room.stageRead(offsets, group);
            case RESERVE -> room.stageReserve();
            case FORMAT -> format.stage();
            case PROPOSE -> batch.swapLink(0, linkAt(0), linkedOn, linkOf(0));
            case DECIDE -> batch.swapLink(0, linkAt(1), decidedOn, linkOf(1));
            case REFUSE -> batch.swapLink(0, linkAt(1), decidedOn, withdrawnWord());
            case WITHDRAW -> batch.swapLink(0, linkAt(0), linkOf(0), withdrawnWord());
            case UNIT -> unit.stage(batch);
            default -> batch.swapLink(0, merged + SubtableDescriptor.PREDECESSOR_OFFSET, offsets[0], 0);
        }
    }

    @Override
    void onAnswer()
    {
        switch (phase)
        {
            case INSPECT -> onInspect();
            case INSPECT_SIBLING -> onInspectSibling();
            case IS_DECIDED -> onIsDecided();
            case COUNT -> onCount();
            case RESERVE_READ -> reserve();
            case RESERVE ->
            {
                room.onReserved();
                reserve();
            }
            case FORMAT -> phase = format.onComplete() ? Phase.PROPOSE : Phase.FORMAT;
            case PROPOSE -> onPropose();
            case DECIDE -> onDecide();
            case REFUSE -> onRefused();
            case WITHDRAW -> onWithdrawn();
            case UNIT -> onUnit();
            default -> done();
        }
    }

    private int wantedSide()
    {
        return wantedSuffix >>> depth & 1;
    }

    private long linkAt(final int side)
    {
        return offsets[side] + SubtableDescriptor.SPLIT_OFFSET;
    }

    private long linkOf(final int side)
    {
        return MergeLink.of(merged, offsets[1 - side]);
    }

    /** In a group none that anybody may expect: a late swap of whoever finishes the proposal would fit. */
    private long withdrawnWord()
    {
        return link.isOfGroup ? MergeLink.withdrawn(emptiedWords.getAsLong()) : SplitLink.NONE;
    }

    private void aimAt(final int newSuffix, final int newDepth, final long old0, final long old1, final long to)
    {
        suffix = newSuffix;
        depth = newDepth;
        offsets[0] = old0;
        offsets[1] = old1;
        merged = to;
        group = 0;
    }

    /** Fails if the line read is not that of the subtable meant. */
    private boolean checkHeaderOf(final int ofSuffix, final int ofDepth)
    {
        if (!line.isOf(table.tableId, ofSuffix, ofDepth))
        {
            fail("no subtable " + ofSuffix + " of depth " + ofDepth + " of this table where it should be");
        }
        return state() == State.RUNNING;
    }

    private void onInspect()
    {
        if (!checkHeaderOf(wantedSuffix, wantedDepth))
        {
            return;
        }
        final long found = line.link();
        if (line.isBeingMerged())
        {
            // By a merge that is decided, since somebody has found it.
            aimAt(wantedSuffix, wantedDepth, line.predecessor(), line.secondPredecessor(), wantedOffset);
            beginUnits();
        }
        else if (MergeLink.isLink(found))
        {
            goOnWith(found, wantedSuffix, wantedOffset);
        }
        else if (givenOffset == 0)
        {
            // Nothing has begun: nothing to finish.
            done();
        }
        else if (!isUnfit(found, line.predecessor()))
        {
            findSibling();
        }
    }

    /** Fails if a subtable cannot be merged as it is. */
    private boolean isUnfit(final long found, final long predecessor)
    {
        if (found != SplitLink.NONE)
        {
            fail("it is split, or its sibling");
        }
        else if (isDamaged())
        {
            fail(String.format("a link that is damaged, or its sibling's: %016x", line.linkWord()));
        }
        else if (!isWhole(predecessor))
        {
            fail("it is not whole, or its sibling: finish what it comes from first");
        }
        return state() != State.RUNNING;
    }

    /** In a table with one copy, no proposal leaves such a word. */
    private boolean isDamaged()
    {
        return !link.isOfGroup && MergeLink.isWithdrawn(line.linkWord());
    }

    /** Whether every slot of a subtable is initialised: only then its header names no predecessor. */
    private static boolean isWhole(final long predecessor)
    {
        return predecessor == 0;
    }

    private void findSibling()
    {
        final int newDepth = wantedDepth - 1;
        final int siblingSuffix = wantedSuffix ^ 1 << newDepth;
        if (newDepth < 0 || table.directory.depth(siblingSuffix) != wantedDepth)
        {
            fail("it has no sibling, or that one is deeper");
            return;
        }
        final long sibling = table.directory.groupsOffset(siblingSuffix) - SubtableDescriptor.GROUPS_OFFSET;
        final boolean isFirst = siblingSuffix > wantedSuffix;
        aimAt(wantedSuffix & (1 << newDepth) - 1, newDepth, isFirst ? wantedOffset : sibling,
            isFirst ? sibling : wantedOffset, givenOffset);
        noteLinkWord(wantedSide());
        if (table.link(siblingSuffix & table.descriptor().subtableCount() - 1) != link)
        {
            fail("its sibling is at another memory node");
            return;
        }
        phase = Phase.INSPECT_SIBLING;
    }

    private void onInspectSibling()
    {
        final int siblingSuffix = wantedSuffix ^ 1 << depth;
        if (!checkHeaderOf(siblingSuffix, depth + 1))
        {
            return;
        }
        final long found = line.link();
        if (MergeLink.isLink(found))
        {
            goOnWith(found, siblingSuffix, offsets[1 - wantedSide()]);
        }
        else if (!isUnfit(found, line.predecessor()))
        {
            noteLinkWord(1 - wantedSide());
            group = 0;
            phase = Phase.COUNT;
        }
    }

    /** Of the line that was read, which is that of a side; the proposal goes to side 0. */
    private void noteLinkWord(final int side)
    {
        linkedOn = side == 0 ? line.linkWord() : linkedOn;
    }

    /** With a merge that somebody has proposed, or decided. */
    private void goOnWith(final long found, final int ofSuffix, final long ofOffset)
    {
        final int newDepth = wantedDepth - 1;
        final boolean isFirst = (ofSuffix >>> newDepth & 1) == 0;
        if (!table.mayLead(ofOffset + SubtableDescriptor.GROUPS_OFFSET, found, link.port.regionLengthBytes()))
        {
            fail(String.format("a link that leads nowhere: %016x", found));
            return;
        }
        aimAt(wantedSuffix & (1 << newDepth) - 1, newDepth, isFirst ? ofOffset : MergeLink.sibling(found),
            isFirst ? MergeLink.sibling(found) : ofOffset, MergeLink.merged(found));
        phase = Phase.IS_DECIDED;
        if (!isFirst)
        {
            beginUnits();
        }
    }

    /**
     * What stands where the sibling of a proposal was. If that is the link back, the merge is decided, and both are
     * there as long as it is not complete. If not, the sibling may have been split since, and its memory be anything
     * by now, so that it must not be written to. Who takes the proposal back must know that nobody will decide it.
     */
    private void onIsDecided()
    {
        final boolean isSibling = line.isOf(table.tableId, suffix | 1 << depth, depth + 1);
        if (isSibling && line.link() == linkOf(1))
        {
            beginUnits();
        }
        else if (isAlone && isSibling && isDamaged())
        {
            // It may have been a link of a split, over which nothing may be decided.
            fail(String.format("a link that is damaged, its sibling's: %016x", line.linkWord()));
        }
        else if (isAlone && isSibling && line.link() == SplitLink.NONE)
        {
            decidedOn = line.linkWord();
            phase = Phase.DECIDE;
        }
        else if (isAlone || isStale())
        {
            decidedOn = line.linkWord();
            phase = mayBeDecidedElsewhere(isSibling) ? Phase.REFUSE : Phase.WITHDRAW;
        }
        else
        {
            isUndecided = true;
            fail("somebody else has proposed a merge, and not decided it yet");
        }
    }

    /**
     * Whether the decision may stand on a copy that is not the primary, where it was not seen: its proposer may have
     * ended between two members. So nothing is taken back before a word of its own stands in the place of the decision
     * on all of them. Only a sibling that is whole and has no link is certain to be one still, and to stay one until
     * this merge ends; what has a link, or is not whole, decides nothing and may be in use for something else.
     */
    private boolean mayBeDecidedElsewhere(final boolean isSibling)
    {
        return link.isMirrored && isSibling && line.link() == SplitLink.NONE && isWhole(line.predecessor());
    }

    /**
     * Whether all have passed the epoch in which who formatted the new subtable began, as its header line says: read
     * behind the proposal, in an epoch that is held until the proposal is taken back. When it was seen first says
     * nothing: that may have been another proposal of the same memory.
     */
    private boolean isStale()
    {
        if (!mergedLine.isOf(table.tableId, suffix, depth))
        {
            // Taken back meanwhile, and used for something else.
            undecidedEpoch = epochs.epoch();
            return false;
        }
        undecidedEpoch = mergedLine.epoch(epochs.epoch()) + EpochTracker.REPEAT_EPOCHS;
        return epochs.isReusable(undecidedEpoch);
    }

    /** Looks at everything before it changes anything. */
    private void onCount()
    {
        final int full = room.full();
        if (full != MergeRoom.NONE)
        {
            noRoom(full);
            return;
        }
        group = room.behind();
        if (group == table.groupCount)
        {
            group = 0;
            phase = Phase.RESERVE_READ;
        }
    }

    private void noRoom(final int fullGroup)
    {
        isFull = true;
        fail("group " + fullGroup + " has too many records for one");
    }

    /** Goes on until every group of the piece has enough reserved slots, whatever others have put there meanwhile. */
    private void reserve()
    {
        if (room.full() != MergeRoom.NONE)
        {
            noRoom(room.full());
        }
        else if (room.needsMore())
        {
            phase = Phase.RESERVE;
        }
        else
        {
            group = room.behind();
            if (group < table.groupCount)
            {
                phase = Phase.RESERVE_READ;
            }
            else
            {
                beginFormat();
            }
        }
    }

    private void beginFormat()
    {
        format.beginMerged(suffix, depth, givenOffset, offsets[0], offsets[1], beginEpoch);
        phase = Phase.FORMAT;
    }

    @Override
    void writeAgain()
    {
        if (phase == Phase.FORMAT || phase == Phase.PROPOSE)
        {
            beginFormat();
        }
    }

    /** Changes nothing for anybody, but that the one with split bit 0 is not split before the merge is decided. */
    private void onPropose()
    {
        final long found = batch.result(0);
        if (usesGivenMemory())
        {
            onProposed();
        }
        else if (MergeLink.isLink(found))
        {
            goOnWith(found, suffix, offsets[0]);
        }
        else if (link.isOfGroup && MergeLink.isWithdrawn(found))
        {
            // Another proposal came and went meanwhile.
            linkedOn = found;
        }
        else
        {
            fail("it was split, or its sibling");
        }
    }

    /** Only the link of the sibling makes it so. */
    private void onProposed()
    {
        phase = Phase.DECIDE;
    }

    private void onDecide()
    {
        final long found = batch.result(0);
        if (found == decidedOn || found == linkOf(1))
        {
            beginUnits();
        }
        else if (link.isOfGroup && MergeLink.isWithdrawn(found))
        {
            // An earlier proposal was refused: that says nothing of this one.
            decidedOn = found;
        }
        else
        {
            // The sibling was split before; that stays so, and nobody can decide this merge any more.
            phase = Phase.WITHDRAW;
        }
    }

    /** Whatever else stands there now, the proposal cannot be decided any more on any copy. */
    private void onRefused()
    {
        if (batch.result(0) == linkOf(1))
        {
            beginUnits();
        }
        else
        {
            phase = Phase.WITHDRAW;
        }
    }

    private void onWithdrawn()
    {
        unlinked();
        isWithdrawn = true;
        fail("a proposal is taken back: it was split, or its sibling, or nobody has decided it");
    }

    public void beginUnits()
    {
        table.learn(suffix, depth + 1, offsets[0] + SubtableDescriptor.GROUPS_OFFSET, linkOf(0));
        group = 0;
        beginUnit();
    }

    private void beginUnit()
    {
        phase = Phase.UNIT;
        unit.begin(suffix, depth, offsets[0], offsets[1], merged, group, GrowthBatch.FORMAT_AT);
    }

    private void onUnit()
    {
        unit.onComplete(batch);
        if (unit.failure() != null)
        {
            fail(unit.failure());
        }
        else if (unit.isDone())
        {
            phase = Phase.FINISH;
            if (++group < table.groupCount)
            {
                beginUnit();
            }
        }
    }
}
