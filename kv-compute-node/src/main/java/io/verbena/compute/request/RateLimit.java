package io.verbena.compute.request;

import java.util.concurrent.TimeUnit;

/**
 * A rate that is kept in the mean: what is used is due at that rate, and more may be used as long as what is due lies
 * less than a quarter of a second ahead. So what is used at once may be a quarter of what a second allows, and at
 * least one. One thread; allocates nothing.
 */
final class RateLimit
{
    /** How far ahead of the rate one may be: 250 ms. */
    static final long BURST_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    /** What is due after a change of the rate, at most. */
    private static final long MOST_DUE_NS = TimeUnit.DAYS.toNanos(1);

    private long perSecond;
    /** When all that was used is paid for; any time of the past when it is. */
    private long dueNs;

    /** @param newPerSecond 0: no limit. What was used before stays due, at the new rate, when there was a limit. */
    void perSecond(final long newPerSecond, final long nowNs)
    {
        if (0 == perSecond || dueNs - nowNs < 0)
        {
            dueNs = nowNs;
        }
        else if (0 != newPerSecond)
        {
            dueNs = nowNs + (long)Math.min(MOST_DUE_NS, (double)(dueNs - nowNs) * perSecond / newPerSecond);
        }
        perSecond = newPerSecond;
    }

    /** @return how long nothing more may be used, ns; 0: now it may. */
    long waitNs(final long nowNs)
    {
        return 0 == perSecond ? 0 : Math.max(0, dueNs - nowNs - BURST_NS);
    }

    /** Uses it, be it allowed or not: what a request returns is known only when it is over. */
    void use(final long amount, final long nowNs)
    {
        if (0 != perSecond)
        {
            dueNs = (dueNs - nowNs < 0 ? nowNs : dueNs) + (amount * SECOND_NS + perSecond - 1) / perSecond;
        }
    }
}
