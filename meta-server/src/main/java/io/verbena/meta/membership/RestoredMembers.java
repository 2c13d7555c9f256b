package io.verbena.meta.membership;

import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;

/**
 * Which member of a view is taken back with the records of a checkpoint: none while a member may still return with its
 * memory, which has all that was acknowledged. So all members have to be lost, each has a lease again and says that its
 * memory is gone, or was forgotten, and each that has a lease has reported what it has restored. Then it is the one
 * whose checkpoint is {@linkplain RestoredGroup#isPreferredTo preferred}. What memory nodes report is not on disk. One
 * thread.
 */
final class RestoredMembers
{
    private final MembershipTable members;
    private final UnaryOperator<PeerIdentity> present;
    private final ToIntFunction<PeerIdentity> since;
    /** What memory nodes have restored, by group. */
    private final Map<PeerIdentity, Map<Integer, RestoredGroup>> reported = new HashMap<>();

    /**
     * @param members who was forgotten.
     * @param present identity under which a memory node has a lease; null when it has none.
     * @param since   incarnation since which it has its memory; 0: it does not say.
     */
    RestoredMembers(
        final MembershipTable members, final UnaryOperator<PeerIdentity> present,
        final ToIntFunction<PeerIdentity> since)
    {
        this.members = members;
        this.present = present;
        this.since = since;
    }

    /**
     * A memory node reports what it has restored.
     *
     * @param memoryNode under its present registration.
     * @param restored   of each group.
     */
    void onRestored(final PeerIdentity memoryNode, final List<RestoredGroup> restored)
    {
        final Map<Integer, RestoredGroup> known = reported.computeIfAbsent(memoryNode, (_) -> new HashMap<>());
        restored.forEach((each) -> known.put(each.group(), each));
    }

    /** Forgets those that have no lease. */
    void retain(final Predicate<PeerIdentity> isLive)
    {
        reported.keySet().removeIf(isLive.negate());
    }

    /** @return place of the member to be taken back; that behind the last one: there is none, or none yet. */
    int whoReturns(final View view)
    {
        final int none = view.members().size();
        int place = none;
        RestoredGroup best = null;

        if (!view.isDeserted())
        {
            return none;
        }

        for (int member = 0; member < none; member++)
        {
            if (isForgotten(view.members().get(member)))
            {
                continue;
            }

            final RestoredGroup restored = report(view, view.members().get(member));

            if (null == restored)
            {
                return none;
            }

            if (restored.isRestored() && (null == best || restored.isPreferredTo(best, view.number())))
            {
                best = restored;
                place = member;
            }
        }

        return place;
    }

    private boolean isForgotten(final PeerIdentity memoryNode)
    {
        final Member member = members.member(memoryNode.nodeId());
        return null != member && StoredNodeState.FORGOTTEN == member.node().state();
    }

    /** What a member has restored whose memory is gone for good; null: it may have it, or is to report still. */
    private RestoredGroup report(final View view, final PeerIdentity before)
    {
        final PeerIdentity now = present.apply(before);
        final boolean isGone = null != now && since.applyAsInt(now) > before.incarnation();
        return isGone ? reported.getOrDefault(now, Map.of()).get(view.group()) : null;
    }

    /**
     * @param view   all of whose members are lost.
     * @param before a member of it.
     * @return what is known of its checkpoint, to be added to what is known of its memory; may be empty.
     */
    String text(final View view, final PeerIdentity before)
    {
        if (isForgotten(before))
        {
            return " was forgotten";
        }

        final PeerIdentity now = present.apply(before);
        final RestoredGroup restored = null == now ? null : reported.getOrDefault(now, Map.of()).get(view.group());
        return null == restored ? "" : restored.isRestored() ?
            ", and " + restored.records() + " records of a checkpoint of view " + restored.number() +
            (restored.isOfPrimary() ? ", as its primary" : ", as its head") :
            ", and no checkpoint of the group";
    }
}
