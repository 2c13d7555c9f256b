package io.verbena.rdma.sim;

import org.agrona.collections.Long2LongHashMap;

/**
 * Decisions by a seed. The nth decision of a kind in a lane is a hash of seed, kind, lane and n, so taking a fault away
 * changes what follows from it, and nothing else.
 */
final class SeededDecisions extends SimDecisions
{
    private static final long GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15L;
    private static final int KIND_BITS = 5;

    private final long seed;
    private final Long2LongHashMap counts = new Long2LongHashMap(256, 0.5f, 0);

    SeededDecisions(final long seed)
    {
        this.seed = seed;
    }

    @Override
    public long seed()
    {
        return seed;
    }

    @Override
    long next(final SimDecision what, final long lane, final long bound)
    {
        final long site = lane << KIND_BITS | what.ordinal();
        final long count = counts.get(site);
        counts.put(site, count + 1);
        final long bits = mix(mix(mix(seed + GOLDEN_GAMMA) ^ site * GOLDEN_GAMMA) + count * GOLDEN_GAMMA);
        return Math.unsignedMultiplyHigh(bits, bound);
    }

    /** The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014; constants of Stafford's variant 13). */
    static long mix(final long value)
    {
        long z = value;
        z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }
}
