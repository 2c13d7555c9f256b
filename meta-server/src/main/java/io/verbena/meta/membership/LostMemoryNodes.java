package io.verbena.meta.membership;

import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.control.MetaService;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.collections.Int2IntHashMap;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lost memory nodes for whose fence epochs need not wait, as {@code docs/protocol/lost-memory-nodes.md} has it. A
 * compute node that is not cut off at a memory node may still change that one's memory. Nothing rests on that memory
 * once every compute node with a lease has left it: it posts nothing more to this incarnation, connects to it never
 * again, and whatever comes back from it is over. The next incarnation cuts off everybody before it registers.
 *
 * <p>A memory node is to be left when it has been lost, and a fence has waited for it, for a lease's length: leaving
 * costs the tables that only it has, where one-sided access still serves them, so a short loss costs nothing.
 *
 * <p>Nothing is on disk. After a restart a node that is being fenced counts again, memory nodes are to be left a lease
 * later, and compute nodes report again what they have left: that stays true, whoever hears it. One thread; time comes
 * in.
 */
final class LostMemoryNodes
{
    private final MembershipTable members;
    private final long patienceNs;
    private final long pauseNs;
    /** Since when a memory node has been lost and a fence has waited for it. */
    private final Map<PeerIdentity, Long> lostSinceNs = new HashMap<>();
    /** By compute node: the latest incarnation of each memory node that it has left, by node id. */
    private final Map<PeerIdentity, Int2IntHashMap> left = new HashMap<>();
    private List<PeerIdentity> toLeave = List.of();
    private long dueAtNs;

    /**
     * @param members    who has a lease.
     * @param patienceNs for how long a memory node has to be lost until it is to be left.
     * @param pauseNs    between two looks.
     * @param nowNs      the clock now.
     */
    LostMemoryNodes(final MembershipTable members, final long patienceNs, final long pauseNs, final long nowNs)
    {
        this.members = members;
        this.patienceNs = patienceNs;
        this.pauseNs = pauseNs;
        dueAtNs = nowNs;
    }

    /** @return incarnations that compute nodes are to leave, at most {@link MetaService#MAX_TO_LEAVE}; immutable. */
    List<PeerIdentity> toLeave()
    {
        return toLeave;
    }

    /**
     * A compute node has left memory nodes.
     *
     * @param computeNode with a lease.
     * @param memoryNodes which it has left, with all earlier incarnations of them.
     */
    void onLeft(final PeerIdentity computeNode, final List<PeerIdentity> memoryNodes)
    {
        if (memoryNodes.isEmpty())
        {
            return;
        }

        final Int2IntHashMap known = left.computeIfAbsent(computeNode, (_) -> new Int2IntHashMap(0));
        memoryNodes.forEach((each) ->
            known.put(each.nodeId(), Math.max(known.get(each.nodeId()), each.incarnation())));
    }

    /**
     * Looks which memory nodes are lost and waited for.
     *
     * @param rounds of fencing.
     * @param nowNs  the clock now.
     * @return whether {@link #haveBeenLeft} may say something else than before: it has looked, and some are to be left.
     */
    boolean poll(final List<FencingRound> rounds, final long nowNs)
    {
        if (dueAtNs - nowNs > 0 || rounds.isEmpty() && lostSinceNs.isEmpty())
        {
            return false;
        }

        dueAtNs = nowNs + pauseNs;
        final List<PeerIdentity> lost = new ArrayList<>();
        final List<Member> all = members.members();

        for (int i = 0; i < all.size(); i++)
        {
            final Member member = all.get(i);

            if (isLost(member) && rounds.stream().anyMatch((round) -> round.isPending(member.nodeId())))
            {
                lost.add(member.node().identity());
                lostSinceNs.putIfAbsent(member.node().identity(), nowNs);
            }
        }

        lostSinceNs.keySet().retainAll(lost);
        lost.removeIf((each) -> nowNs - lostSinceNs.get(each) < patienceNs);
        toLeave = List.copyOf(lost.subList(0, Math.min(lost.size(), MetaService.MAX_TO_LEAVE)));
        left.keySet().removeIf((node) -> !isLive(members.member(node.nodeId()), node));
        return !toLeave.isEmpty();
    }

    /**
     * @param round of a compute node.
     * @return whether each memory node that has not confirmed it is lost, and every compute node with a lease has left
     *     that memory node: also one of which nothing is known yet.
     */
    boolean haveBeenLeft(final FencingRound round)
    {
        return round.pendingMatch((memoryNodeId) ->
        {
            final Member memoryNode = members.member(memoryNodeId);
            return null != memoryNode && isLost(memoryNode) && toLeave.contains(memoryNode.node().identity()) &&
                hasBeenLeft(memoryNode);
        });
    }

    /** Nodes without a lease have stopped by their own clocks, a margin earlier: they are fenced themselves. */
    private boolean hasBeenLeft(final Member memoryNode)
    {
        final List<Member> all = members.members();

        for (int i = 0; i < all.size(); i++)
        {
            final Member member = all.get(i);

            if (member.isCompute() && member.isLive() && !hasLeft(member.node().identity(), memoryNode))
            {
                return false;
            }
        }

        return true;
    }

    private boolean hasLeft(final PeerIdentity computeNode, final Member memoryNode)
    {
        final Int2IntHashMap known = left.get(computeNode);
        return null != known && known.get(memoryNode.nodeId()) >= memoryNode.incarnation();
    }

    private static boolean isLost(final Member member)
    {
        return !member.isCompute() && StoredNodeState.LOST == member.node().state();
    }

    private static boolean isLive(final Member member, final PeerIdentity identity)
    {
        return null != member && member.incarnation() == identity.incarnation() && member.isLive();
    }
}
