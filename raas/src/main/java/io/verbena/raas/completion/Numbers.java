package io.verbena.raas.completion;

import org.agrona.collections.IntArrayQueue;

import java.util.Arrays;

/**
 * Gives numbers: a generation (upper 16 bits) and an index (lower 16 bits). An index that was given back is given again
 * with another generation, the one that was free longest first, so that what comes late for a former holder never
 * reaches a new one. Index 0 is never given: its number of generation 0 is {@link RequestId#CALLS}.
 */
public final class Numbers
{
    private static final int LEAST_CAPACITY = 64;

    private final int most;
    private final IntArrayQueue free = new IntArrayQueue(LEAST_CAPACITY, 0);
    private int[] generations = new int[LEAST_CAPACITY];
    private int capacity = 1;

    /** @param most numbers in use at once. */
    public Numbers(final int most)
    {
        this.most = most;
    }

    /** @return a number; {@link RequestId#CALLS} when all are in use. */
    public int allocate()
    {
        if (free.isEmpty() && capacity > most)
        {
            return RequestId.CALLS;
        }
        final int index = free.isEmpty() ? nextIndex() : free.pollInt();
        generations[index]++;
        return generations[index] << RequestId.INDEX_BITS | index;
    }

    private int nextIndex()
    {
        if (capacity == generations.length)
        {
            generations = Arrays.copyOf(generations, Math.min(most + 1, 2 * capacity));
        }
        return capacity++;
    }

    /** Nothing can come for the holder of a number any more. */
    public void release(final int number)
    {
        free.addInt(index(number));
    }

    /** Behind the last index that was ever given. */
    public int capacity()
    {
        return capacity;
    }

    public static int index(final int number)
    {
        return number & (1 << RequestId.INDEX_BITS) - 1;
    }

    public static int generation(final int number)
    {
        return number >>> RequestId.INDEX_BITS;
    }
}
