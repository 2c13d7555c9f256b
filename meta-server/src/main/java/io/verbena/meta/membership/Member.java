package io.verbena.meta.membership;

import io.verbena.meta.store.StoredNode;
import io.verbena.raas.directory.NodeRole;
import io.verbena.meta.store.StoredNodeState;

/** A registration and its lease. Changed by its {@link MembershipTable} only, but for its secrets. */
public final class Member
{
    StoredNode node;
    long leaseEndsNs;
    boolean isConfirmed;
    /** Whether an earlier server may have assigned this identity: nobody knows whether there is such a node. */
    boolean isPossible;
    private int secretRound;

    Member(final StoredNode node, final long leaseEndsNs)
    {
        this.node = node;
        this.leaseEndsNs = leaseEndsNs;
    }

    /** @return what is on disk about it. */
    public StoredNode node()
    {
        return node;
    }

    /** @return 1 to 65,535. */
    public int nodeId()
    {
        return node.nodeId();
    }

    /** @return number of this registration. */
    public int incarnation()
    {
        return node.incarnation();
    }

    /** @return when this side takes the lease as ended, on this side's clock; meaningful while live. */
    public long leaseEndsNs()
    {
        return leaseEndsNs;
    }

    /** @return whether it, or who had its memory before, was heard of; a memory node admits nobody before. */
    public boolean isConfirmed()
    {
        return isConfirmed;
    }

    /**
     * @return whether it was a spare when this server started: it counts as a node with a lease, and nothing is known
     *     of it.
     */
    public boolean isPossible()
    {
        return isPossible;
    }

    /** @return the latest round of which it is known to have all secrets; 0 as long as it has not said. */
    public int secretRound()
    {
        return secretRound;
    }

    /** @param round of which it has all secrets. */
    public void secretRound(final int round)
    {
        secretRound = round;
    }

    /** @return whether it has a lease. */
    public boolean isLive()
    {
        return StoredNodeState.LIVE == node.state() || isStandby();
    }

    /** @return whether it has a lease, and clients are not sent to it. */
    public boolean isStandby()
    {
        return StoredNodeState.STANDBY == node.state();
    }

    /** @return whether it is a memory node that may let a compute node in: not one that left or was forgotten. */
    boolean mayAdmit()
    {
        return !isCompute() && StoredNodeState.LEFT != node.state() && StoredNodeState.FORGOTTEN != node.state();
    }

    /** @return whether it is a compute node. */
    public boolean isCompute()
    {
        return NodeRole.COMPUTE_NODE == node.role();
    }

    @Override
    public String toString()
    {
        return "Member{nodeId=" + nodeId() + " incarnation=" + incarnation() + " role=" + node.role() +
            " state=" + node.state() + " leaseEndsNs=" + leaseEndsNs + '}';
    }
}
