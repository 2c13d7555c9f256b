package io.verbena.server;

import org.slf4j.Logger;

import java.util.concurrent.TimeUnit;

/** Warnings about something that may happen many times a second: one in 10 s, with the count. One thread at a time. */
final class PacedWarning
{
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(10);

    private final Logger logger;
    private final String what;
    private long reported;
    private long nextAtNs;

    /**
     * @param what happened, and the remedy; one line, in which {@code {}} stands for the count.
     */
    PacedWarning(final Logger logger, final String what, final long nowNs)
    {
        this.logger = logger;
        this.what = what;
        nextAtNs = nowNs;
    }

    /** @param total how often it has happened so far. */
    void poll(final long total, final long nowNs)
    {
        if (total != reported && nowNs - nextAtNs >= 0)
        {
            logger.warn(what, total - reported);
            reported = total;
            nextAtNs = nowNs + PERIOD_NS;
        }
    }
}
