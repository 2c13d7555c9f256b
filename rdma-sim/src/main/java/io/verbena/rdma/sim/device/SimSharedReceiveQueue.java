package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.ReceiveLimit;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.util.ArrayList;
import java.util.List;

/** Receives that the queue pairs and targets on it consume in posting order. */
final class SimSharedReceiveQueue implements SharedReceiveQueue, SimStateful
{
    private final SimHost host;
    private final ProtectionDomain protectionDomain;
    private final Runnable onClosed;
    private final int capacity;
    private final ReceiveQueue queue;
    private final ReceiveLimit limit = new ReceiveLimit();
    private final List<Object> attached = new ArrayList<>();
    private boolean isClosed;

    /** @param onClosed called once. */
    SimSharedReceiveQueue(
        final SimHost host, final ProtectionDomain protectionDomain, final Runnable onClosed, final int capacity)
    {
        this.host = host;
        this.onClosed = onClosed;
        this.protectionDomain = protectionDomain;
        this.capacity = capacity;
        this.queue = new ReceiveQueue(capacity);
        host.addObject(this);
    }

    ProtectionDomain protectionDomain()
    {
        return protectionDomain;
    }

    ReceiveQueue queue()
    {
        return queue;
    }

    void attach(final Object target)
    {
        attached.add(target);
    }

    void detach(final Object target)
    {
        attached.remove(target);
    }

    /** A message took the oldest receive. */
    void taken()
    {
        if (limit.isReached(queue.count()))
        {
            host.events().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
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
            host.events().raise(AsyncEventType.SRQ_LIMIT_REACHED, this);
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
            host.events().forget(this);
            host.removeObject(this);
            onClosed.run();
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
        return "SimSharedReceiveQueue{device=" + host.name() + ", capacity=" + capacity +
            ", receives=" + queue.count() + ", armedLimit=" + limit.armed() + '}';
    }
}
