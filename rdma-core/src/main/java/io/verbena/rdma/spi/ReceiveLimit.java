package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicInteger;

/** The limit of a shared receive queue: reports once that fewer receives are left, then is disarmed. Thread-safe. */
public final class ReceiveLimit
{
    private final AtomicInteger limit = new AtomicInteger();

    /**
     * Arms.
     *
     * @param receiveCount the limit, 0 disarms.
     * @param capacity     of the queue.
     * @param leftCount    receives that are there now.
     * @return whether fewer are there already: raise the event now, it is disarmed again.
     */
    public boolean arm(final int receiveCount, final int capacity, final int leftCount)
    {
        if (receiveCount < 0 || receiveCount > capacity)
        {
            throw new RdmaException(
                "limit is out of range: receiveCount=" + receiveCount + ", allowed 0 to " + capacity);
        }
        limit.set(receiveCount);
        return isReached(leftCount);
    }

    /** The limit armed now, 0 when there is none. */
    public int armed()
    {
        return limit.get();
    }

    /**
     * Tells how many receives are left, after one was taken.
     *
     * @param leftCount receives that are there now.
     * @return whether to raise the event; then it is disarmed.
     */
    public boolean isReached(final int leftCount)
    {
        final int armed = limit.get();
        return armed > leftCount && limit.compareAndSet(armed, 0);
    }
}
