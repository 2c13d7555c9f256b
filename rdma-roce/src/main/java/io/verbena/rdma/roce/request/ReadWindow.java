package io.verbena.rdma.roce.request;

import io.verbena.rdma.roce.wire.PacketSequence;
import org.agrona.BitUtil;

/**
 * The READs and atomics that a requester has outstanding, as many as the responder answers: of each the PSN after its
 * last response. After going back each is sent once more with the same end: one that went farther would be old to the
 * responder in its first part and new in its second. Bounded.
 */
public final class ReadWindow
{
    private final int[] ends;
    private int limit;
    private int head;
    private int count;
    /** How many of them have been sent since the requester went back. */
    private int sentCount;

    public ReadWindow(final int capacity)
    {
        ends = new int[BitUtil.findNextPositivePowerOfTwo(capacity)];
    }

    /**
     * Sets the depth.
     *
     * @param maxReadAtomic most outstanding, at most the capacity.
     */
    public void limit(final int maxReadAtomic)
    {
        limit = maxReadAtomic;
    }

    public void clear()
    {
        head = 0;
        count = 0;
        sentCount = 0;
    }

    /** Whether nothing is waited for. */
    public boolean isEmpty()
    {
        return count == 0;
    }

    /** Whether another one must not be sent now. */
    public boolean isFull()
    {
        return sentCount >= limit;
    }

    /** All are to be sent once more. */
    public void goBack()
    {
        sentCount = 0;
    }

    /** Whether the next one was sent before. */
    public boolean isRepeating()
    {
        return sentCount < count;
    }

    /** The end of the next one that was sent before. */
    public int repeatedEnd()
    {
        return ends[head + sentCount & ends.length - 1];
    }

    /** The next one is sent; {@code end} is the PSN after its last response. */
    public void send(final int end)
    {
        if (!isRepeating())
        {
            ends[head + count & ends.length - 1] = end;
            count++;
        }
        sentCount++;
    }

    /** Removes the requests whose responses are all before a PSN. */
    public void removeUpTo(final int sequence)
    {
        while (count > 0 && PacketSequence.distance(sequence, ends[head]) >= 0)
        {
            head = head + 1 & ends.length - 1;
            count--;
            sentCount = Math.max(0, sentCount - 1);
        }
    }
}
