package io.verbena.table;

/**
 * Truncated exponential back-off with a random pause: the first loss costs none, each further one up to twice as much.
 */
final class Contention
{
    private static final int MAX_DOUBLINGS = 20;

    private final long minNs;
    private final long maxNs;
    private long state;

    Contention(final long minNs, final long maxNs, final long seed)
    {
        this.minNs = minNs;
        this.maxNs = maxNs;
        state = seed * 0x9E3779B97F4A7C15L | 1;
    }

    /**
     * @param losses   how often the operation lost, 1 or more.
     * @param doorstep losses that cost no pause.
     * @return pause in nanoseconds.
     */
    long pauseNs(final int losses, final int doorstep)
    {
        if (losses <= doorstep)
        {
            return 0;
        }
        final long bound = Math.min(maxNs, minNs << Math.min(MAX_DOUBLINGS, losses - doorstep - 1));
        return Long.remainderUnsigned(next(), bound) + 1;
    }

    private long next()
    {
        // xorshift64*
        state ^= state >>> 12;
        state ^= state << 25;
        state ^= state >>> 27;
        return state * 0x2545F4914F6CDD1DL;
    }
}
