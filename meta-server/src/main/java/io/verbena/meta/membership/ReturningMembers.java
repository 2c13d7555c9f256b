package io.verbena.meta.membership;

import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Which lost members of a view are to be taken back: until the next view begins each member has all that was
 * acknowledged, if its memory is that of the view; where there is none any more, the one with the latest checkpoint
 * ({@link RestoredMembers}). What memory nodes say of that is not on disk. One thread.
 */
public final class ReturningMembers
{
    private final MembershipTable members;
    /** Memory nodes, with the incarnation of theirs since which their memory has everything. */
    private final Map<PeerIdentity, Integer> memorySince = new HashMap<>();
    private final RestoredMembers restored;

    /** @param members who has a lease. */
    ReturningMembers(final MembershipTable members)
    {
        this.members = members;
        restored = new RestoredMembers(members, this::present, this::since);
    }

    /**
     * A memory node says since when its memory has everything.
     *
     * @param memoryNode under its present registration.
     * @param since      incarnation of it; 0: it does not say.
     */
    void onReturned(final PeerIdentity memoryNode, final int since)
    {
        if (since > 0)
        {
            memorySince.put(memoryNode, since);
        }
    }

    /**
     * A memory node reports what it has restored of groups that it was a member of with memory that is gone. To be
     * repeated, since it is not on disk.
     *
     * @param memoryNode under its present registration.
     * @param reported   of each group.
     */
    public void onRestored(final PeerIdentity memoryNode, final List<RestoredGroup> reported)
    {
        restored.onRestored(memoryNode, reported);
    }

    /** Forgets those that have no lease. */
    void retain(final Predicate<PeerIdentity> isLive)
    {
        memorySince.keySet().removeIf(isLive.negate());
        restored.retain(isLive);
    }

    /** @return incarnation since which a memory node has its memory; 0: it does not say. */
    int since(final PeerIdentity present)
    {
        return memorySince.getOrDefault(present, 0);
    }

    /**
     * @param view all of whose members are lost.
     * @return why it stays closed: for each member what is known of it.
     */
    String whyClosed(final View view)
    {
        final StringBuilder why = new StringBuilder("group " + view.group() + " waits for a member that returns with " +
            "its memory, or until all have reported which checkpoint they have restored, since all were lost in view " +
            view.number() + "; where nobody has one, drop its tables, and load a dump");

        for (final PeerIdentity member : view.members())
        {
            final PeerIdentity present = present(member);
            final int since = null == present ? 0 : since(present);
            final String checkpoint = restored.text(view, member);
            why.append("; node ").append(member.nodeId()).append(" incarnation ").append(member.incarnation()).append(
                null == present ? checkpoint.isEmpty() ? " is not up" : "" :
                0 == since ? " is up, and does not say since when it has its memory" :
                " has its memory since incarnation " + since + " only").append(checkpoint);
        }

        return why.toString();
    }

    /** @return place of the lost member that is to be taken back; that behind the last one: there is none. */
    int whoReturns(final View view)
    {
        int member = 0;

        while (member < view.members().size() && !(view.isLost(member) && mayReturn(view, member)))
        {
            member++;
        }

        return member < view.members().size() ? member : restored.whoReturns(view);
    }

    private boolean mayReturn(final View view, final int member)
    {
        final PeerIdentity before = view.members().get(member);
        final PeerIdentity present = present(before);
        return null != present && hasAll(before, memorySince.getOrDefault(present, Integer.MAX_VALUE)) &&
            (view.isDeserted() || isAnother(before, present));
    }

    /** What was written to the member under the incarnation in the view is in its memory now. */
    private static boolean hasAll(final PeerIdentity before, final int since)
    {
        return since <= before.incarnation();
    }

    /** One that was lost because it did not close its keys has not closed them since, if it has not begun anew. */
    private static boolean isAnother(final PeerIdentity before, final PeerIdentity present)
    {
        return !present.equals(before);
    }

    /** @return identity under which a memory node has a lease; null when it has none. */
    PeerIdentity present(final PeerIdentity memoryNode)
    {
        final Member member = members.member(memoryNode.nodeId());
        return null == member || !member.isLive() ? null : member.node().identity();
    }
}
