package io.verbena.rdma.conformance.perf;

import java.util.Arrays;

/**
 * What one step took.
 *
 * @param step   which.
 * @param roundNs nanoseconds of each round, the first one cold; empty when the device does not let the step be done.
 */
public record SetupResult(SetupStep step, long[] roundNs)
{
    /** @return whether the step could be done. */
    public boolean isThere()
    {
        return roundNs.length > 0;
    }

    /** @return whether it was done again after the first time. */
    public boolean isRepeated()
    {
        return roundNs.length > 1;
    }

    /** @return nanoseconds of the first time in this process; {@link #isThere()}. */
    public long coldNs()
    {
        return roundNs[0];
    }

    /** @return median of all later times in nanoseconds; {@link #isRepeated()}. */
    public long warmNs()
    {
        final long[] sorted = warmSorted();
        return sorted[sorted.length / 2];
    }

    /** @return shortest of all later times in nanoseconds; {@link #isRepeated()}. */
    public long leastWarmNs()
    {
        return warmSorted()[0];
    }

    private long[] warmSorted()
    {
        final long[] warm = Arrays.copyOfRange(roundNs, 1, roundNs.length);
        Arrays.sort(warm);
        return warm;
    }
}
