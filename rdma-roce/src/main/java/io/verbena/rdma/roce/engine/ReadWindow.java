package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.PacketSequence;

/**
 * The READs and atomics that a requester has outstanding, as many as the responder answers: of each the PSN after its
 * last response. After going back each is sent once more with the same end: one that went farther would be old to the
 * responder in its first part and new in its second. Bounded.
 */
final class ReadWindow
{
    private final int[] ends;
    private int limit;
    private int head;
    private int count;
    /** How many of them have been sent since the requester went back. */
    private int sentCount;

    ReadWindow(final int capacity)
    {
        ends = new int[capacity];
    }

    /**
     * Sets the depth.
     *
     * @param maxReadAtomic most outstanding, at most the capacity.
     */
    void limit(final int maxReadAtomic)
    {
        limit = maxReadAtomic;
    }

    void clear()
    {
        head = 0;
        count = 0;
        sentCount = 0;
    }

    /** Whether nothing is waited for. */
    boolean isEmpty()
    {
        return count == 0;
    }

    /** Whether another one must not be sent now. */
    boolean isFull()
    {
        return sentCount >= limit;
    }

    /** All are to be sent once more. */
    void goBack()
    {
        sentCount = 0;
    }

    /** Whether the next one was sent before. */
    boolean isRepeating()
    {
        return sentCount < count;
    }

    /** The end of the next one that was sent before. */
    int repeatedEnd()
    {
        return ends[(head + sentCount) % ends.length];
    }

    /** The next one is sent; {@code end} is the PSN after its last response. */
    void send(final int end)
    {
        if (!isRepeating())
        {
            ends[(head + count) % ends.length] = end;
            count++;
        }
        sentCount++;
    }

    /** Removes the requests whose responses are all before a PSN. */
    void removeUpTo(final int sequence)
    {
        while (count > 0 && PacketSequence.distance(sequence, ends[head]) >= 0)
        {
            head = (head + 1) % ends.length;
            count--;
            sentCount = Math.max(0, sentCount - 1);
        }
    }
}
