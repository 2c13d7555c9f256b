package io.verbena.rdma.sim;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Where every decision of a run comes from: a seed, a recording, or a search. Decisions belong to a lane (a queue
 * pair's direction, an agent), so that the same lane decides alike although others were changed. One run each; one
 * thread.
 */
public abstract sealed class SimDecisions permits SeededDecisions, SimRecording, ReplayedDecisions, ExploredDecisions
{
    private static final int DIRECTIONS = 4;

    SimDecisions()
    {
    }

    /**
     * Decisions by a seed.
     *
     * @param seed equal seeds decide alike.
     * @return decisions for one run.
     */
    public static SimDecisions ofSeed(final long seed)
    {
        return new SeededDecisions(seed);
    }

    /** @return the seed, or that of the recorded run; 0 when a search decides. */
    public abstract long seed();

    /**
     * Decides.
     *
     * @param what  is decided.
     * @param lane  it belongs to, from {@link #lane}.
     * @param bound 1 or more.
     * @return from 0 to {@code bound - 1}.
     */
    abstract long next(SimDecision what, long lane, long bound);

    /**
     * Numbers that are no decisions, so that there is nothing to record or to explore.
     *
     * @param deviceIndex whose.
     * @return other ones for each device, alike for equal seeds.
     */
    final RandomGenerator numbersOf(final int deviceIndex)
    {
        return new SplittableRandom(SeededDecisions.mix(SeededDecisions.mix(seed()) + deviceIndex));
    }

    /** A lane of a device: a queue pair or agent number, and a direction (0 to 3). */
    static long lane(final int deviceIndex, final int number, final int direction)
    {
        return (long)deviceIndex << 32 | (long)number * DIRECTIONS + direction;
    }
}
