package io.verbena.raas.failure;


import io.verbena.raas.limit.RaasMisuseException;

import java.util.random.RandomGenerator;

/**
 * Pauses between attempts: each up to twice as long as the one before, until the longest, and of random length, so that
 * many that fail at one instant do not come back at one instant. One thread at a time.
 */
public final class Backoff
{
    private static final int MAX_DOUBLINGS = 30;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final long minNs;
    private final long maxNs;
    private final RandomGenerator random;
    private int failures;

    /**
     * @param minNs  longest first pause, 1 or more.
     * @param maxNs  longest pause, {@code minNs} or more.
     * @param random of the device, so that a simulation can be repeated.
     */
    public Backoff(final long minNs, final long maxNs, final RandomGenerator random)
    {
        if (minNs < 1 || maxNs < minNs)
        {
            throw new RaasMisuseException(
                "backoff from " + minNs + " ns to " + maxNs + " ns: must be 1 or more, and not decrease");
        }
        this.minNs = minNs;
        this.maxNs = maxNs;
        this.random = random;
    }

    /** @return pause before the next attempt, after one more has failed; in nanoseconds, at least half the longest. */
    public long nextPauseNs()
    {
        return pauseNs(failures++, minNs, maxNs, random.nextLong());
    }

    /** An attempt succeeded: the next pause is a first one. */
    public void reset()
    {
        failures = 0;
    }

    /**
     * For callers that keep nothing between attempts.
     *
     * @param round  attempts, or rounds of them, that have failed before this one, 0 or more.
     * @param minNs  longest first pause, 1 or more.
     * @param maxNs  longest pause.
     * @param bits   anything that differs between those that try at one instant.
     * @return pause in nanoseconds: from half of {@code min(maxNs, minNs * 2^round)} up to all of it.
     */
    public static long pauseNs(final int round, final long minNs, final long maxNs, final long bits)
    {
        final int doublings = Math.clamp(round, 0, MAX_DOUBLINGS);
        final long longestNs = minNs > maxNs >> doublings ? maxNs : minNs << doublings;
        final long shortestNs = longestNs - longestNs / 2;
        return shortestNs + Long.remainderUnsigned((bits + round) * MIX >>> Integer.SIZE, longestNs - shortestNs + 1);
    }

    @Override
    public String toString()
    {
        return "Backoff{minNs=" + minNs + ", maxNs=" + maxNs + ", failures=" + failures + '}';
    }
}
