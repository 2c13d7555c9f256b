package io.verbena.rdma.sim.schedule;

import org.agrona.collections.Long2LongHashMap;

/**
 * Decisions by a seed. The nth decision of a kind in a lane is a hash of seed, kind, lane and n, so taking a fault away
 * changes what follows from it, and nothing else.
 */
public final class SeededDecisions implements SimDecisions
{
    private static final long GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15L;
    private static final int KIND_BITS = 5;

    private final long seed;
    private final Long2LongHashMap counts = new Long2LongHashMap(256, 0.5f, 0);

    /** @param seed equal seeds decide alike. */
    public SeededDecisions(final long seed)
    {
        this.seed = seed;
    }

    @Override
    public long seed()
    {
        return seed;
    }

    @Override
    public long next(final SimDecision what, final long lane, final long bound)
    {
        final long site = lane << KIND_BITS | what.ordinal();
        final long count = counts.get(site);
        counts.put(site, count + 1);
        final long siteBits = SplitMix.mix(SplitMix.mix(seed + GOLDEN_GAMMA) ^ site * GOLDEN_GAMMA);
        final long bits = SplitMix.mix(siteBits + count * GOLDEN_GAMMA);
        return Math.unsignedMultiplyHigh(bits, bound);
    }
}
