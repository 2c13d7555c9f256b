package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.limit.RaasLimit;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Registrations and their leases. One thread; time comes in. What it answers is on disk before it answers.
 *
 * <p>Identity is (node id, incarnation). Incarnations grow with each registration, through restarts, whatever the node.
 * Ids of compute nodes go round; ids of memory nodes are in table descriptors, so they stay taken for good. A writer
 * number goes round likewise and is never held by two registrations that count.
 *
 * <p>A compute node whose lease ended, or that left, is FENCING until {@link #forget}: it keeps its id and writer
 * number, and gets no lease again. A memory node whose lease ended is LOST, one that left is LEFT; both keep their id,
 * but their place in the cluster is free, and they need one when they come back. {@link #forgetMemory} makes them
 * FORGOTTEN: the id stays taken, because slots and tables may name it, and is never used again.
 *
 * <p>A spare is an identity that is on disk before somebody has it, so that assigning it takes no write. It is no
 * member. After a restart nobody knows which of them were assigned, so each counts as a member with a whole lease,
 * which is not renewed: whoever has it registers again. When a memory node comes back, all are replaced by later ones.
 */
public final class MembershipTable
{
    private final MetaLedger ledger;
    private final MembershipOptions options;
    private final Int2ObjectHashMap<Member> membersById = new Int2ObjectHashMap<>();
    private final List<Member> members = new ArrayList<>();
    private final NodeNumbers numbers = new NodeNumbers();
    private final Spares spares = new Spares();
    private int newestMemoryIncarnation;
    private boolean hadComputeNode;

    /**
     * @param ledger   the durable counters and the way to the store.
     * @param options  leases.
     * @param restored what the store knew; live nodes among them get a whole lease from now.
     * @param nowNs    the clock now.
     */
    public MembershipTable(
        final MetaLedger ledger, final MembershipOptions options, final List<StoredNode> restored, final long nowNs)
    {
        this.ledger = ledger;
        this.options = options;

        for (final StoredNode node : restored)
        {
            final boolean isSpare = StoredNodeState.SPARE == node.state();
            // Heard of by the server before this one, as far as this one knows: it may have admitted somebody.
            final Member member =
                new Member(isSpare ? node.withState(StoredNodeState.LIVE) : node, leaseEndNs(nowNs));
            member.isConfirmed = true;
            member.isPossible = isSpare;
            put(member);
        }
    }

    /**
     * Admits a new node. A memory node that asks again, because the answer did not reach it in time, keeps the id it
     * was given and gets a new incarnation: its memory would be used under two ids, and half of that lost with a lease
     * that nobody renews. So does whoever brings the memory id of a member, as in {@link #rejoin}: it does not know its
     * id, because this server was restarted before the answer, or that process before it wrote the id down.
     *
     * <p>A request that comes late looks the same, from a process that has become a member since and has not closed
     * anything. So a registration that was heard of passes that on: the memory may be in use, until fenced or left.
     *
     * @param announced what the node says of itself.
     * @param nowNs     the clock now.
     * @return the member, live.
     * @throws MembershipRefusedException when no more nodes fit.
     */
    public Member register(final NodeRegistration announced, final long nowNs)
    {
        final Member holder = holderOfMemory(announced);

        if (null != holder)
        {
            final Member member = rejoin(announced, holder.nodeId(), nowNs);
            member.isConfirmed = holder.isConfirmed && StoredNodeState.LEFT != holder.node.state();
            return member;
        }

        for (int i = 0; i < members.size(); i++)
        {
            if (isAskingAgain(announced, members.get(i)))
            {
                return admit(announced, members.get(i).nodeId(), false, nowNs);
            }
        }

        requirePlace();

        if (hasSpareFor(announced))
        {
            return assign(announced, nowNs);
        }

        return admit(announced, numbers.freeNodeId(ledger.counters().nextNodeId()), true, nowNs);
    }

    /**
     * @param announced what a node says of itself.
     * @return whether {@link #register} gives it a spare, and writes nothing.
     */
    public boolean hasSpareFor(final NodeRegistration announced)
    {
        // By which certificate it joins has to be on disk.
        return NodeRole.COMPUTE_NODE == announced.role() && !announced.isSpare() && 0 == announced.certificate() &&
            spares.count() > 0;
    }

    /** @return ids that are taken: numbers of groups are among them. */
    NodeNumbers numbers()
    {
        return numbers;
    }

    private Member assign(final NodeRegistration announced, final long nowNs)
    {
        final StoredNode spare = spares.take();
        final Member member = new Member(
            new StoredNode(record(announced, spare.nodeId(), spare.incarnation()), StoredNodeState.LIVE,
                spare.writerNumber(), 0), leaseEndNs(nowNs));
        ledger.move(ledger.counters().withNextMembershipVersion());
        put(member);
        spares.onAssigned(member);
        return member;
    }

    /**
     * @param wanted spares.
     * @return whether {@link #recordSpares} has something to write.
     */
    public boolean lacksSpares(final int wanted)
    {
        return spares.hasUnrecorded() || missingSpares(wanted) > 0;
    }

    /** No more than there are places for; none before the first compute node, since who knows whether one comes. */
    private int missingSpares(final int wanted)
    {
        final int numbersLeft = Math.min(
            Integer.MAX_VALUE - 1 - ledger.counters().nextIncarnation(), numbers.freeNodeIds() / 2);
        final int most = Math.min(Math.min(wanted, options.maxNodes() - places()), numbersLeft);
        return hadComputeNode ? most - spares.count() : 0;
    }

    /**
     * Writes down who got a spare, and as many new ones as are missing; all in one write.
     *
     * @param wanted spares.
     */
    public void recordSpares(final int wanted)
    {
        final MetaBatch batch = new MetaBatch();
        final List<StoredNode> removed = spares.record(batch);
        MetaCounters counters = ledger.counters();

        for (int missing = missingSpares(wanted); missing > 0; missing--)
        {
            final StoredNode spare = StoredNode.spare(
                numbers.freeNodeId(counters.nextNodeId()), counters.nextIncarnation(),
                numbers.freeWriterNumber(counters.nextWriterNumber()));
            counters = counters.afterSpare(spare.nodeId(), spare.writerNumber());
            batch.node(spare);
            spares.add(spare);
            numbers.take(spare);
        }

        // Only now: who removes a node and adds another one under its id in one batch does not say which comes first.
        removed.forEach(numbers::giveBack);
        ledger.commit(counters, batch);
    }

    /** Writes down that no spare is assigned any more: after an orderly end nobody has to wait for their leases. */
    public void releaseSpares()
    {
        final MetaBatch batch = new MetaBatch();
        spares.giveUp();
        spares.record(batch).forEach(numbers::giveBack);
        ledger.commit(ledger.counters(), batch);
    }

    /** @return identities that are nobody's yet and may be assigned any time, oldest first; a copy. */
    public List<PeerIdentity> spares()
    {
        return spares.list().stream().map(StoredNode::identity).toList();
    }

    /**
     * Admits a memory node again under the id it had, with a new incarnation: its memory is still the same. The node
     * must have closed every connection of its previous incarnation before it asks. While that incarnation has a lease,
     * only who brings the same memory id is let in: one process at a time has that memory, so the one before has ended.
     * Others might be copies of a node that lives; unless nothing was heard of that incarnation and the same node asks
     * again, which did not get the answer.
     *
     * @param announced what the node says of itself.
     * @param nodeId    the id it had.
     * @param nowNs     the clock now.
     * @return the member, live.
     * @throws MembershipRefusedException when that id is not a memory node's, or is in use.
     */
    public Member rejoin(final NodeRegistration announced, final int nodeId, final long nowNs)
    {
        final Member previous = membersById.get(nodeId);

        if (null == previous || previous.isCompute() || NodeRole.MEMORY_NODE != announced.role())
        {
            throw new MembershipRefusedException(
                Reason.UNKNOWN_NODE,
                "node " + nodeId + " is not a memory node of this cluster: register without an id");
        }

        if (StoredNodeState.FORGOTTEN == previous.node.state())
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE,
                "memory node " + nodeId + " was forgotten, and its memory is not part of the cluster any more: " +
                "start it with an empty data folder");
        }

        final boolean hasItsMemory = 0 != announced.memoryId() && announced.memoryId() == previous.node.memoryId();

        if (0 != previous.node.memoryId() && !hasItsMemory)
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE,
                "memory node " + nodeId + " has memory " + Long.toHexString(previous.node.memoryId()) + ", not " +
                Long.toHexString(announced.memoryId()) + ": start it with its own data folder, or without an id");
        }

        if (previous.isLive() && !hasItsMemory && !isAskingAgain(announced, previous))
        {
            throw new MembershipRefusedException(
                Reason.TRY_LATER,
                "memory node " + nodeId + " has a lease as incarnation " + previous.incarnation() +
                ": stop that process, or try again when the lease has ended, in " +
                (previous.leaseEndsNs - nowNs) / 1_000_000 + " ms");
        }

        if (!previous.isLive())
        {
            requirePlace();
        }

        return admit(announced, nodeId, false, nowNs);
    }

    /**
     * Renews a lease. A node that the server has not declared ended yet is renewed even if late: nobody acted on it.
     * But not one that was a spare when the server started: nobody knows where it is, so it has to register again.
     *
     * @param nodeId      who.
     * @param incarnation of which registration.
     * @param nowNs       when the request came in.
     * @return the member, or null when this registration has no lease any more and the node must stop.
     */
    public Member renew(final int nodeId, final int incarnation, final long nowNs)
    {
        final Member member = find(nodeId, incarnation);

        if (null == member || !member.isLive() || member.isPossible)
        {
            return null;
        }

        member.leaseEndsNs = leaseEndNs(nowNs);
        member.isConfirmed = true;
        return member;
    }

    /**
     * Ends a registration at its own wish. The node promises that nothing of it is in flight.
     *
     * @param nodeId      who.
     * @param incarnation of which registration.
     * @return the member, or null when this registration was not live.
     */
    public Member leave(final int nodeId, final int incarnation)
    {
        final Member member = find(nodeId, incarnation);

        if (null == member || !member.isLive())
        {
            return null;
        }

        change(member, member.isCompute() ? StoredNodeState.FENCING : StoredNodeState.LEFT);
        return member;
    }

    /**
     * Ends the leases whose time is over, by one write.
     *
     * @param nowNs the clock now.
     * @return members that were live until now.
     */
    List<Member> expire(final long nowNs)
    {
        final List<Member> ended =
            members.stream().filter((member) -> member.isLive() && member.leaseEndsNs - nowNs <= 0).toList();
        final MetaBatch batch = new MetaBatch();
        ended.forEach((member) -> batch.node(member.node.withState(stateAfterLease(member))));
        ledger.commit(ledger.counters().withNextMembershipVersion(), batch);
        ended.forEach((member) -> member.node = member.node.withState(stateAfterLease(member)));
        return ended;
    }

    /**
     * @param nowNs the clock now.
     * @return until the first lease ends; {@link Long#MAX_VALUE} when there is none.
     */
    public long leaseLeftNs(final long nowNs)
    {
        long leastNs = Long.MAX_VALUE;

        for (int i = 0; i < members.size(); i++)
        {
            final Member member = members.get(i);

            if (member.isLive())
            {
                leastNs = Math.min(leastNs, member.leaseEndsNs - nowNs);
            }
        }

        return leastNs;
    }

    /**
     * Gives every lease more time, when this server was itself away and could not hear its nodes.
     *
     * @param extensionNs how much.
     */
    public void extendLeases(final long extensionNs)
    {
        for (final Member member : members)
        {
            member.leaseEndsNs += extensionNs;
        }
    }

    /**
     * Forgets compute nodes that are fenced everywhere, by one write; their ids and writer numbers are free again.
     *
     * @param fenced without a lease.
     */
    void forget(final List<Member> fenced)
    {
        final MetaBatch batch = new MetaBatch();
        fenced.forEach((member) -> batch.removeNode(member.nodeId()));
        ledger.commit(batch);
        for (final Member member : fenced)
        {
            membersById.remove(member.nodeId());
            members.remove(member);
            numbers.giveBack(member.node);
        }
    }

    /**
     * Gives a memory node up for good. Durable; the second time changes nothing.
     *
     * @param nodeId of the memory node.
     * @return whether it was not forgotten before.
     * @throws MembershipRefusedException when there is no such memory node, or it has a lease.
     */
    boolean forgetMemory(final int nodeId)
    {
        final Member member = forgettable(nodeId);

        if (StoredNodeState.FORGOTTEN == member.node.state())
        {
            return false;
        }

        change(member, StoredNodeState.FORGOTTEN);
        return true;
    }

    /**
     * @param nodeId of a memory node.
     * @return the member, which has no lease.
     * @throws MembershipRefusedException when there is no such memory node, or it has a lease.
     */
    public Member forgettable(final int nodeId)
    {
        final Member member = membersById.get(nodeId);

        if (null == member || member.isCompute())
        {
            throw new MembershipRefusedException(
                Reason.UNKNOWN_NODE,
                "node " + nodeId + " is not a memory node of this cluster: './verbena status' lists the nodes");
        }

        if (member.isLive())
        {
            throw new MembershipRefusedException(
                Reason.IMPOSSIBLE,
                "memory node " + nodeId + " is alive and cannot be forgotten: stop its process, and wait until its " +
                "lease of " + options.leaseNs() / 1_000_000 + " ms has ended");
        }

        return member;
    }

    /**
     * @param nodeId to look for.
     * @return the member with this id, or null.
     */
    public Member member(final int nodeId)
    {
        return membersById.get(nodeId);
    }

    /** @return all registrations not forgotten, oldest first; read-only. */
    public List<Member> members()
    {
        return Collections.unmodifiableList(members);
    }

    /** @return highest incarnation of a memory node so far; 0 before the first. */
    public int newestMemoryIncarnation()
    {
        return newestMemoryIncarnation;
    }

    /** @return grows with each change of the set of live nodes, through restarts. */
    public long version()
    {
        return ledger.counters().membershipVersion();
    }

    /** @return places of nodes, and node ids, which memory nodes keep for good, with what is used of them. */
    public List<RaasLimit> limits()
    {
        return List.of(
            new RaasLimit("nodes", places(), options.maxNodes(), "--max-nodes"),
            new RaasLimit("identities", NodeNumbers.COUNT - numbers.freeNodeIds(), NodeNumbers.COUNT,
                "none: start a new cluster"));
    }

    /** @return how long the lease of a node lasts, as granted. */
    public long leaseNs()
    {
        return options.leaseNs();
    }

    /** The memory node that was registered with the same memory, or null. */
    private Member holderOfMemory(final NodeRegistration announced)
    {
        if (NodeRole.MEMORY_NODE != announced.role() || 0 == announced.memoryId())
        {
            return null;
        }

        for (int i = 0; i < members.size(); i++)
        {
            final Member member = members.get(i);

            if (!member.isCompute() && member.node.memoryId() == announced.memoryId())
            {
                return member;
            }
        }

        return null;
    }

    /** Whether it is a memory node that never heard that it is registered: then it has admitted nobody. */
    private static boolean isAskingAgain(final NodeRegistration announced, final Member member)
    {
        final StoredNode node = member.node;
        return NodeRole.MEMORY_NODE == announced.role() && NodeRole.MEMORY_NODE == node.role() &&
            member.isLive() && !member.isConfirmed &&
            node.record().device().equals(announced.device()) &&
            node.record().servicePort() == announced.servicePort() &&
            node.record().region().equals(announced.region()) && node.memoryId() == announced.memoryId();
    }

    private Member admit(
        final NodeRegistration announced, final int nodeId, final boolean isNewId, final long nowNs)
    {
        final MetaCounters counters = ledger.counters();

        if (Integer.MAX_VALUE == counters.nextIncarnation())
        {
            throw new MembershipRefusedException(Reason.EXHAUSTED, "all incarnations are used up: start a new cluster");
        }

        final int writerNumber =
            NodeRole.COMPUTE_NODE == announced.role() ? numbers.freeWriterNumber(counters.nextWriterNumber()) : 0;
        final StoredNode node = new StoredNode(record(announced, nodeId, counters.nextIncarnation()),
            announced.isSpare() ? StoredNodeState.STANDBY : StoredNodeState.LIVE, writerNumber, announced.memoryId(),
            announced.certificate(), announced.failureDomain());
        ledger.commit(counters.afterRegistration(isNewId ? nodeId : 0, writerNumber), new MetaBatch().node(node));

        if (NodeRole.MEMORY_NODE == announced.role() && !isNewId)
        {
            // Its memory may come from a checkpoint. Compute nodes that are older than that register anew, and would do
            // so again and again under identities that are older, too.
            spares.giveUp();
        }

        final Member member = new Member(node, leaseEndNs(nowNs));
        put(member);
        return member;
    }

    private static PeerRecord record(final NodeRegistration announced, final int nodeId, final int incarnation)
    {
        return new PeerRecord(nodeId, incarnation, 0, announced.role(), announced.device(), announced.servicePort(),
            announced.region(), announced.readTarget(), announced.tcpService());
    }

    void change(final Member member, final StoredNodeState state)
    {
        final StoredNode changed = member.node.withState(state);
        ledger.commit(ledger.counters().withNextMembershipVersion(), new MetaBatch().node(changed));
        member.node = changed;
    }

    /** A memory node admits nobody before its first heartbeat, so one that was never heard of delays no fence. */
    private static StoredNodeState stateAfterLease(final Member member)
    {
        if (member.isCompute())
        {
            return StoredNodeState.FENCING;
        }

        return member.isConfirmed ? StoredNodeState.LOST : StoredNodeState.LEFT;
    }

    private void put(final Member member)
    {
        final Member previous = membersById.put(member.nodeId(), member);
        members.remove(previous);
        members.add(member);
        numbers.take(member.node);

        hadComputeNode |= member.isCompute();

        if (!member.isCompute())
        {
            newestMemoryIncarnation = Math.max(newestMemoryIncarnation, member.incarnation());
        }
    }

    private Member find(final int nodeId, final int incarnation)
    {
        final Member member = membersById.get(nodeId);
        return null != member && member.incarnation() == incarnation ? member : null;
    }

    /** Memory nodes that are lost, left or forgotten take no place; nor does who may be there, or not. */
    private int places()
    {
        int places = 0;

        for (int i = 0; i < members.size(); i++)
        {
            final Member member = members.get(i);
            places += !member.isPossible && (member.isLive() || member.isCompute()) ? 1 : 0;
        }

        return places;
    }

    private void requirePlace()
    {
        final int places = places();

        if (places >= options.maxNodes())
        {
            throw new MembershipRefusedException(
                Reason.EXHAUSTED,
                "the cluster is full: " + places + " of " + options.maxNodes() +
                " nodes; stop a node, or start the meta server with a larger --max-nodes");
        }
    }

    /** @return the end of a lease that is granted at that moment. */
    long leaseEndNs(final long nowNs)
    {
        return nowNs + options.leaseNs() + options.marginNs();
    }
}
