package io.verbena.meta.raft;

import java.util.concurrent.TimeUnit;

/**
 * When a leader that no node reaches gives the lead to another member: the members cannot know that it is cut off from
 * the nodes, whose leases end although they could reach another one. By what is heard of nodes while it leads. That none
 * is heard of may also mean that all have died, so a member gives way once, and again only after it has heard of one:
 * else the lead would go round, and each new leader give dead nodes another lease. One thread.
 */
public final class NodeSilence
{
    /** No node has a lease. */
    public static final long NO_LEASE = Long.MIN_VALUE;
    /** Half of a lease is left for another member to be elected, and to be found. */
    private static final int LEASE_FRACTION = 2;
    /** Nodes that rest, on a busy machine, may not be heard of for less. */
    private static final long LEAST_NS = TimeUnit.SECONDS.toNanos(4);

    private final long leaseNs;
    private final long silenceNs;
    private boolean mayGiveWay = true;
    private boolean hasBegun;
    private long lastEndNs = NO_LEASE;

    /** @param leaseNs of nodes; none of less than 8 s, in which there is no time for it. */
    public NodeSilence(final long leaseNs)
    {
        this.leaseNs = leaseNs;
        silenceNs = leaseNs / LEASE_FRACTION;
    }

    /** A leadership has begun, in which each node has a whole lease. */
    public void begin()
    {
        hasBegun = false;
    }

    /**
     * One look, while it leads.
     *
     * @param nowNs       time now.
     * @param latestEndNs when the last of the leases ends; {@link #NO_LEASE}.
     * @return whether to give way now.
     */
    public boolean isDue(final long nowNs, final long latestEndNs)
    {
        if (hasBegun && latestEndNs != lastEndNs && NO_LEASE != latestEndNs &&
            (NO_LEASE == lastEndNs || latestEndNs - lastEndNs > 0))
        {
            mayGiveWay = true;
        }
        hasBegun = true;
        lastEndNs = latestEndNs;

        final boolean isDue = mayGiveWay && silenceNs >= LEAST_NS && NO_LEASE != latestEndNs &&
            latestEndNs - nowNs > 0 && nowNs - (latestEndNs - leaseNs) >= silenceNs;
        mayGiveWay &= !isDue;
        return isDue;
    }
}
