package io.verbena.client.routing;

import java.util.concurrent.atomic.AtomicLong;

/** Warnings of all clients of a process: one in 10 s, with the number of those that were left out. Thread-safe. */
final class PacedWarnings
{
    private static final long PERIOD_NS = 10_000_000_000L;
    private static final long NEVER = Long.MIN_VALUE;

    private final System.Logger logger;
    private final AtomicLong lastAtNs = new AtomicLong(NEVER);
    private final AtomicLong leftOut = new AtomicLong();

    PacedWarnings(final System.Logger logger)
    {
        this.logger = logger;
    }

    /**
     * @param text  one line.
     * @param nowNs time now; clocks of different devices may differ.
     * @return whether it was logged.
     */
    boolean warn(final String text, final long nowNs)
    {
        final long lastNs = lastAtNs.get();
        final boolean isDue = NEVER == lastNs || Math.abs(nowNs - lastNs) >= PERIOD_NS;
        if (!isDue || !lastAtNs.compareAndSet(lastNs, nowNs))
        {
            leftOut.incrementAndGet();
            return false;
        }
        final long count = leftOut.getAndSet(0);
        logger.log(System.Logger.Level.WARNING, 0 == count ? text :
            text + " (" + count + " warnings of this process's clients were left out before)");
        return true;
    }
}
