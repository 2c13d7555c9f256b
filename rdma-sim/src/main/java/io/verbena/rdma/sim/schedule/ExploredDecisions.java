package io.verbena.rdma.sim.schedule;

/** Decisions by a search: what it branches on is asked of it, everything else is calm. */
public final class ExploredDecisions implements SimDecisions
{
    /** Chooses. */
    @FunctionalInterface
    public interface Branching
    {
        long choose(long bound);
    }

    private final Branching branching;

    public ExploredDecisions(final Branching branching)
    {
        this.branching = branching;
    }

    @Override
    public long seed()
    {
        return 0;
    }

    @Override
    public long next(final SimDecision what, final long lane, final long bound)
    {
        final boolean isBranch = what == SimDecision.TRANSITION || what == SimDecision.OVERTAKE;
        return isBranch && bound > 1 ? branching.choose(bound) : 0;
    }
}
