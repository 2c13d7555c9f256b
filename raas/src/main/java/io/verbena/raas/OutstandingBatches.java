package io.verbena.raas;

/** What is outstanding on a send queue, in posting order, which is the order of completion; a ring of fixed length. */
final class OutstandingBatches
{
    private final long[] wrIds;
    private final int[] requestCounts;
    private final int mask;
    private long head;
    private long tail;

    /** @param depth of the send queue: each entry stands for one request or more. */
    OutstandingBatches(final int depth)
    {
        final int capacity = Integer.highestOneBit(Math.max(1, depth - 1)) << 1;
        wrIds = new long[capacity];
        requestCounts = new int[capacity];
        mask = capacity - 1;
    }

    boolean isEmpty()
    {
        return head == tail;
    }

    void add(final long wrId, final int requestCount)
    {
        final int index = (int)tail++ & mask;
        wrIds[index] = wrId;
        requestCounts[index] = requestCount;
    }

    long oldestWrId()
    {
        return wrIds[(int)head & mask];
    }

    /** Forgets the oldest; returns its number of requests. */
    int removeOldest()
    {
        final int requestCount = requestCounts[(int)head++ & mask];
        if (head == tail)
        {
            // A few entries that stay near, instead of a walk through all of the ring.
            head = 0;
            tail = 0;
        }
        return requestCount;
    }
}
