package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TombstoneQueue;
import io.verbena.table.format.SlotWord;
import org.agrona.collections.IntArrayQueue;
import org.agrona.collections.LongArrayQueue;

/**
 * Clears the words that deletes of this engine left in their slots, once no retry can ask for them any more: each
 * delete takes a few of them along in its doorbell. A word that is not cleared, because the engine ended, its deletes
 * ceased or the queue is full, does no harm: it is a tentative word that its owner will not commit, and goes when
 * somebody needs the slot.
 */
public final class Tombstones
{
    /** Most words of one memory node that wait; more are left to those who need the slots. */
    static final int CAPACITY = 1 << 16;
    /** Words that a delete takes along: more than it leaves, so that they do not pile up. */
    public static final int CLEARED_BY_DELETE = 2;
    private static final int FIRST_RESULT = 2;

    private final EpochTracker epochs;
    private final EngineCounters counters;
    private final Batch batch;
    private final Records records;
    private long dueOffset;
    private long dueWord;

    Tombstones(
        final EpochTracker epochs, final EngineCounters counters, final Batch batch, final Records records)
    {
        this.epochs = epochs;
        this.counters = counters;
        this.batch = batch;
        this.records = records;
    }

    void add(final Operation op, final long slotOffset, final long word)
    {
        add(op.request.link, op.request.table, op.request.isInPresentSubtable(slotOffset), slotOffset, word);
    }

    /** @param isInPresentSubtable whether the slot is in the deepest subtable of its key that is known. */
    void add(
        final NodeLink link,
        final OpenTable table,
        final boolean isInPresentSubtable,
        final long slotOffset,
        final long word)
    {
        final TombstoneQueue queue = link.tombstones;
        if (word != SlotWord.EMPTY && queue.words.size() < CAPACITY)
        {
            // Not cleared in a subtable that was found to be split since, or in a dropped table: see its leave().
            final long epoch = epochs.epoch();
            final boolean isToClear = !table.isClosed() && isInPresentSubtable;
            queue.offsets.addLong(slotOffset);
            queue.words.addLong(word);
            queue.epochs.addLong(isToClear ? epoch : ~epoch);
            queue.tableIds.addInt(table.tableId);
        }
    }

    /**
     * Whether a delete that is known to have taken effect left this word, which waits here still; not when the queue
     * was full. Not on the hot path.
     */
    boolean isKnown(final NodeLink link, final long slotOffset, final long word)
    {
        final LongArrayQueue.LongIterator offsets = link.tombstones.offsets.iterator();
        final LongArrayQueue.LongIterator words = link.tombstones.words.iterator();
        boolean isKnown = false;
        while (!isKnown && words.hasNext())
        {
            isKnown = words.nextValue() == word & offsets.nextValue() == slotOffset;
        }
        return isKnown;
    }

    /** Whether it is no longer known which words deletes have left. */
    boolean isFull(final NodeLink link)
    {
        return link.tombstones.words.size() >= CAPACITY;
    }

    /** Stages the clearing of words whose time has come. Cleared, gone or lost with the batch: all are done. */
    void stageClearing(final Operation op)
    {
        for (int i = 0; i < CLEARED_BY_DELETE && takeDue(op.request.link.tombstones); i++)
        {
            if (dueWord != SlotWord.EMPTY)
            {
                counters.tombstonesCleared++;
                batch.propose(FIRST_RESULT + i, dueOffset, dueWord, records.emptied());
            }
        }
    }

    /**
     * As {@link #stageClearing(Operation)}, of a sweep's batch. What the swaps find is of no use.
     *
     * @param resultAt where all of it lands.
     * @param most     words.
     * @return how many.
     */
    int stageClearing(
        final NodeLink link, final OneSidedPort port, final Scratch scratch, final int resultAt, final int most)
    {
        int staged = 0;
        while (staged < most && takeDue(link.tombstones))
        {
            if (dueWord != SlotWord.EMPTY)
            {
                counters.tombstonesCleared++;
                staged++;
                SlotRound.propose(port, scratch.region, resultAt, dueOffset, dueWord, records.emptied());
            }
        }
        return staged;
    }

    /** Takes the first word from a queue if its time has come; {@link SlotWord#EMPTY} if it is not to be cleared. */
    private boolean takeDue(final TombstoneQueue queue)
    {
        if (queue.epochs.isEmpty())
        {
            return false;
        }
        final long epoch = queue.epochs.peekLong();
        if (!epochs.isReusable(epoch < 0 ? ~epoch : epoch))
        {
            return false;
        }
        queue.epochs.pollLong();
        queue.tableIds.pollInt();
        dueOffset = queue.offsets.pollLong();
        final long word = queue.words.pollLong();
        dueWord = epoch < 0 ? SlotWord.EMPTY : word;
        return true;
    }
}
