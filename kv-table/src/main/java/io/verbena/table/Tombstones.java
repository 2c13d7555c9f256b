package io.verbena.table;

import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.format.SlotWord;
import org.agrona.collections.LongArrayQueue;

/**
 * Clears the words that deletes of this engine left in their slots, once no retry can ask for them any more. A word
 * that is not cleared, because the engine ended or the queue is full, does no harm: it is a tentative word that its
 * owner will not commit, and goes when somebody needs the slot.
 */
final class Tombstones
{
    /** Most words of one memory node that wait; more are left to those who need the slots. */
    static final int CAPACITY = 1 << 16;
    private static final int MAX_SWEPT = Batch.MAX_REQUESTS;

    private final OperationRunner runner;
    private final Operation sweeper;
    private int swept;

    /** @param sweeper an operation slot of its own, known to nobody else. */
    Tombstones(final OperationRunner runner, final Operation sweeper)
    {
        this.runner = runner;
        this.sweeper = sweeper;
        sweeper.reset();
        sweeper.reported = true;
        sweeper.nextInBatch = Batch.NONE;
    }

    /** Words of one memory node, in the order of their epochs. */
    static final class Queue
    {
        private final LongArrayQueue offsets = new LongArrayQueue(Long.MIN_VALUE);
        private final LongArrayQueue words = new LongArrayQueue(Long.MIN_VALUE);
        private final LongArrayQueue epochs = new LongArrayQueue(Long.MIN_VALUE);
    }

    void add(final Operation op, final long slotOffset, final long word)
    {
        final Queue queue = op.link.tombstones;
        if (queue.words.size() < CAPACITY)
        {
            queue.offsets.addLong(slotOffset);
            queue.words.addLong(word);
            queue.epochs.addLong(runner.epochs.epoch());
        }
    }

    /** @return whether there is something to clear at a node, and nothing under way. */
    boolean isDue(final NodeLink link)
    {
        return !sweeper.inFlight && isWaiting(link) && link.port != null && link.port.isReady() &&
            runner.batch.hasRoom(link);
    }

    /** @return whether words of this node could be cleared as far as the epoch is concerned. */
    boolean isWaiting(final NodeLink link)
    {
        return !link.tombstones.epochs.isEmpty() && runner.epochs.isReusable(link.tombstones.epochs.peekLong());
    }

    void sweep(final NodeLink link)
    {
        sweeper.link = link;
        sweeper.step = Step.SWEEP;
        sweeper.beginEpoch = runner.epochs.epoch();
        runner.batch.begin(sweeper);
        final Queue queue = link.tombstones;
        swept = Math.min(MAX_SWEPT, queue.words.size());
        int i = 0;
        while (i < swept && runner.epochs.isReusable(queue.epochs.peekLong()))
        {
            queue.epochs.pollLong();
            runner.batch.swap(i++, queue.offsets.pollLong(), queue.words.pollLong(), SlotWord.EMPTY);
        }
        swept = i;
        runner.batch.end();
        if (!sweeper.inFlight)
        {
            sweeper.step = Step.FREE;
        }
    }

    /** Cleared or gone: both are done. After a failure they stay, harmless. */
    void onComplete(final int status)
    {
        sweeper.inFlight = false;
        sweeper.step = Step.FREE;
        runner.counters.sweptTombstones += status == WorkCompletionStatus.SUCCESS ? swept : 0;
    }

    boolean isSweeper(final Operation op)
    {
        return op == sweeper;
    }
}
