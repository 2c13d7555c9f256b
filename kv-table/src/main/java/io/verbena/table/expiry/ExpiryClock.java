package io.verbena.table.expiry;

import org.agrona.concurrent.EpochClock;

/**
 * The one clock that says whether a record is absent because its deadline has passed: the wall clock of the node, read
 * when the record is judged. Single owner thread.
 */
public final class ExpiryClock
{
    private final EpochClock wallClock;

    /** @param wallClock milliseconds since 1970; may step. */
    public ExpiryClock(final EpochClock wallClock)
    {
        this.wallClock = wallClock;
    }

    /** @return whether the deadline of a record has passed; the clock is read only if it has one. */
    public boolean isPast(final long deadlineMs)
    {
        return deadlineMs != 0 && wallClock.time() >= deadlineMs;
    }

    /** @return how long a deadline is away, 1 ms or more; 0 for none. */
    public long timeToLiveMs(final long deadlineMs)
    {
        return deadlineMs == 0 ? 0 : Math.max(1, deadlineMs - wallClock.time());
    }

    /**
     * @param expiry as {@link Expiry} says.
     * @return the same without a time from now on. What has passed by this clock has passed by all from then on, also
     *         by those that are behind.
     */
    public long resolve(final long expiry)
    {
        if (expiry == Expiry.NONE || expiry == Expiry.KEEP)
        {
            return expiry;
        }
        final long nowMs = wallClock.time();
        final long deadlineMs = expiry < 0 ? nowMs - expiry : expiry;
        return deadlineMs <= nowMs ? Expiry.LONG_AGO : Math.min(deadlineMs, Expiry.MAX_MS);
    }
}
