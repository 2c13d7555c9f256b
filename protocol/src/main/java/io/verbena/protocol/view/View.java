package io.verbena.protocol.view;

import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The view of a group: which memory nodes keep its tables, and where the change to the next view stands. Immutable.
 * Number, attempt and state together grow with each change, and nothing else changes without them: of two records of a
 * group the larger counts, for whoever hears of it, in whatever order.
 *
 * @param group      which; 1 or more.
 * @param number     of the view; 1 or more.
 * @param state      where it stands.
 * @param attempt    to end this view, or to fill a memory node while it is active; 0 before the first of either. Grows
 *                   whenever a member, or who reconciles or fills, is lost.
 * @param members    memory nodes in their order, head first and primary last; 1 to {@link #MAX_MEMBERS}.
 * @param lost       bit i is set: member i is lost.
 * @param reconciler compute node that is to make the survivors equal, or fills who comes in while the view is active;
 *                   {@link PeerIdentity#UNREGISTERED} while there is none to be had.
 * @param copies     with which the group's tables were made; 0 where that is not known, of groups that were made before
 *                   it was recorded.
 * @param entering   memory node that is no member, and of the next view will be one, where this attempt succeeds: while
 *                   the view is active it is filled; {@link PeerIdentity#UNREGISTERED} for none.
 */
public record View(
    int group, long number, ViewState state, int attempt, List<PeerIdentity> members, int lost,
    PeerIdentity reconciler, int copies, PeerIdentity entering)
{
    /** Members of a group, at most. */
    public static final int MAX_MEMBERS = 8;

    /** Copies the list, and refuses what no view is. */
    public View
    {
        members = List.copyOf(members);
        final boolean isActive = ViewState.ACTIVE == state;

        if (group < 1 || number < 1 || attempt < 0 || !isActive && 0 == attempt || members.isEmpty() ||
            members.size() > MAX_MEMBERS || lost < 0 || lost >= 1 << members.size() || isActive && 0 != lost ||
            members.stream().map(PeerIdentity::nodeId).distinct().count() != members.size() ||
            copies < 0 || copies > MAX_MEMBERS || !mayEnter(entering, members, attempt, lost))
        {
            throw new IllegalArgumentException("no view: group=" + group + " number=" + number + " state=" + state +
                " attempt=" + attempt + " members=" + members + " lost=" + lost + " copies=" + copies +
                " entering=" + entering);
        }
    }

    /** In an attempt in which nobody is lost: who comes in then costs a group that loses a member nothing. */
    private static boolean mayEnter(
        final PeerIdentity entering, final List<PeerIdentity> members, final int attempt, final int lost)
    {
        return PeerIdentity.UNREGISTERED.equals(entering) || 0 < attempt && 0 == lost &&
            members.size() < MAX_MEMBERS && members.stream().noneMatch(each -> each.nodeId() == entering.nodeId());
    }

    /**
     * @param group   a new one.
     * @param members in their order.
     * @return its first view, active.
     */
    public static View first(final int group, final List<PeerIdentity> members)
    {
        return new View(group, 1, ViewState.ACTIVE, 0, members, 0, PeerIdentity.UNREGISTERED, members.size(),
            PeerIdentity.UNREGISTERED);
    }

    /**
     * @param other of the same group.
     * @return whether this one was recorded later.
     */
    public boolean isLaterThan(final View other)
    {
        return number != other.number ? number > other.number :
            attempt != other.attempt ? attempt > other.attempt : state.code() > other.state.code();
    }

    /** @return the newest view that whoever knows this record has left: nothing is posted or answered under it. */
    public long left()
    {
        return ViewState.ACTIVE == state ? number - 1 : number;
    }

    /** @return whether a member is lost, by its place. */
    public boolean isLost(final int member)
    {
        return 0 != (lost & 1 << member);
    }

    /** @return members that are not lost, in their order; a new list. */
    public List<PeerIdentity> survivors()
    {
        final List<PeerIdentity> survivors = new ArrayList<>();
        for (int member = 0; member < members.size(); member++)
        {
            if (!isLost(member))
            {
                survivors.add(members.get(member));
            }
        }
        return survivors;
    }

    /**
     * @param some memory nodes.
     * @return bit i is set: member i is among them.
     */
    public int places(final Collection<PeerIdentity> some)
    {
        int places = 0;
        for (int member = 0; member < members.size(); member++)
        {
            places |= some.contains(members.get(member)) ? 1 << member : 0;
        }
        return places;
    }

    /** @return whether a memory node comes in. */
    public boolean hasEntering()
    {
        return !PeerIdentity.UNREGISTERED.equals(entering);
    }

    /** @return whether a memory node is filled while compute nodes read and write. */
    public boolean isFilling()
    {
        return ViewState.ACTIVE == state && hasEntering();
    }

    /** @return memory nodes that have to close this view: members that are not lost, and who comes in; a new list. */
    public List<PeerIdentity> closers()
    {
        final List<PeerIdentity> closers = survivors();
        if (hasEntering())
        {
            closers.add(entering);
        }
        return closers;
    }

    /** @return whether a memory node is wanted to come in: this view is active with fewer members than copies. */
    public boolean lacksMember()
    {
        return ViewState.ACTIVE == state && members.size() < copies;
    }

    /** @return whether no member is left. */
    public boolean isDeserted()
    {
        return lost == (1 << members.size()) - 1;
    }

    /**
     * Begins to close this view, or begins the next attempt to do so; nobody comes in.
     *
     * @param nowLost members that are lost now; those that were lost before may be among them.
     * @param named   who is to reconcile.
     * @return the record that follows.
     */
    public View closing(final int nowLost, final PeerIdentity named)
    {
        return new View(group, number, ViewState.CLOSING, attempt + 1, members, lost | nowLost, named, copies,
            PeerIdentity.UNREGISTERED);
    }

    /**
     * Begins to fill a memory node, or begins anew, while this view is active.
     *
     * @param memoryNode no member.
     * @param named      compute node that fills it.
     * @return the record that follows.
     */
    public View filling(final PeerIdentity memoryNode, final PeerIdentity named)
    {
        return new View(group, number, ViewState.ACTIVE, attempt + 1, members, 0, named, copies, memoryNode);
    }

    /** @return the record that follows when a memory node is filled no longer, and does not come in. */
    public View notFilling()
    {
        return new View(group, number, ViewState.ACTIVE, attempt + 1, members, 0, PeerIdentity.UNREGISTERED, copies,
            PeerIdentity.UNREGISTERED);
    }

    /** @return the record that follows when a memory node is filled: this view closes so that it comes in. */
    public View filled()
    {
        return new View(group, number, ViewState.CLOSING, attempt + 1, members, 0, reconciler, copies, entering);
    }

    /**
     * Takes a member back that was lost: while the next view has not begun, its memory has all that was acknowledged.
     *
     * @param member   by its place.
     * @param identity under which it has returned.
     * @return the record that follows: the next attempt to close this view.
     */
    public View returned(final int member, final PeerIdentity identity)
    {
        final List<PeerIdentity> changed = new ArrayList<>(members);
        changed.set(member, identity);
        return new View(group, number, ViewState.CLOSING, attempt + 1, changed, lost & ~(1 << member),
            PeerIdentity.UNREGISTERED, copies, PeerIdentity.UNREGISTERED);
    }

    /** @return the record that follows when all survivors have closed, and all compute nodes have left. */
    public View reconciling()
    {
        return new View(group, number, ViewState.RECONCILING, attempt, members, lost, reconciler, copies, entering);
    }

    /**
     * @return the record that follows when the copies are equal: the next view, active. Who has come in stands before
     *     the primary, so that readers go on with the memory that they know.
     */
    public View next()
    {
        final List<PeerIdentity> next = survivors();
        if (hasEntering())
        {
            next.add(next.size() - 1, entering);
        }
        return new View(group, number + 1, ViewState.ACTIVE, 0, next, 0, PeerIdentity.UNREGISTERED, copies,
            PeerIdentity.UNREGISTERED);
    }
}
