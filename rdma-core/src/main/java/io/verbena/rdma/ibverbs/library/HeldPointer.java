package io.verbena.rdma.ibverbs.library;

import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A structure of the library that requests name and that the library follows when they are posted, not when they are
 * staged: it is not freed while a post holds it, and not held once it is closed. Thread-safe; holding never waits,
 * closing waits for posts under way, which do not sleep.
 */
public final class HeldPointer
{
    /** Posts under way, and this bit when closed. */
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final long MOST_WAIT_NS = TimeUnit.SECONDS.toNanos(5);

    private final long address;
    private final AtomicInteger holds = new AtomicInteger();

    public HeldPointer(final long address)
    {
        this.address = address;
    }

    /** @return the structure's address; to be followed only while it is held or known to be open. */
    public long address()
    {
        return address;
    }

    public boolean isClosed()
    {
        return holds.get() < 0;
    }

    /** @return whether it is open, and stays so until {@link #release()}; closed, there is nothing to release. */
    public boolean hold()
    {
        if (holds.incrementAndGet() > 0)
        {
            return true;
        }
        holds.decrementAndGet();
        return false;
    }

    public void release()
    {
        holds.decrementAndGet();
    }

    /**
     * Frees the structure as soon as no post holds it. Calls by several threads are put in order by the caller.
     *
     * @param destroy frees it; when it throws, the structure is open as before.
     * @return false when it was closed before.
     */
    public boolean close(final Runnable destroy)
    {
        if (isClosed())
        {
            return false;
        }
        holds.getAndAdd(CLOSED);
        boolean isFreed = false;
        try
        {
            awaitPosts();
            destroy.run();
            isFreed = true;
        }
        finally
        {
            if (!isFreed)
            {
                holds.getAndAdd(CLOSED);
            }
        }
        return true;
    }

    private void awaitPosts()
    {
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + MOST_WAIT_NS;
        while (holds.get() != CLOSED)
        {
            if (SystemNanoClock.INSTANCE.nanoTime() - deadlineNs >= 0)
            {
                throw new RdmaException("in use by a post that has not returned for 5 s: close it later");
            }
            Thread.yield();
        }
    }
}
