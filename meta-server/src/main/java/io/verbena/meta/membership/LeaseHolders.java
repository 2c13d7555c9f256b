package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/** Nodes with a lease, as views name them. One thread. */
final class LeaseHolders
{
    private final MembershipTable members;

    /** @param members who has a lease. */
    LeaseHolders(final MembershipTable members)
    {
        this.members = members;
    }

    /** @return whether a node has a lease under this identity. */
    boolean has(final PeerIdentity identity)
    {
        final Member member = members.member(identity.nodeId());
        return null != member && member.incarnation() == identity.incarnation() && member.isLive();
    }

    /**
     * @param nodeId of a memory node.
     * @return its identity now.
     * @throws MembershipRefusedException when there is no such memory node.
     */
    PeerIdentity memoryNode(final int nodeId)
    {
        final Member member = members.member(nodeId);

        if (null == member || member.isCompute())
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE, "node " + nodeId + " is no memory node: a group is made of these");
        }

        return member.node().identity();
    }

    /**
     * @param attempt for which a compute node is wanted.
     * @return another one with each attempt, where there are several; {@link PeerIdentity#UNREGISTERED}: there is none.
     */
    PeerIdentity candidate(final int attempt)
    {
        final List<PeerIdentity> candidates = members.members().stream()
            .filter((member) -> member.isCompute() && member.isLive() && member.isConfirmed() && !member.isPossible())
            .map((member) -> member.node().identity()).toList();
        return candidates.isEmpty() ? PeerIdentity.UNREGISTERED : candidates.get(attempt % candidates.size());
    }
}
