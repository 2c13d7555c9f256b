package io.verbena.compute.group;

/** Holds what is done to a rate, in small steps; what was missed is made up for, but for 2 ms at most. One thread. */
final class Pace
{
    private static final double NS_PER_SECOND = 1e9;
    private static final long MOST_BEHIND_NS = 2_000_000;

    private final long bytesPerSecond;
    private long nextAtNs;

    /**
     * @param bytesPerSecond 1 or more.
     * @param nowNs          the clock now.
     */
    Pace(final long bytesPerSecond, final long nowNs)
    {
        this.bytesPerSecond = bytesPerSecond;
        nextAtNs = nowNs;
    }

    /** @return whether the next step may begin. */
    boolean isDue(final long nowNs)
    {
        return nextAtNs - nowNs <= 0;
    }

    /** A step of so many bytes has begun now. */
    void spend(final long bytes, final long nowNs)
    {
        final long earliestNs = nowNs - MOST_BEHIND_NS;
        nextAtNs = (nextAtNs - earliestNs < 0 ? earliestNs : nextAtNs) + durationNs(bytes);
    }

    /** @return when the next step may begin. */
    long nextAtNs()
    {
        return nextAtNs;
    }

    /** @return how long so many bytes take. */
    long durationNs(final long bytes)
    {
        return Math.round(bytes * NS_PER_SECOND / bytesPerSecond);
    }
}
