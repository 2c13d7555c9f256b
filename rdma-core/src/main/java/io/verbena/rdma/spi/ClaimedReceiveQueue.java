package io.verbena.rdma.spi;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What one queue pair takes from {@link ReceiveClaims}. A receive is claimed when it is asked for, since another
 * requester may have it a moment later; who has asked takes it.
 */
public final class ClaimedReceiveQueue extends ReceiveQueue
{
    private final ReceiveClaims claims;
    private final int queuePairNumber;
    /** Taken and not released, in the order in which they complete. */
    private final long[] taken;
    private final int mask;
    private long takenCount;
    /** Atomic: the thread that polls releases, and the one that makes completions, when there is no place for one. */
    private final AtomicLong releasedCount = new AtomicLong();
    private long held;

    /**
     * @param claims          where receives come from.
     * @param queuePairNumber that takes them.
     * @param capacity        most receives outstanding there.
     */
    public ClaimedReceiveQueue(final ReceiveClaims claims, final int queuePairNumber, final int capacity)
    {
        super(0);
        this.claims = claims;
        this.queuePairNumber = queuePairNumber;
        taken = new long[Integer.highestOneBit(Math.max(1, capacity * 2 - 1))];
        mask = taken.length - 1;
    }

    @Override
    public boolean isEmpty()
    {
        return !hasFitting(0);
    }

    @Override
    public boolean hasFitting(final int neededBytes)
    {
        if (held == 0)
        {
            held = claims.claim(queuePairNumber, neededBytes);
        }
        return held != 0;
    }

    @Override
    public long wrId()
    {
        return claims.wrId(held);
    }

    @Override
    public long address()
    {
        return claims.address(held);
    }

    @Override
    public int lengthBytes()
    {
        return claims.lengthBytes(held);
    }

    @Override
    public int key()
    {
        return claims.key(held);
    }

    @Override
    public void remove()
    {
        // Read again by who polls its completion, which is made after this.
        taken[(int)takenCount++ & mask] = held;
        held = 0;
    }

    /** Any thread: one completion was polled or dropped; the receive that was taken first is given back. */
    @Override
    public void release()
    {
        claims.release(taken[(int)releasedCount.getAndIncrement() & mask], queuePairNumber);
    }
}
