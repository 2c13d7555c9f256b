package io.verbena.server;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of its time a thread works, other than polling for work: time from when a duty cycle found work until the
 * next one begins. That a processor is taken from the thread meanwhile, by a quota or by other threads, counts as work:
 * requests wait then. Written by that thread, which allocates nothing and takes no lock; read by any.
 */
final class EngineLoad
{
    private final AtomicLong busyNs = new AtomicLong();
    private long sinceNs;
    private boolean isWorking;
    private Thread owner;
    private volatile long threadId;

    /** A duty cycle begins, and with it the work of the one before has ended. */
    void beginCycle(final long nowNs)
    {
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

    /** The duty cycle has found work, at that time; what it finds later adds nothing. */
    void working(final long foundNs)
    {
        if (!isWorking)
        {
            isWorking = true;
            sinceNs = foundNs;
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
