package io.verbena.rdma.soft.shared;

import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * How often a {@code FabricWatch} looks: every 20 ms while requesters of this process are at work, so that they learn
 * of a peer's death in that time, and every 100 ms when they have rested. The first access after a rest hastens it: a
 * requester leaves its mark, then looks whether the watch is slow; the watch says that it is slow, then looks at the
 * marks once more; full fences between the two steps of each make it impossible that both miss the other.
 */
public final class WatchPace
{
    public static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(20);
    public static final long SLOW_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Looks without an access in between, before it slows down. */
    public static final int QUIET_LOOKS = 2;

    private final long slowPeriodNs;
    private volatile boolean isSlow;
    private volatile Thread watch;
    private long lastAccesses = -1;
    private int quietPolls;

    public WatchPace()
    {
        this(SLOW_PERIOD_NS);
    }

    /** With another period, for tests. */
    public WatchPace(final long slowPeriodNs)
    {
        this.slowPeriodNs = slowPeriodNs;
    }

    /** Requester, any thread, after a full fence behind its mark: one load, unless the watch is slow. */
    public void onAccess()
    {
        if (isSlow)
        {
            isSlow = false;
            LockSupport.unpark(watch);
        }
    }

    /** Whether the watch sleeps for the longer time. */
    public boolean isSlow()
    {
        return isSlow;
    }

    /**
     * Watch: sleeps until the next look is due.
     *
     * @param accesses counts what requesters have done so far.
     */
    public void sleep(final LongSupplier accesses)
    {
        final long now = accesses.getAsLong();
        quietPolls = now == lastAccesses ? quietPolls + 1 : 0;
        lastAccesses = now;
        if (quietPolls < QUIET_LOOKS)
        {
            LockSupport.parkNanos(this, PERIOD_NS);
            return;
        }
        watch = Thread.currentThread();
        isSlow = true;
        VarHandle.fullFence();
        if (accesses.getAsLong() == lastAccesses)
        {
            LockSupport.parkNanos(this, slowPeriodNs);
        }
        isSlow = false;
    }
}
