package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.ReceiveLimit;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.util.ArrayList;
import java.util.List;

/** Receives that the queue pairs and targets on it consume in posting order. */
final class SimSharedReceiveQueue implements SharedReceiveQueue, SimStateful
{
    private final SimProtectionDomain protectionDomain;
    private final int capacity;
    private final ReceiveQueue queue;
    private final ReceiveLimit limit = new ReceiveLimit();
    private final List<SimTarget> attached = new ArrayList<>();
    private boolean isClosed;

    SimSharedReceiveQueue(final SimProtectionDomain protectionDomain, final int capacity)
    {
        this.protectionDomain = protectionDomain;
        this.capacity = capacity;
        this.queue = new ReceiveQueue(capacity);
        protectionDomain.device().addObject(this);
    }

    SimProtectionDomain protectionDomain()
    {
        return protectionDomain;
    }

    ReceiveQueue queue()
    {
        return queue;
    }

    void attach(final SimTarget target)
    {
        attached.add(target);
    }

    void detach(final SimTarget target)
    {
        attached.remove(target);
    }

    /** A message took the oldest receive. */
    void taken()
    {
        if (limit.isReached(queue.count()))
        {
            protectionDomain.device().events().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
        }
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (isClosed)
        {
            return PostStatus.INVALID_STATE;
        }
        return queue.offer(wrId, localAddress, lengthBytes, localKey) ? PostStatus.OK : PostStatus.QUEUE_FULL;
    }

    @Override
    public void armLimit(final int receiveCount)
    {
        if (limit.arm(receiveCount, capacity, queue.count()))
        {
            protectionDomain.device().events().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
        }
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
        if (!attached.isEmpty())
        {
            throw new RdmaException(
                "shared receive queue is in use: close its queue pairs and DC targets first, open=" +
                attached.size());
        }
        if (!isClosed)
        {
            isClosed = true;
            protectionDomain.device().events().forget(this);
            protectionDomain.device().removeObject(this);
            protectionDomain.childClosed();
        }
    }

    @Override
    public void describe(final StateWords words)
    {
        words.in(StatePart.SHARED_RECEIVES).accept(limit.armed());
        queue.describe(words);
    }

    @Override
    public String toString()
    {
        return "SimSharedReceiveQueue{device=" + protectionDomain.device().name() + ", capacity=" + capacity +
            ", receives=" + queue.count() + ", armedLimit=" + limit.armed() + '}';
    }
}
