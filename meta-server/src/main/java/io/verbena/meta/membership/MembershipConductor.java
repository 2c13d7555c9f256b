package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.meta.store.StoredSecrets;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;

/**
 * Puts registrations, epochs and fencing together. How a compute node comes and goes: it registers and counts for the
 * epoch; it leaves or its lease ends; every memory node is asked to cut it off. When all have, or all but lost ones
 * that nobody uses ({@link LostMemoryNodes}), it stops counting; when all have, its id and writer number are free. One
 * thread; time comes in; after a failed durable write, {@link io.verbena.meta.store.DurableWriteError}, nothing more
 * may be asked of it.
 */
public final class MembershipConductor
{
    /** A server that was away for more than this part of a lease could not hear its nodes, and must not blame them. */
    private static final int AWAY_FRACTION = 8;

    private final MetaLedger ledger;
    private final MembershipTable table;
    private final EpochKeeper epochs;
    private final ViewConductor views;
    private final ConductorOptions options;
    private final MembershipListener listener;
    private final List<FencingRound> rounds = new ArrayList<>();
    private final LostMemoryNodes lostMemory;
    private long lastWorkNs;
    /** Who is to be announced when all are durable; null outside of {@link #together}. */
    private List<Member> joinedTogether;

    /**
     * Takes up where the store's last user left off.
     *
     * @param ledger   the store's counters.
     * @param state    as loaded.
     * @param options  how to run.
     * @param listener notified of changes from now on; not of what was restored.
     * @param nowNs    the clock now.
     */
    public MembershipConductor(
        final MetaLedger ledger,
        final MetaState state,
        final ConductorOptions options,
        final MembershipListener listener,
        final long nowNs)
    {
        this.ledger = ledger;
        this.options = options;
        this.listener = listener;
        this.lastWorkNs = nowNs;
        table = new MembershipTable(
            ledger, options.membership(), options.nodesAreGone() ? gone(ledger, state) : state.nodes(), nowNs);
        if (state.spares() > 0)
        {
            // Each of them may have been assigned since, and the version that followed was announced and not written.
            ledger.commit(ledger.counters().withLaterMembershipVersion(state.spares()), new MetaBatch());
        }

        epochs = new EpochKeeper(
            ledger, !state.isNew(), options.epochIntervalNs(), options.idleEpochIntervalNs(), nowNs);

        views = new ViewConductor(
            ledger, table, options.nodesAreGone() ? List.of() : state.views(), listener,
            options.fenceRetryNs());

        lostMemory =
            new LostMemoryNodes(table, options.membership().leaseNs(), options.fenceRetryNs(), nowNs);

        for (final Member member : table.members())
        {
            restore(member, nowNs);
        }
    }

    /**
     * Opens the ledger of a store, writing the first counters into a new one, and the secret where there is none.
     *
     * @param store     open.
     * @param state     as loaded from it.
     * @param clusterId for a new store; not 0.
     * @param secret    from what those of nodes are derived, for a store that has none.
     * @return the ledger.
     */
    public static MetaLedger openLedger(
        final MetaStore store, final MetaState state, final long clusterId, final StoredSecrets secret)
    {
        final MetaLedger ledger = new MetaLedger(store, state.counters());

        if (state.isNew() || null == state.secret())
        {
            // The counters along with it: in the present format, so that an earlier build says what is the matter.
            ledger.commit(
                state.isNew() ? MetaCounters.initial(clusterId) : state.counters(), new MetaBatch().secret(secret));
        }

        return ledger;
    }

    /**
     * Admits a new node; see {@link MembershipTable#register}.
     *
     * @param announced what the node says of itself.
     * @param nowNs     when the request came in.
     * @return the member, live.
     */
    public Member register(final NodeRegistration announced, final long nowNs)
    {
        final Member member = table.register(announced, nowNs);

        if (member.isCompute())
        {
            epochs.join(member.nodeId());
        }
        else if (!member.isConfirmed())
        {
            // One that asks again has admitted nobody yet. Where that is not known, it is asked to fence.
            settle(member.nodeId());
        }

        announce(member);
        return member;
    }

    /**
     * Admits nodes together: what they get is durable by one write, before this returns and before anybody is notified
     * of one of them.
     *
     * @param registrations registers, and rejoins, what there is; nothing else.
     */
    public void together(final Runnable registrations)
    {
        joinedTogether = new ArrayList<>();
        final List<Member> joined = joinedTogether;
        try
        {
            ledger.together(registrations);
        }
        finally
        {
            joinedTogether = null;
        }
        joined.forEach(listener::onJoined);
    }

    /**
     * Records who was given a spare since, and new spares for those that are missing: one write, if any. Until then
     * they are spares on disk, which count as assigned.
     *
     * @param wanted spares.
     * @return whether something was written.
     */
    public boolean recordSpares(final int wanted)
    {
        final boolean isLacking = table.lacksSpares(wanted);

        if (isLacking)
        {
            table.recordSpares(wanted);
        }

        return isLacking;
    }

    private void announce(final Member member)
    {
        if (null == joinedTogether)
        {
            listener.onJoined(member);
        }
        else
        {
            joinedTogether.add(member);
        }
    }

    /**
     * Admits a memory node again; see {@link MembershipTable#rejoin}. It closed its old connections first and admits
     * only members from now on, so it lets in nobody who is being fenced.
     *
     * @param announced what the node says of itself.
     * @param nodeId    the id it had.
     * @param nowNs     when the request came in.
     * @return the member, live.
     */
    public Member rejoin(final NodeRegistration announced, final int nodeId, final long nowNs)
    {
        final Member member = table.rejoin(announced, nodeId, nowNs);
        settle(nodeId);
        announce(member);
        return member;
    }

    /**
     * Renews a lease and takes the node's word on epochs.
     *
     * @param nodeId      who.
     * @param incarnation of which registration.
     * @param passedEpoch for a compute node: every operation begun before it heard of the next epoch has ended.
     * @param nowNs       when the request came in.
     * @return the member.
     * @throws MembershipRefusedException when this registration has no lease any more, or claims what cannot be.
     */
    public Member heartbeat(final int nodeId, final int incarnation, final long passedEpoch, final long nowNs)
    {
        final Member member = table.renew(nodeId, incarnation, nowNs);

        if (null == member)
        {
            throw new MembershipRefusedException(
                Reason.UNKNOWN_NODE,
                "node " + nodeId + " incarnation " + incarnation +
                " has no lease: stop using memory nodes and register again");
        }

        if (member.isCompute() && !epochs.onPassed(nodeId, passedEpoch))
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE,
                "node " + nodeId + " says it passed epoch " + passedEpoch + ", but the epoch is " + epochs.epoch() +
                ": it belongs to another cluster, or is broken");
        }

        return member;
    }

    /**
     * A compute node with a lease has left lost memory nodes: it posts nothing to these incarnations any more, nor to
     * earlier ones, connects to them never again, and nothing rests on what it posted before.
     *
     * @param computeNode who.
     * @param memoryNodes which; none where it has left none.
     */
    public void onLeft(final PeerIdentity computeNode, final List<PeerIdentity> memoryNodes)
    {
        lostMemory.onLeft(computeNode, memoryNodes);
    }

    /** @return lost memory nodes that compute nodes are to leave, and to report then; immutable. */
    public List<PeerIdentity> memoryNodesToLeave()
    {
        return lostMemory.toLeave();
    }

    /**
     * Has clients sent to a node on standby. Durable; the second time changes nothing.
     *
     * @param nodeId      who.
     * @param incarnation of which registration.
     * @throws MembershipRefusedException when this registration has no lease, or is no compute node.
     */
    public void activate(final int nodeId, final int incarnation)
    {
        final Member member = table.member(nodeId);

        if (null == member || member.incarnation() != incarnation || !member.isLive())
        {
            throw new MembershipRefusedException(
                Reason.UNKNOWN_NODE, "node " + nodeId + " incarnation " + incarnation +
                " has no lease, so it cannot be activated: take another one");
        }

        if (!member.isCompute())
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE, "node " + nodeId + " is a memory node: compute nodes are activated");
        }

        if (member.isStandby())
        {
            table.change(member, StoredNodeState.LIVE);
            listener.onActivated(member);
        }
    }

    /**
     * Ends a registration at its own wish.
     *
     * @param nodeId      who.
     * @param incarnation of which registration.
     * @param nowNs       when the request came in.
     * @return whether it was live until now.
     */
    public boolean leave(final int nodeId, final int incarnation, final long nowNs)
    {
        final Member member = table.leave(nodeId, incarnation);

        if (null != member)
        {
            onEnded(member, nowNs);
        }

        return null != member;
    }

    /**
     * Gives a memory node that has no lease up for good: it is never admitted again, no fence waits for it, and nobody
     * uses its memory any more. So what a fenced compute node may still write there harms nobody.
     *
     * @param nodeId of the memory node.
     * @return whether it was not forgotten before.
     * @throws MembershipRefusedException when there is no such memory node, or it has a lease.
     */
    public boolean forgetMemory(final int nodeId)
    {
        final boolean isNew = table.forgetMemory(nodeId);
        settle(nodeId);
        return isNew;
    }

    /**
     * Ends leases, drives fencing and epochs. Requests that came in meanwhile must have been handled before, else a
     * node would be blamed for this server's own delay.
     *
     * @param nowNs  the clock now.
     * @param caller reaches memory nodes.
     * @return work done.
     */
    public int doWork(final long nowNs, final FencingRound.FenceCaller caller)
    {
        final long awayNs = nowNs - lastWorkNs;
        lastWorkNs = nowNs;

        if (awayNs > options.membership().leaseNs() / AWAY_FRACTION)
        {
            table.extendLeases(awayNs);
        }

        int workCount = expire(nowNs);
        workCount += driveRounds(nowNs, caller);
        workCount += lostMemory.poll(rounds, nowNs) ? passOver() : 0;
        return epochs.advance(nowNs) ? workCount + 1 : workCount;
    }

    private int expire(final long nowNs)
    {
        if (table.leaseLeftNs(nowNs) > 0)
        {
            return 0;
        }

        final List<Member> ended = table.expire(nowNs);
        ended.forEach((member) -> onEnded(member, nowNs));
        return ended.size();
    }

    /**
     * @param nowNs the clock now.
     * @return how long {@link #doWork} has nothing to do, if no request comes; 0 while epochs wait for somebody to be
     *     fenced, or a view is changed. At most half of what counts as having been away, so that a sleep that was
     *     meant, and ends late, lengthens no lease.
     */
    public long idleNs(final long nowNs)
    {
        if (views.isChanging() || rounds.stream().anyMatch(FencingRound::delaysEpochs))
        {
            return 0;
        }

        final long askAgainNs = rounds.isEmpty() ? Long.MAX_VALUE : options.fenceRetryNs();
        final long dueNs = Math.min(askAgainNs, Math.min(table.leaseLeftNs(nowNs), epochs.idleNs(nowNs)));
        return Math.clamp(dueNs, 0, options.membership().leaseNs() / (2 * AWAY_FRACTION));
    }

    /** Somebody waits for the next epoch. */
    public void wantEpoch()
    {
        epochs.want();
    }

    /** @return whether somebody waits for the next epoch. */
    public boolean isEpochWanted()
    {
        return epochs.isWanted();
    }

    /**
     * Says whether a node that rests should hear something before its next heartbeat is due: that its registration has
     * ended, another version, an epoch that somebody waits for.
     *
     * @param nodeId       who.
     * @param incarnation  of which registration.
     * @param knownEpoch   the newest that it has heard of.
     * @param knownVersion heard with it.
     * @return whether there are news for it.
     */
    public boolean hasChanges(final int nodeId, final int incarnation, final long knownEpoch, final long knownVersion)
    {
        final Member member = table.member(nodeId);
        return null == member || member.incarnation() != incarnation || !member.isLive() ||
            table.version() != knownVersion || epochs.isWaitedFor(nodeId, knownEpoch);
    }

    /** @return the registrations. */
    public MembershipTable table()
    {
        return table;
    }

    /** @return the views of groups of memory nodes; none where nothing has made a group. */
    public ViewConductor views()
    {
        return views;
    }

    /** @return the epoch now. */
    public long epoch()
    {
        return epochs.epoch();
    }

    /** @return see {@link EpochKeeper#safeEpoch}. */
    public long safeEpoch()
    {
        return epochs.safeEpoch();
    }

    /** @return see {@link EpochKeeper#passedEpochs}. */
    public SortedMap<Integer, Long> passedEpochs()
    {
        return epochs.passedEpochs();
    }

    /** @return fencing not complete yet, oldest first; not to be changed. */
    public List<FencingRound> rounds()
    {
        return rounds;
    }

    /** Forgets compute nodes; memory nodes keep their ids, which tables may name, but delay no fence. */
    private static List<StoredNode> gone(final MetaLedger ledger, final MetaState state)
    {
        final MetaBatch batch = new MetaBatch();
        final List<StoredNode> kept = new ArrayList<>();

        for (final StoredNode node : state.nodes())
        {
            if (StoredNodeState.FORGOTTEN == node.state())
            {
                kept.add(node);
            }
            else if (NodeRole.MEMORY_NODE == node.role())
            {
                final StoredNode left = node.withState(StoredNodeState.LEFT);
                batch.node(left);
                kept.add(left);
            }
            else
            {
                batch.removeNode(node.nodeId());
            }
        }

        // Their tables are gone with the memory.
        state.views().forEach((view) -> batch.removeView(view.group()));
        ledger.commit(ledger.counters().withNextMembershipVersion(), batch);
        return kept;
    }

    private void restore(final Member member, final long nowNs)
    {
        if (!member.isCompute())
        {
            return;
        }

        epochs.restore(member.nodeId());

        if (!member.isLive())
        {
            beginRound(member, nowNs);
        }
    }

    private void onEnded(final Member member, final long nowNs)
    {
        if (member.isCompute())
        {
            beginRound(member, nowNs);
        }
        else if (StoredNodeState.LEFT == member.node().state())
        {
            settle(member.nodeId());
        }

        listener.onEnded(member);
    }

    /** A memory node that registers later refuses whoever is not a member then, so it need not be notified. */
    private void beginRound(final Member member, final long nowNs)
    {
        final FencingRound round = new FencingRound(member.nodeId(), member.incarnation(), options.fenceRetryNs());

        for (final Member other : table.members())
        {
            if (other.mayAdmit())
            {
                round.addTarget(other.nodeId(), nowNs);
            }
        }

        rounds.add(round);
    }

    private void settle(final int memoryNodeId)
    {
        for (final FencingRound round : rounds)
        {
            round.settle(memoryNodeId);
        }
    }

    private int driveRounds(final long nowNs, final FencingRound.FenceCaller caller)
    {
        int workCount = 0;
        int completeCount = 0;

        for (int i = rounds.size() - 1; i >= 0; i--)
        {
            workCount += rounds.get(i).doWork(nowNs, caller);
            completeCount += rounds.get(i).isComplete() ? 1 : 0;
        }

        if (completeCount > 0)
        {
            complete();
        }
        return workCount + completeCount;
    }

    /** Epochs pass without nodes that are cut off wherever somebody uses memory; else they are what they were. */
    private int passOver()
    {
        int workCount = 0;

        for (int i = 0; i < rounds.size(); i++)
        {
            final FencingRound round = rounds.get(i);

            if (round.delaysEpochs() && lostMemory.haveBeenLeft(round))
            {
                round.letEpochsPass();
                epochs.release(round.nodeId());
                listener.onPassedOver(table.member(round.nodeId()));
                workCount++;
            }
        }

        return workCount;
    }

    /** Nodes that end together are forgotten together. */
    private void complete()
    {
        final List<Member> fenced = rounds.stream().filter(FencingRound::isComplete)
            .map((round) -> table.member(round.nodeId())).toList();
        table.forget(fenced);
        rounds.removeIf(FencingRound::isComplete);

        for (final Member member : fenced)
        {
            epochs.release(member.nodeId());
            // Nodes look for chunks without an owner when they hear a new epoch.
            epochs.want();
            listener.onFenced(member);
        }
    }
}
