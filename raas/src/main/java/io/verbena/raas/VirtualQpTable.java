package io.verbena.raas;

import org.agrona.collections.IntArrayQueue;

/**
 * Numbers of virtual queue pairs and the way from a number to its holder. A number is a generation (upper 16 bits) and
 * an index (lower 16 bits). An index is given again only when nothing of its last holder is in flight, and then with
 * another generation, so that a late completion never reaches a new holder.
 */
final class VirtualQpTable
{
    /** The number that stands for calls in identifiers of requests; no virtual queue pair has it. */
    static final int CALLS = 0;
    static final int INDEX_BITS = 16;

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
        // Index 0 is never given: its number of generation 0 is CALLS.
        for (int index = 1; index <= capacity; index++)
        {
            free.addInt(index);
        }
    }

    static long wrId(final int number, final int cookie)
    {
        return (long)number << Integer.SIZE | cookie & 0xFFFF_FFFFL;
    }

    static int number(final long wrId)
    {
        return (int)(wrId >>> Integer.SIZE);
    }

    static int cookie(final long wrId)
    {
        return (int)wrId;
    }

    /** Gives a number; {@link #CALLS} when all are in use. */
    int allocate()
    {
        if (free.isEmpty())
        {
            return CALLS;
        }
        final int index = free.pollInt();
        generations[index]++;
        return generations[index] << INDEX_BITS | index;
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

    void dispatch(final int number, final int cookie, final int status)
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
        return number & (1 << INDEX_BITS) - 1;
    }
}
