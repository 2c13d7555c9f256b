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

    /** @return bytes removed from a queue of blocks of one length; each is told. */
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

    /** @return bytes removed from a queue of starts and ends. */
    static long ranges(final LongArrayQueue queue, final ChunkView view, final LongConsumer left)
    {
        long removed = 0;
        for (int i = queue.size(); i > 0; i -= 2)
        {
            final long start = queue.pollLong();
            final long end = queue.pollLong();
            if (view.isClosed(start))
            {
                removed += end - start;
            }
            else
            {
                queue.addLong(start);
                queue.addLong(end);
            }
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

    /** @return bytes removed from a queue of epochs, starts and ends. */
    static long waitingStretches(final LongArrayQueue queue, final ChunkView view, final LongConsumer left)
    {
        long removed = 0;
        for (int i = queue.size(); i > 0; i -= 3)
        {
            final long epoch = queue.pollLong();
            final long start = queue.pollLong();
            final long end = queue.pollLong();
            if (view.isClosed(start))
            {
                removed += end - start;
            }
            else
            {
                queue.addLong(epoch);
                queue.addLong(start);
                queue.addLong(end);
            }
        }
        left.accept(removed);
        return removed;
    }

    static void forEachStretch(final LongArrayQueue queue, final HeldConsumer consumer)
    {
        final LongArrayQueue.LongIterator values = queue.iterator();
        while (values.hasNext())
        {
            final long start = values.nextValue();
            consumer.accept(HeldConsumer.UNCUT, start, values.nextValue() - start);
        }
    }

    static void forEachWaiting(final LongArrayQueue queue, final HeldConsumer consumer)
    {
        final LongArrayQueue.LongIterator values = queue.iterator();
        while (values.hasNext())
        {
            values.nextValue();
            final long start = values.nextValue();
            consumer.accept(HeldConsumer.QUARANTINED, start, values.nextValue() - start);
        }
    }
}
