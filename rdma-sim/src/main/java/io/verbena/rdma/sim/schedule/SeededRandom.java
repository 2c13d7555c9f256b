package io.verbena.rdma.sim.schedule;

import java.util.random.RandomGenerator;

/** Random numbers of one kind and lane, for code that wants a {@link RandomGenerator}. */
public final class SeededRandom implements RandomGenerator
{
    private static final long HALF_BOUND = 1L << Integer.SIZE;

    private final SimDecisions decisions;
    private final SimDecision what;

    public SeededRandom(final SimDecisions decisions, final SimDecision what)
    {
        this.decisions = decisions;
        this.what = what;
    }

    @Override
    public long nextLong()
    {
        return decisions.next(what, 0, HALF_BOUND) << Integer.SIZE | decisions.next(what, 0, HALF_BOUND);
    }
}
