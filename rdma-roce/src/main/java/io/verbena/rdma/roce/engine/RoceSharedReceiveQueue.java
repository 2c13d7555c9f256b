package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.ClaimedReceiveQueue;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.spi.ReceiveClaims;
import io.verbena.rdma.spi.ReceiveLimit;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.SharedReceiveQueue;

/**
 * Receives that several queue pairs of one engine take from. One thread at a time posts, beside the one that drives.
 */
public final class RoceSharedReceiveQueue implements SharedReceiveQueue
{
    private final EngineContext engine;
    private final ProtectionDomain domain;
    private final OpenChildren siblings;
    private final int capacity;
    /** In the heap; null where they are in another provider's queue. */
    private final ReceiveQueue receives;
    private final ReceiveClaims claims;
    private final ReceiveLimit limit = new ReceiveLimit();
    private final OpenChildren children = new OpenChildren("shared receive queue");

    /**
     * @param siblings of its domain, itself included once made.
     * @param claims   where receives are posted and taken; null for here.
     */
    RoceSharedReceiveQueue(
        final EngineContext engine,
        final ProtectionDomain domain,
        final OpenChildren siblings,
        final int capacity,
        final ReceiveClaims claims)
    {
        this.claims = claims;
        this.siblings = siblings;
        this.engine = engine;
        this.domain = domain;
        this.capacity = capacity;
        receives = claims == null ? new ReceiveQueue(capacity) : null;
        siblings.add();
    }

    /** Counts the queue pairs that take receives from it. */
    OpenChildren children()
    {
        return children;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        return receives.offer(wrId, localAddress, lengthBytes, localKey) ? PostStatus.OK : PostStatus.QUEUE_FULL;
    }

    @Override
    public void armLimit(final int receiveCount)
    {
        // Nobody takes a receive meanwhile, so the limit and the count belong together.
        engine.exclusively(() ->
        {
            if (limit.arm(receiveCount, capacity, receives.count()))
            {
                engine.events().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
            }
        });
    }

    @Override
    public int armedLimit()
    {
        return limit.armed();
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public void close()
    {
        if (children.close())
        {
            engine.events().forget(this);
            siblings.remove();
        }
    }

    /** As the queue pair of a number takes them. */
    ReceiveQueue receives(final int queuePairNumber)
    {
        return claims == null ? receives : new ClaimedReceiveQueue(claims, queuePairNumber, capacity);
    }

    ProtectionDomain domain()
    {
        return domain;
    }

    /** A receive was taken. */
    void onTaken()
    {
        if (claims == null && limit.isReached(receives.count()))
        {
            engine.events().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
        }
    }

    @Override
    public String toString()
    {
        return "RoceSharedReceiveQueue{capacity=" + capacity + ", count=" +
            (claims == null ? receives.count() : "elsewhere") + '}';
    }
}
