package io.verbena.raas;

import io.verbena.raas.completion.RequestId;
import org.agrona.collections.IntArrayQueue;

/**
 * Numbers of virtual queue pairs and the way from a number to its holder. A number is a generation (upper 16 bits) and
 * an index (lower 16 bits). An index is given again only when nothing of its last holder is in flight, and then with
 * another generation, so that a late completion never reaches a new holder.
 */
final class VirtualQpTable implements DcTransport.BatchCompletions
{
    private final VirtualQp[] byIndex;
    private final int[] generations;
    private final IntArrayQueue free;
    private int openCount;
    private long swallowedCompletions;

    VirtualQpTable(final int capacity)
    {
        byIndex = new VirtualQp[capacity + 1];
        generations = new int[capacity + 1];
        free = new IntArrayQueue(capacity, 0);
        // Index 0 is never given: its number of generation 0 is RequestId.CALLS.
        for (int index = 1; index <= capacity; index++)
        {
            free.addInt(index);
        }
    }

    /** Gives a number; {@link RequestId#CALLS} when all are in use. */
    int allocate()
    {
        if (free.isEmpty())
        {
            return RequestId.CALLS;
        }
        final int index = free.pollInt();
        generations[index]++;
        return generations[index] << RequestId.INDEX_BITS | index;
    }

    void add(final VirtualQp vqp)
    {
        byIndex[index(vqp.number())] = vqp;
        openCount++;
    }

    /** Nothing of a closed holder is in flight any more. */
    void release(final VirtualQp vqp)
    {
        final int index = index(vqp.number());
        byIndex[index] = null;
        free.addInt(index);
        openCount--;
    }

    int openCount()
    {
        return openCount;
    }

    /** Completions whose holder had closed. */
    long swallowedCompletions()
    {
        return swallowedCompletions;
    }

    @Override
    public void onBatchDone(final int number, final int cookie, final int status)
    {
        final VirtualQp vqp = byIndex[index(number)];
        if (vqp == null || vqp.number() != number || !vqp.onBatchDone(cookie, status))
        {
            swallowedCompletions++;
        }
    }

    /** The holder at an index, or null; for looking at all of them. */
    VirtualQp at(final int index)
    {
        return byIndex[index];
    }

    int capacity()
    {
        return byIndex.length;
    }

    private static int index(final int number)
    {
        return number & (1 << RequestId.INDEX_BITS) - 1;
    }
}
