package io.verbena.protocol.request;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Where the thread that drives some endpoints sleeps when there is nothing to do. No wake-up is lost: the thread
 * announces that it sleeps, then looks for work once more; a submitter leaves the work, then looks whether the thread
 * sleeps; full fences between the two steps of each make it impossible that both miss the other.
 */
public final class Waker
{
    private volatile Thread sleeper;

    /** Ends the sleep of the thread, if it sleeps. Any thread; the work must be visible before. */
    public void wake()
    {
        VarHandle.fullFence();
        final Thread thread = sleeper;
        if (null != thread)
        {
            sleeper = null;
            LockSupport.unpark(thread);
        }
    }

    /**
     * Announces that the calling thread is about to sleep; it then looks for work once more, and calls {@link #sleep}
     * when there is none, or else {@link #sleep} for 0 ns.
     */
    public void announce()
    {
        sleeper = Thread.currentThread();
        VarHandle.fullFence();
    }

    /**
     * Sleeps after {@link #announce()} until woken, or for no reason earlier.
     *
     * @param maxNs longest sleep; with 0 the announcement is taken back.
     */
    public void sleep(final long maxNs)
    {
        if (null != sleeper && maxNs > 0)
        {
            LockSupport.parkNanos(this, maxNs);
        }
        sleeper = null;
    }

    /** Whether a thread sleeps, or is about to. */
    boolean isAnnounced()
    {
        return null != sleeper;
    }
}
