package io.verbena.table.allocation;

import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import java.util.function.LongConsumer;
import org.agrona.collections.LongArrayQueue;

/** Walks over the queues of a {@link BlockAllocator}: removal of what lies in closed chunks, and listing. Stateless. */
final class AllocatorPurge
{
    private AllocatorPurge()
    {
    }

    /** @return bytes removed from a queue of blocks of one length; each is reported. */
    static long offsets(
        final LongArrayQueue queue, final ChunkView view, final int lengthBytes, final LongConsumer left)
    {
        long removed = 0;
        for (int i = queue.size(); i > 0; i--)
        {
            final long offset = queue.pollLong();
            if (view.isClosed(offset))
            {
                removed += lengthBytes;
            }
            else
            {
                queue.addLong(offset);
            }
        }
        left.accept(removed);
        return removed;
    }

    /**
     * @param hasEpochs whether an epoch stands before each start.
     * @return bytes removed from a queue of starts and ends.
     */
    static long ranges(
        final LongArrayQueue queue, final boolean hasEpochs, final ChunkView view, final LongConsumer left)
    {
        long removed = 0;
        for (int i = queue.size(); i > 0; i -= hasEpochs ? 3 : 2)
        {
            final long epoch = hasEpochs ? queue.pollLong() : 0;
            final long start = queue.pollLong();
            final long end = queue.pollLong();
            if (view.isClosed(start))
            {
                removed += end - start;
                continue;
            }
            if (hasEpochs)
            {
                queue.addLong(epoch);
            }
            queue.addLong(start);
            queue.addLong(end);
        }
        left.accept(removed);
        return removed;
    }

    /** @return bytes removed from a queue of retired words, in step with that of their epochs. */
    static long words(
        final LongArrayQueue words, final LongArrayQueue epochs, final ChunkView view, final LongConsumer left)
    {
        long removed = 0;
        for (int i = words.size(); i > 0; i--)
        {
            final long word = words.pollLong();
            final long epoch = epochs.pollLong();
            if (view.isClosed(SlotWord.blockOffset(word)))
            {
                removed += SizeClasses.lengthBytes(SlotWord.sizeClass(word));
            }
            else
            {
                words.addLong(word);
                epochs.addLong(epoch);
            }
        }
        left.accept(removed);
        return removed;
    }

    /** Lists a queue of starts and ends, as what is {@code kind}; {@code hasEpochs} as in {@link #ranges}. */
    static void forEachRange(
        final LongArrayQueue queue, final boolean hasEpochs, final int kind, final HeldConsumer consumer)
    {
        final LongArrayQueue.LongIterator values = queue.iterator();
        while (values.hasNext())
        {
            if (hasEpochs)
            {
                values.nextValue();
            }
            final long start = values.nextValue();
            consumer.accept(kind, start, values.nextValue() - start);
        }
    }
}
