package io.verbena.server;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of its time a thread works, other than polling for work: time from when a duty cycle found work until the
 * next one begins. That a processor is taken from the thread meanwhile, by a quota or by other threads, counts as work:
 * requests wait then. So does such a time before work was found, since it may have waited for as long. Written by that
 * thread, which allocates nothing and takes no lock; read by any.
 */
final class EngineLoad
{
    /** Who polls looks more often; who does not, and does not sleep, has no processor. */
    private static final long AWAY_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private final AtomicLong busyNs = new AtomicLong();
    private long sinceNs;
    private long cycleNs;
    /** When the thread last looked for work before this cycle, and was awake from then on. */
    private long lookedNs;
    private boolean isWorking;
    private Thread owner;
    private volatile long threadId;

    /**
     * A duty cycle begins, and with it the work of the one before has ended.
     *
     * @param nowNs    time of the clock.
     * @param hasSlept whether the thread has waited since that one, of its own accord.
     */
    void beginCycle(final long nowNs, final boolean hasSlept)
    {
        lookedNs = isWorking || hasSlept || null == owner ? nowNs : cycleNs;
        cycleNs = nowNs;
        if (isWorking)
        {
            isWorking = false;
            busyNs.setOpaque(busyNs.getPlain() + Math.max(0, nowNs - sinceNs));
        }
        final Thread current = Thread.currentThread();
        if (current != owner)
        {
            owner = current;
            threadId = current.threadId();
        }
    }

    /** The thread has waited for work, of its own accord, until that time. */
    void awake(final long nowNs)
    {
        lookedNs = nowNs;
    }

    /** The duty cycle has found work, at that time; what it finds later adds nothing. */
    void working(final long foundNs)
    {
        if (!isWorking)
        {
            isWorking = true;
            sinceNs = foundNs - lookedNs >= AWAY_NS ? lookedNs : foundNs;
        }
    }

    /** @return nanoseconds of work of all cycles that have ended. */
    long busyNs()
    {
        return busyNs.getOpaque();
    }

    /** @return nanoseconds of a processor that the thread used, also to poll; -1 when that is not known. */
    long processorNs()
    {
        final long id = threadId;
        return 0 == id || !ManagementFactory.getThreadMXBean().isThreadCpuTimeSupported() ? -1 :
            ManagementFactory.getThreadMXBean().getThreadCpuTime(id);
    }
}
