package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Moves the views of groups of memory nodes, as {@code docs/protocol/views.md} has it: a member is lost, the survivors
 * close the view and compute nodes leave it, one compute node makes the survivors equal, the next view begins.
 *
 * <p>Each change is on disk before {@link #views} shows it or anybody is called about it. What is not on disk, who has
 * confirmed and who has left, is asked for again after a restart. What has to happen next follows from the
 * record and from who has a lease, not from having seen somebody's end: so nothing is missed between two writes.
 *
 * <p>One thread; time comes in. With no group it does nothing: no write, no call.
 */
public final class ViewConductor
{
    /** The way to memory nodes; implemented by whoever owns the connections. */
    public interface ViewCaller
    {
        /**
         * Asks a memory node to close a view: every key that may have been used under it. Never blocks. When it has
         * confirmed, {@link #onConfirmed} is to be called; nothing when it refuses or does not answer.
         *
         * @param memoryNode who is asked.
         * @param view       closing.
         */
        void close(PeerIdentity memoryNode, View view);

        /**
         * Names to a memory node who fills it, so that its leases may be changed. Never blocks. When it has confirmed,
         * {@link #onConfirmed} is to be called, as for a view that it has closed.
         *
         * @param memoryNode who is filled.
         * @param view       filling.
         */
        void fill(PeerIdentity memoryNode, View view);

        /**
         * Asks a memory node whether it is there. Never blocks. {@link #onProbed} is to be called when it has answered,
         * and when the connection to it has failed, and not for a mere silence: it may stand still.
         *
         * @param memoryNode who is asked.
         */
        default void probe(final PeerIdentity memoryNode)
        {
            // Then its lease has to run out.
        }
    }

    /** A survivor that has not confirmed in the time of so many calls is lost, where another one has. */
    private static final int MAX_CALLS = 50;

    /** The change of one view: all of it begins anew with each attempt. */
    private static final class Change
    {
        private View view;
        private final Set<PeerIdentity> confirmed = new HashSet<>();
        private long dueAtNs;
        private int calls;
        /** What was said last of why it stays closed. */
        private String why = "";

        private Change(final View view)
        {
            this.view = view;
        }
    }

    private final MetaLedger ledger;
    private final MembershipTable members;
    private final MembershipListener listener;
    private final long retryNs;
    private final LeaseHolders leases;
    private final MemberProbes probes;
    private final Map<Integer, Change> changes = new TreeMap<>();
    /** What compute nodes have left, by group. */
    private final Map<PeerIdentity, Map<Integer, Long>> left = new HashMap<>();
    private final ReturningMembers returning;
    private final FillReports fillReports = new FillReports(this::view);

    /**
     * @param ledger   the way to the store.
     * @param members  who has a lease.
     * @param restored what the store knew.
     * @param listener notified of changes from now on.
     * @param retryNs  pause between two calls of a memory node.
     */
    ViewConductor(
        final MetaLedger ledger, final MembershipTable members, final List<View> restored,
        final MembershipListener listener, final long retryNs)
    {
        this.listener = listener;
        this.ledger = ledger;
        this.members = members;
        leases = new LeaseHolders(members);
        probes = new MemberProbes(members.leaseNs());
        returning = new ReturningMembers(members);
        this.retryNs = retryNs;
        restored.forEach((view) ->
        {
            changes.put(view.group(), new Change(view));
            members.numbers().takeForGroup(view.group());
        });
    }

    /**
     * Makes a group; durable on return.
     *
     * @param first its first view.
     * @throws MembershipRefusedException when there is a group of this number, or a member has no lease.
     */
    public void begin(final View first)
    {
        if (changes.containsKey(first.group()))
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE, "group " + first.group() + " exists: take another number");
        }

        if (0 != lostOf(first))
        {
            throw new MembershipRefusedException(Reason.UNKNOWN_NODE,
                "group " + first.group() + " has a member without a lease: take memory nodes that are up");
        }

        members.numbers().takeForGroup(first.group());
        write(ledger.counters().afterGroup(first.group()), new Change(first), first);
    }

    /**
     * Makes a group of memory nodes; durable on return. One that is there, with these members in this order and an
     * active view, is that group.
     *
     * @param nodeIds head first and primary last, each once.
     * @return its view.
     * @throws MembershipRefusedException when one of them is no memory node or has no lease, or when there are no more
     *                                    numbers.
     */
    public View make(final List<Integer> nodeIds)
    {
        final List<PeerIdentity> identities = nodeIds.stream().map(leases::memoryNode).toList();
        final Optional<View> present = views().stream()
            .filter((view) -> ViewState.ACTIVE == view.state() && view.members().equals(identities)).findFirst();

        if (present.isPresent())
        {
            return present.get();
        }

        final View first = View.first(members.numbers().freeNodeId(ledger.counters().nextNodeId()), identities);
        begin(first);
        return first;
    }

    /**
     * Has a memory node come into a group, as one more member of the next view: a compute node begins to fill it while
     * the present view is active; durable on return. Then that view is closed. It fails, and the next view has the
     * members of this one, when a member or the memory node is lost meanwhile, or who makes the copies equal.
     *
     * @param group  which; its view has fewer members than its tables were made with.
     * @param nodeId of a memory node that is none of them.
     * @return the record, with that memory node; as it is, when it comes in already.
     * @throws MembershipRefusedException when there is no such group or memory node, the group has all its members, is
     *                                    changing, or nobody could make the copies equal.
     */
    public View enter(final int group, final int nodeId)
    {
        final Change change = changes.get(group);

        if (null == change)
        {
            throw new MembershipRefusedException(Reason.IMPOSSIBLE, "there is no group " + group);
        }

        final View view = change.view;
        final PeerIdentity entering = leases.memoryNode(nodeId);

        if (view.hasEntering() && view.entering().equals(entering))
        {
            return view;
        }

        refuseEntering(view, entering);
        final PeerIdentity named = leases.candidate(view.attempt() / 2 + group);

        if (named.equals(PeerIdentity.UNREGISTERED))
        {
            throw new MembershipRefusedException(
                Reason.TRY_LATER, "no compute node is up that could copy group " + group + ": start one");
        }

        write(change, view.filling(entering, named));
        return change.view;
    }

    private void refuseEntering(final View view, final PeerIdentity entering)
    {
        final String group = "group " + view.group();

        if (view.members().stream().anyMatch((member) -> member.nodeId() == entering.nodeId()))
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE, "memory node " + entering.nodeId() + " is a member of " + group);
        }

        if (ViewState.ACTIVE != view.state())
        {
            throw new MembershipRefusedException(Reason.TRY_LATER, group +
                " is changing: memory nodes come in when its view is active");
        }

        if (view.isFilling())
        {
            throw new MembershipRefusedException(Reason.TRY_LATER, group + " is copied to memory node " +
                view.entering().nodeId() + ": one memory node comes in at a time");
        }

        final int most = 0 == view.copies() ? RequestLimits.MAX_COPIES : view.copies();

        if (view.members().size() >= most)
        {
            throw new MembershipRefusedException(Reason.IMPOSSIBLE, group + " has " + view.members().size() +
                " memory nodes, as many as its tables have copies");
        }

        if (!leases.has(entering))
        {
            throw new MembershipRefusedException(
                Reason.UNKNOWN_NODE, "memory node " + entering.nodeId() + " has no lease: start it");
        }
    }

    /** @return the latest view of each group, all on disk; a new list. */
    public List<View> views()
    {
        return changes.values().stream().map((change) -> change.view).toList();
    }

    /**
     * @param group which.
     * @return its latest view, or null.
     */
    public View view(final int group)
    {
        final Change change = changes.get(group);
        return null == change ? null : change.view;
    }

    /** @return how far memory nodes are filled. */
    public FillReports fillReports()
    {
        return fillReports;
    }

    /** @return what is known of lost members. */
    public ReturningMembers returning()
    {
        return returning;
    }

    /**
     * A member was asked whether it is there.
     *
     * @param memoryNode who.
     * @param isThere    whether it has answered; else the connection to it has failed.
     * @param nowNs      the clock now.
     */
    public void onProbed(final PeerIdentity memoryNode, final boolean isThere, final long nowNs)
    {
        probes.onProbed(memoryNode, isThere, nowNs);
    }

    /**
     * A memory node has done what it was asked for. A survivor has closed a view: nothing lands there any more with a
     * key that was used under it, or under an attempt before this one to reconcile it. Or who is filled knows by whom.
     *
     * @param memoryNode who.
     * @param asked      with what: a view that is closing, or in which it is filled.
     */
    public void onConfirmed(final PeerIdentity memoryNode, final View asked)
    {
        final Change change = changes.get(asked.group());
        if (null != change && change.view.equals(asked) && (asked.isFilling() ? asked.entering().equals(memoryNode) :
            ViewState.CLOSING == asked.state() && asked.closers().contains(memoryNode)))
        {
            change.confirmed.add(memoryNode);
        }
    }

    /**
     * A compute node has left views: it posts nothing more under them, and answers nothing of them.
     *
     * @param computeNode who.
     * @param reported    for each group that it knows.
     */
    public void onLeft(final PeerIdentity computeNode, final List<LeftView> reported)
    {
        if (reported.isEmpty() || changes.isEmpty())
        {
            return;
        }

        final Map<Integer, Long> known = left.computeIfAbsent(computeNode, (_) -> new HashMap<>());
        reported.forEach((each) -> known.merge(each.group(), each.number(), Math::max));
    }

    /**
     * What became of an attempt to make the survivors equal. They are: the next view is on disk on return. Or who
     * reconciles does not know what became of a request of its own: it could land when the next view is active, so
     * another attempt is needed, which begins when the key of this one is closed. Or of an attempt to fill a memory
     * node: then the view is closed, or goes on without. Repeated, late or from another node it does nothing.
     *
     * @param computeNode who made them equal, or tried to; nothing of it is under way any more where they are.
     * @param attempt     for which it was named.
     * @param areEqual    whether they are.
     */
    public void onReconciled(final PeerIdentity computeNode, final ViewAttempt attempt, final boolean areEqual)
    {
        final Change change = changes.get(attempt.group());

        if (null == change || !ViewAttempt.of(change.view).equals(attempt) ||
            !change.view.reconciler().equals(computeNode))
        {
            return;
        }

        final View view = change.view;

        if (view.isFilling())
        {
            write(change, areEqual && !hasLostEntering(view) ? view.filled() : view.notFilling());
        }
        else if (ViewState.RECONCILING == view.state())
        {
            write(change, areEqual ? view.next() : view.closing(lostOf(view), leases.candidate(attempt.attempt())));
        }
    }

    /**
     * As {@link ReturningMembers#onReturned}: all keys of earlier incarnations of the memory node are closed.
     *
     * @param memoryNode under its present registration.
     * @param since      incarnation of it since which its memory has everything; 0: it does not say.
     */
    public void onReturned(final PeerIdentity memoryNode, final int since)
    {
        returning.onReturned(memoryNode, since);
    }

    /**
     * @param group which.
     * @return why it stays closed, when all its members are lost: for each what is known of it; else empty.
     */
    public String whyClosed(final int group)
    {
        final Change change = changes.get(group);

        return null == change || !change.view.isDeserted() ? "" : returning.whyClosed(change.view);
    }

    /** @return whether a view is under change, so that {@link #doWork} may have something to do. */
    boolean isChanging()
    {
        return changes.values().stream().anyMatch(this::isChanging);
    }

    /** Where all are lost, only a message of one that returns changes anything. */
    private boolean isChanging(final Change change)
    {
        return change.view.isFilling() ? !change.confirmed.contains(change.view.entering()) :
            ViewState.ACTIVE != change.view.state() && (!change.view.isDeserted() ||
            returning.whoReturns(change.view) < change.view.members().size());
    }

    /**
     * Does what is due: records who is lost, asks survivors to close, goes on to the next state. To be called when
     * leases were ended.
     *
     * @param nowNs  the clock now.
     * @param caller reaches memory nodes.
     * @return work done.
     */
    public int doWork(final long nowNs, final ViewCaller caller)
    {
        int workCount = changes.isEmpty() ? 0 : probes.poll(views(), nowNs, caller::probe);

        for (final Change change : changes.values())
        {
            workCount += drive(change, nowNs, caller);
        }

        probes.retain(leases::has);
        left.keySet().removeIf((node) -> !leases.has(node));
        returning.retain(leases::has);
        return workCount;
    }

    private int drive(final Change change, final long nowNs, final ViewCaller caller)
    {
        final View view = change.view;
        final int lost = lostOf(view) | probes.lostOf(view, nowNs);

        if (lost == view.lost() && view.isFilling())
        {
            return fill(change, nowNs, caller);
        }

        if (lost != view.lost() || hasLostEntering(view) ||
            ViewState.ACTIVE != view.state() && lacksReconciler(view))
        {
            write(change, view.closing(lost, leases.candidate(view.attempt())));
            return 1;
        }

        if (ViewState.CLOSING != view.state())
        {
            return 0;
        }

        final int member = returning.whoReturns(view);

        if (member < view.members().size())
        {
            write(change, view.returned(member, returning.present(view.members().get(member))));
            return 1;
        }

        if (view.isDeserted())
        {
            return sayWhy(change, nowNs);
        }

        if (mayReconcile(change))
        {
            write(change, view.reconciling());
            return 1;
        }

        return change.dueAtNs - nowNs <= 0 ? call(change, nowNs, caller) : 0;
    }

    /** Another compute node begins anew where who fills has ended: it copies only what differs. */
    private int fill(final Change change, final long nowNs, final ViewCaller caller)
    {
        final View view = change.view;

        if (hasLostEntering(view) || lacksReconciler(view))
        {
            final PeerIdentity named = leases.candidate(view.attempt());
            write(change, hasLostEntering(view) || named.equals(PeerIdentity.UNREGISTERED) ? view.notFilling() :
                view.filling(view.entering(), named));
            return 1;
        }

        if (change.confirmed.contains(view.entering()) || change.dueAtNs - nowNs > 0)
        {
            return 0;
        }

        change.dueAtNs = nowNs + retryNs;
        caller.fill(view.entering(), view);
        return 1;
    }

    /** Who comes in has ended: the next attempt is without it. */
    private boolean hasLostEntering(final View view)
    {
        return view.hasEntering() && !leases.has(view.entering());
    }

    private int sayWhy(final Change change, final long nowNs)
    {
        if (change.dueAtNs - nowNs <= 0)
        {
            final String why = whyClosed(change.view.group());
            change.dueAtNs = nowNs + retryNs;

            if (!why.equals(change.why))
            {
                change.why = why;
                listener.onStaysClosed(why);
            }
        }

        return 0;
    }

    /** All that could still change a word under this view, or an attempt before this one, is cut off; nobody reads. */
    private boolean mayReconcile(final Change change)
    {
        return haveClosed(change) && haveLeft(change.view) && leases.has(change.view.reconciler());
    }

    private static boolean haveClosed(final Change change)
    {
        return change.confirmed.containsAll(change.view.closers());
    }

    /** A node whose lease is over, with the margin, answers nothing; so only those that have one are waited for. */
    private boolean haveLeft(final View view)
    {
        final List<Member> all = members.members();

        for (int i = 0; i < all.size(); i++)
        {
            final Member member = all.get(i);

            if (member.isCompute() && member.isLive() && !hasLeft(member.node().identity(), view))
            {
                return false;
            }
        }

        return true;
    }

    private boolean hasLeft(final PeerIdentity computeNode, final View view)
    {
        return left.getOrDefault(computeNode, Map.of()).getOrDefault(view.group(), 0L) >= view.number();
    }

    private int call(final Change change, final long nowNs, final ViewCaller caller)
    {
        final View view = change.view;
        final List<PeerIdentity> silent = view.closers();
        silent.removeAll(change.confirmed);
        change.dueAtNs = nowNs + retryNs;

        if (++change.calls > MAX_CALLS && !silent.isEmpty() && !change.confirmed.isEmpty())
        {
            // It may live: then the next view is without it all the same, and so is whoever reads or writes.
            write(change, view.closing(view.places(silent), leases.candidate(view.attempt())));
            return 1;
        }

        // The answer may come within the call.
        silent.forEach((member) -> caller.close(member, view));
        return silent.size();
    }

    /** On disk first; then it is shown, and all that was confirmed for the record before is forgotten. */
    private void write(final Change change, final View next)
    {
        write(ledger.counters(), change, next);
    }

    private void write(final MetaCounters counters, final Change change, final View next)
    {
        ledger.commit(counters.withNextMembershipVersion(), new MetaBatch().view(next));
        change.view = next;
        forgetConfirmed(change);
        change.calls = 0;
        change.dueAtNs = Long.MIN_VALUE / 2;
        changes.put(next.group(), change);
        listener.onView(next);
    }

    private static void forgetConfirmed(final Change change)
    {
        change.confirmed.clear();
    }

    /** Members without a lease under the identity that the view has, and those that were lost before. */
    private int lostOf(final View view)
    {
        int lost = view.lost();

        for (int member = 0; member < view.members().size(); member++)
        {
            lost |= leases.has(view.members().get(member)) ? 0 : 1 << member;
        }

        return lost;
    }

    /** Whether another one is to be named: who was named has ended, or nobody could be. */
    private boolean lacksReconciler(final View view)
    {
        return !view.isDeserted() && !leases.has(view.reconciler()) &&
            (!view.reconciler().equals(PeerIdentity.UNREGISTERED) ||
            !leases.candidate(view.attempt()).equals(PeerIdentity.UNREGISTERED));
    }
}
