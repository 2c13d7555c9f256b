package io.verbena.rdma.sim.schedule;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Where every decision of a run comes from: a seed, a recording, or a search. Decisions belong to a lane (a queue
 * pair's direction, an agent), so that the same lane decides alike although others were changed. One run each; one
 * thread.
 */
public interface SimDecisions
{
    /** @return the seed, or that of the recorded run; 0 when a search decides. */
    long seed();

    /**
     * Decides.
     *
     * @param what  is decided.
     * @param lane  it belongs to, from {@link #lane}.
     * @param bound 1 or more.
     * @return from 0 to {@code bound - 1}.
     */
    long next(SimDecision what, long lane, long bound);

    /**
     * Numbers that are no decisions, so that there is nothing to record or to explore.
     *
     * @param deviceIndex whose.
     * @return other ones for each device, alike for equal seeds.
     */
    default RandomGenerator numbersOf(final int deviceIndex)
    {
        return new SplittableRandom(SplitMix.mix(SplitMix.mix(seed()) + deviceIndex));
    }

    /**
     * A lane of a device.
     *
     * @param deviceIndex of the device.
     * @param number      of a queue pair or agent.
     * @param direction   0 to 3.
     * @return the lane.
     */
    static long lane(final int deviceIndex, final int number, final int direction)
    {
        return (long)deviceIndex << 32 | (long)number * 4 + direction;
    }
}
