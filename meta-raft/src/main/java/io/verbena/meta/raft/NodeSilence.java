package io.verbena.meta.raft;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * When a leader that no node reaches gives the lead to another member: the members cannot know that it is cut off from
 * the nodes, whose leases end although they could reach another one. That nothing is heard of nodes may also mean that
 * all have died, so a member gives way once, and again only after it has heard of one: else the lead would go round,
 * and each new leader give dead nodes another lease. One thread.
 */
public final class NodeSilence
{
    /** Half of a lease is left for another member to be elected, and to be found. */
    private static final int LEASE_FRACTION = 2;
    /** Nodes that rest, on a busy machine, may not be heard of for less. */
    private static final long LEAST_NS = TimeUnit.SECONDS.toNanos(4);
    /** A leader that was away for more than this part of a lease could not hear its nodes: that time does not count. */
    private static final int AWAY_FRACTION = 8;

    private final long silenceNs;
    private final long awayNs;
    private boolean mayGiveWay = true;
    private long heardNs;
    private long lookedNs;
    private long requests;

    /** @param leaseNs of nodes; with one of less than 8 s there is no time to give way, and it is never due. */
    public NodeSilence(final long leaseNs)
    {
        silenceNs = leaseNs / LEASE_FRACTION;
        awayNs = leaseNs / AWAY_FRACTION;
    }

    /**
     * A leadership has begun, in which each node has a whole lease.
     *
     * @param nowNs time now.
     */
    public void begin(final long nowNs)
    {
        heardNs = nowNs;
        lookedNs = nowNs;
        requests = 0;
    }

    /**
     * One look, while it leads.
     *
     * @param nowNs        time now.
     * @param nodeRequests requests of nodes since the leadership has begun.
     * @param hasLease     whether any node has one; asked only when the silence was long enough.
     * @return whether to give way now.
     */
    public boolean isDue(final long nowNs, final long nodeRequests, final BooleanSupplier hasLease)
    {
        heardNs += nowNs - lookedNs > awayNs ? nowNs - lookedNs : 0;
        lookedNs = nowNs;

        if (nodeRequests != requests)
        {
            requests = nodeRequests;
            heardNs = nowNs;
            mayGiveWay = true;
        }

        final boolean isDue = mayGiveWay && silenceNs >= LEAST_NS && nowNs - heardNs >= silenceNs &&
            hasLease.getAsBoolean();
        mayGiveWay &= !isDue;
        return isDue;
    }
}
