package io.verbena.table.directory;

import org.agrona.collections.IntArrayQueue;
import org.agrona.collections.LongArrayQueue;

/**
 * Words that deletes have left in slots of one memory node, in the order of their epochs; they are cleared when no
 * retry can ask for them any more. Owner thread of the engine only.
 */
public final class TombstoneQueue
{
    public final LongArrayQueue offsets = new LongArrayQueue(Long.MIN_VALUE);
    public final LongArrayQueue words = new LongArrayQueue(Long.MIN_VALUE);
    /** Complemented where the word is not to be cleared. */
    public final LongArrayQueue epochs = new LongArrayQueue(Long.MIN_VALUE);
    public final IntArrayQueue tableIds = new IntArrayQueue(Integer.MIN_VALUE);

    /**
     * A subtable was split: nobody can tell when the memory of its slots is used for something else, so the words
     * in it are left. They are known still, for repetitions. Takes time with the length of the queue.
     */
    void leave(final long fromOffset, final long toOffset)
    {
        for (int i = epochs.size(); i > 0; i--)
        {
            final long offset = offsets.pollLong();
            final long epoch = epochs.pollLong();
            offsets.addLong(offset);
            epochs.addLong(epoch >= 0 && offset >= fromOffset && offset < toOffset ? ~epoch : epoch);
        }
    }

    /** A table was dropped: the memory of its slots goes back, so that the words in them are left. As above. */
    void leave(final int tableId)
    {
        for (int i = epochs.size(); i > 0; i--)
        {
            final int id = tableIds.pollInt();
            final long epoch = epochs.pollLong();
            tableIds.addInt(id);
            epochs.addLong(epoch >= 0 && id == tableId ? ~epoch : epoch);
        }
    }
}
