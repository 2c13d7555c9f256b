package io.verbena.meta.membership;

/**
 * How membership is run.
 *
 * @param membership          leases.
 * @param epochIntervalNs     least time between two epochs, positive.
 * @param idleEpochIntervalNs least time between two epochs that nobody waits for, no less than the other.
 * @param fenceRetryNs        pause after a fence call that was not confirmed, positive.
 * @param nodesAreGone        whether whoever starts the server knows that no process of an earlier node runs any more.
 */
public record ConductorOptions(
    MembershipOptions membership,
    long epochIntervalNs,
    long idleEpochIntervalNs,
    long fenceRetryNs,
    boolean nodesAreGone)
{
    /** Checks the ranges. */
    public ConductorOptions
    {
        if (epochIntervalNs <= 0 || idleEpochIntervalNs < epochIntervalNs || fenceRetryNs <= 0)
        {
            throw new IllegalArgumentException("conductor options out of range: epochIntervalNs=" + epochIntervalNs +
                " idleEpochIntervalNs=" + idleEpochIntervalNs + " fenceRetryNs=" + fenceRetryNs +
                "; all must be positive, and idleEpochIntervalNs no less than epochIntervalNs");
        }
    }
}
