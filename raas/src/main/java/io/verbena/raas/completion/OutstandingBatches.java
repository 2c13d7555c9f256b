package io.verbena.raas.completion;

/** What is outstanding on a send queue, in posting order, which is the order of completion; a ring of fixed length. */
public final class OutstandingBatches
{
    private final long[] wrIds;
    private final int[] requestCounts;
    private final int mask;
    private long head;
    private long tail;

    /** @param depth of the send queue: each entry stands for one request or more. */
    public OutstandingBatches(final int depth)
    {
        final int capacity = Integer.highestOneBit(Math.max(1, depth - 1)) << 1;
        wrIds = new long[capacity];
        requestCounts = new int[capacity];
        mask = capacity - 1;
    }

    public boolean isEmpty()
    {
        return head == tail;
    }

    public void add(final long wrId, final int requestCount)
    {
        final int index = (int)tail++ & mask;
        wrIds[index] = wrId;
        requestCounts[index] = requestCount;
    }

    public long oldestWrId()
    {
        return wrIds[(int)head & mask];
    }

    /** Forgets the oldest; returns its number of requests. */
    public int removeOldest()
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
