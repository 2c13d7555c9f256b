package io.verbena.memory;

import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which views of groups are closed at one registration of this memory node, and so who gets a key to its region.
 * Nothing of it is on disk: under another incarnation this node is a member of no view, and before it is one of the
 * next it is asked to close, which says the number again. Numbers only grow, whoever says them and in whatever order.
 * Where no group exists this holds nothing and refuses nobody. One thread.
 */
final class MemoryViews
{
    /** Keys to the region. */
    interface Keys
    {
        /**
         * Closes the keys of all identities; those that make copies equal stay.
         *
         * @throws io.verbena.rdma.verbs.RdmaException when a requester does not leave the memory: to be done again.
         */
        void closeAll();

        /**
         * Closes the key of who makes the copies of a group equal, if there is one.
         *
         * @param group which.
         * @throws io.verbena.rdma.verbs.RdmaException when a requester does not leave the memory: to be done again.
         */
        void closeReconciler(int group);
    }

    /** The newest that is closed of a group, or is about to be. */
    private static final class Closed
    {
        private long number;
        private int attempt;
        private PeerIdentity reconciler = PeerIdentity.UNREGISTERED;
        private PeerIdentity entering = PeerIdentity.UNREGISTERED;
        private boolean areKeysClosed = true;
        private boolean isReconcilerClosed = true;
    }

    private final Keys keys;
    private final Map<Integer, Closed> closedViews = new HashMap<>();
    /** By group, where this memory node is filled. */
    private final Map<Integer, View> fillings = new HashMap<>();
    private final Map<PeerIdentity, Map<Integer, Long>> left = new HashMap<>();

    /** @param keys to the region, all of which were made with the leave of this. */
    MemoryViews(final Keys keys)
    {
        this.keys = keys;
    }

    /**
     * Closes a view, or an earlier attempt to reconcile it. When this returns true, nothing lands any more with a key
     * that was used under this view or those before, nor with the key of an attempt before this one.
     *
     * @param view closing.
     * @return false: a later one is closed already, whoever asks is behind.
     * @throws io.verbena.rdma.verbs.RdmaException when a requester does not leave the memory: to be asked again,
     *                                             which closes what was granted meanwhile, too.
     */
    boolean close(final View view)
    {
        final Closed closed = closedViews.computeIfAbsent(view.group(), (_) -> new Closed());

        if (isBehind(view, closed))
        {
            return false;
        }

        fillings.computeIfPresent(view.group(), (_, filling) -> view.isLaterThan(filling) ? null : filling);
        // The numbers first: nobody gets a key again that was just closed.
        closed.areKeysClosed &= !endsView(view, closed);
        closed.isReconcilerClosed &= !endsAttempt(view, closed);
        closed.number = view.number();
        closed.attempt = view.attempt();
        closed.reconciler = view.reconciler();
        closed.entering = view.entering();

        if (!closed.areKeysClosed)
        {
            keys.closeAll();
            closed.areKeysClosed = true;
        }
        if (!closed.isReconcilerClosed)
        {
            keys.closeReconciler(view.group());
            closed.isReconcilerClosed = true;
        }
        return true;
    }

    /**
     * Remembers who fills this memory node while a view is active.
     *
     * @param view filling.
     * @return false: a later record of the group is known here, whoever asks is behind.
     */
    boolean fill(final View view)
    {
        final Closed closed = closedViews.get(view.group());
        final View known = fillings.get(view.group());
        if (null != closed && closed.number >= view.number() || null != known && known.isLaterThan(view))
        {
            return false;
        }
        fillings.put(view.group(), view);
        return true;
    }

    /**
     * Whether a request for the leases of a group is of a view that is over: it would free what is being written. So is
     * each one while this memory node is filled, since it is no member; and, since a view was closed here, that of who
     * has not left it.
     *
     * @param node  that asks.
     * @param group whose leases.
     * @return whether the request comes too late.
     */
    boolean isLate(final PeerIdentity node, final int group)
    {
        final Closed closed = closedViews.get(group);
        return fillings.containsKey(group) || null != closed && leftOf(node, group) < closed.number;
    }

    /**
     * @param node        that asks to enter a lease.
     * @param attempt     for which it was named.
     * @param incarnation of this memory node.
     * @return whether it fills this memory node, as the newest record says that is known here.
     */
    boolean isFilledBy(final PeerIdentity node, final ViewAttempt attempt, final int incarnation)
    {
        final View filling = fillings.get(attempt.group());
        return null != filling && ViewAttempt.of(filling).equals(attempt) && filling.reconciler().equals(node) &&
            filling.entering().incarnation() == incarnation;
    }

    private static boolean isBehind(final View view, final Closed closed)
    {
        return view.number() < closed.number || view.number() == closed.number && view.attempt() < closed.attempt;
    }

    private static boolean endsView(final View view, final Closed closed)
    {
        return view.number() > closed.number;
    }

    private static boolean endsAttempt(final View view, final Closed closed)
    {
        return view.number() > closed.number || view.attempt() > closed.attempt;
    }

    /**
     * A node names, before it gets a key, the newest view of each group that it has left.
     *
     * @param node  who.
     * @param named what it has left.
     * @return views that are closed here and that it has not left, with their numbers: what it has to hear of before it
     *     gets a key; empty when it may have one.
     */
    List<LeftView> name(final PeerIdentity node, final List<LeftView> named)
    {
        final Map<Integer, Long> known = left.computeIfAbsent(node, (_) -> new HashMap<>());
        named.forEach((each) -> known.merge(each.group(), each.number(), Math::max));
        return notLeft(node);
    }

    /**
     * @param node that asks for a key.
     * @return views that are closed here and that it has not left; a new list, empty when it has left all of them.
     */
    List<LeftView> notLeft(final PeerIdentity node)
    {
        final List<LeftView> notLeft = new ArrayList<>();
        closedViews.forEach((group, closed) ->
        {
            if (leftOf(node, group) < closed.number)
            {
                notLeft.add(new LeftView(group, closed.number));
            }
        });
        return notLeft;
    }

    private long leftOf(final PeerIdentity node, final int group)
    {
        return left.getOrDefault(node, Map.of()).getOrDefault(group, 0L);
    }

    /** @return whether a node gets a key to the region now, as far as views go. */
    boolean mayHaveKey(final PeerIdentity node)
    {
        return closedViews.isEmpty() || notLeft(node).isEmpty();
    }

    /**
     * @param node    that asks for the key to make the copies of a group equal.
     * @param group   which.
     * @param number  of the view that is over.
     * @param attempt for which it was named.
     * @return whether it gets that key: for this attempt alone, when all is closed.
     */
    boolean mayReconcile(final PeerIdentity node, final int group, final long number, final int attempt)
    {
        final Closed closed = closedViews.get(group);
        return null != closed && closed.number == number && closed.attempt == attempt && closed.areKeysClosed &&
            closed.isReconcilerClosed && closed.reconciler.equals(node);
    }

    /**
     * @param group       which.
     * @param incarnation of this memory node.
     * @return whether it comes into the group, as the newest attempt that it was asked to close says: only then are its
     *     leases changed.
     */
    boolean comesInto(final int group, final int incarnation)
    {
        final Closed closed = closedViews.get(group);
        return null != closed && closed.entering.incarnation() == incarnation;
    }

    /** Forgets what a node has named that was fenced, with its earlier incarnations. */
    void forget(final PeerIdentity fenced)
    {
        left.keySet().removeIf(
            (node) -> node.nodeId() == fenced.nodeId() && node.incarnation() <= fenced.incarnation());
    }
}
