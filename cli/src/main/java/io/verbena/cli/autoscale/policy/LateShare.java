package io.verbena.cli.autoscale.policy;

/**
 * At which share of work of a node responses are later than the objective, as far as that was seen: a number of nodes
 * at which they were late is not tried again while the demand stays. Used by one thread.
 */
final class LateShare
{
    private final ScaleLimits limits;
    private double share = Double.POSITIVE_INFINITY;
    private double inTimeShare;
    private long inTimeSinceMs;
    private boolean hasBegun;

    LateShare(final ScaleLimits limits)
    {
        this.limits = limits;
    }

    /** @return whether the 99th percentile of responses is above the objective. */
    boolean isLate(final Demand demand)
    {
        return limits.objectiveUs() > 0 && demand.p99Us() > limits.objectiveUs();
    }

    /** Learns from a period; {@code isBusy}: responses were late, and nodes busy. */
    void note(final long nowMs, final Demand demand, final boolean isBusy)
    {
        if (!hasBegun || isLate(demand))
        {
            hasBegun = true;
            inTimeSinceMs = nowMs;
            inTimeShare = 0;
        }
        if (isBusy)
        {
            share = Math.min(share, demand.shareOfNode());
        }
        else if (!isLate(demand))
        {
            inTimeShare = Math.max(inTimeShare, demand.shareOfNode());
            if (inTimeShare > share && nowMs - inTimeSinceMs >= limits.downWindowMs())
            {
                share = inTimeShare;
            }
        }
    }

    /** @return share that a node may work when others have been ended. */
    double downShare(final Demand demand)
    {
        final double allowed = Math.min(limits.targetShare(), share);
        return isLate(demand) ? Math.min(allowed, limits.targetShare() * ScalePolicy.BUSY_PART) : allowed;
    }
}
