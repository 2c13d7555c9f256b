package io.verbena.compute.group;

import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.memory.MemoryLinks;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.mirror.GroupMembers;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.BatchListener;
import io.verbena.raas.OneSidedPort;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.failure.Backoff;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.mirror.LastMemberPort;
import io.verbena.table.mirror.MirrorPort;

import org.agrona.collections.Int2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The way of a node to the memory of a group: a port to all members of its view, made when the view is active and every
 * member is connected, and left at once when a later view is heard of or a member does not answer. The engine has it
 * in the place of a memory node whose id is the number of the group. Owned by the node's thread.
 *
 * <p>Over virtual queue pairs of its own, which share the queue pairs of {@link MemoryLink}s: it waits for those to be
 * connected with a key.
 */
public final class GroupLink implements AutoCloseable
{
    private enum State
    {
        /** For an active view, and for its members to be connected. */
        WAITING,
        CONNECTING, READY,
        /** Nothing more is posted or answered; some of what was posted is under way. */
        LEAVING
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(GroupLink.class);
    /** Longest pause before the first new attempt in a view: 2 ms; each further one twice as long. */
    private static final long MIN_PAUSE_NS = 2_000_000;
    private static final long MAX_PAUSE_NS = 128_000_000;
    private static final VirtualQp[] NONE = {};

    private final SessionParts session;
    private final MemoryLinks links;
    private final TableEngine engine;
    private final int group;
    private final Backoff backoff;
    private final GroupChunks chunks;
    private final GroupReclaimer reclaimer;
    private View newest;
    private View view;
    private State state = State.WAITING;
    /** Of the last port that the engine had; null before the first. */
    private View lastView;
    private VirtualQp[] members = NONE;
    /** Of the view of the port: to its primary, which shows what is closed. */
    private MemoryLink primary;
    private BooleanSupplier isSeen;
    private MirrorPort mirror;
    private OneSidedPort port;
    private RegionAccess observerAccess;
    private boolean isAttached;
    /** Of completions, in which the lease was looked at last. */
    private long leaseRound = -1;
    private boolean heldLease;
    private long retryAtNs;
    private String failure = "";

    /**
     * @param links to the memory nodes, to which those of the group are added.
     * @param newest view that is known.
     */
    GroupLink(final SessionParts session, final MemoryLinks links, final View newest)
    {
        this.session = session;
        this.links = links;
        this.newest = newest;
        engine = session.engine();
        group = newest.group();
        backoff = new Backoff(MIN_PAUSE_NS, MAX_PAUSE_NS, session.raas().device().random());
        retryAtNs = session.raas().clock().nanoTime();
        chunks = new GroupChunks(
            engine, group, session.numbers(), session.timeoutNs(), session.metaLink()::retryBackoff, retryAtNs);
        reclaimer = new GroupReclaimer(session, group, chunks);
        engine.suspend(group, true);
        engine.unreachable(group, newest.isDeserted());
    }

    /** @return number of the group. */
    public int group()
    {
        return group;
    }

    /** @return the newest view that is known. */
    public View newest()
    {
        return newest;
    }

    /** @return whether its memory can be used now. */
    public boolean isReady()
    {
        return State.READY == state;
    }

    /** @return the view of the port; while {@link #isReady()}. */
    public View view()
    {
        return view;
    }

    /** @return the port; while {@link #isReady()}. */
    public OneSidedPort port()
    {
        return port;
    }

    /**
     * @return to read and swap words with, by the node's thread, beside operations; another one for each port. What is
     *     under way when the port is left never ends.
     */
    public RegionAccess observerAccess()
    {
        if (null == observerAccess)
        {
            observerAccess = new RegionAccess(session.raas().protectionDomain(), MemoryLink.OBSERVER_COOKIE);
        }
        return observerAccess;
    }

    /** @return where its chunks come from. */
    public GroupChunks chunks()
    {
        return chunks;
    }

    /** Looks which leases its chunks have. @return whether that is known as of now, or the group cannot be used. */
    BooleanSupplier look()
    {
        return isReady() ? links.byId().get(view.members().getLast().nodeId()).lookAgain() : () -> true;
    }

    /** @return by which leases its chunks are had now: own ones, and what was seen last at connected members. */
    KnownLeases known()
    {
        final List<ChunkView> looks = new ArrayList<>();
        for (final PeerIdentity member : newest.members())
        {
            final MemoryLink link = links.byId().get(member.nodeId());
            if (null != link && link.isReady() && link.identity().equals(member))
            {
                looks.add(link.chunkView());
            }
        }
        final Int2ObjectHashMap<MirroredChunk> own = chunks.ownIndexes();
        return looks.isEmpty() ? KnownLeases.NONE :
            KnownLeases.ofGroup(group, (offset) -> latest(offset, looks, own));
    }

    private MirroredChunk latest(
        final long offset, final List<ChunkView> looks, final Int2ObjectHashMap<MirroredChunk> own)
    {
        final int index = looks.getFirst().index(offset);
        MirroredChunk latest = own.get(index);
        for (final ChunkView look : looks)
        {
            if (look.group(index) == group)
            {
                latest = KnownLeases.later(latest, new MirroredChunk(group, look.groupView(index), index,
                    look.chunkLengthBytes(), look.groupCount(index)));
            }
        }
        return latest;
    }

    /** @return what brings back memory that nobody uses any more. */
    GroupReclaimer reclaimer()
    {
        return reclaimer;
    }

    /** @return why it is not ready; empty while it is. */
    public String failure()
    {
        return failure;
    }

    /** @return whether something that may go on at any moment is under way. */
    boolean isWaiting()
    {
        return State.CONNECTING == state || State.LEAVING == state || chunks.isBusy() || reclaimer.isBusy();
    }

    /** @return when a pause ends, or {@link Long#MAX_VALUE} when there is none. */
    long retryAtNs()
    {
        return State.WAITING == state && ViewState.ACTIVE == newest.state() ? retryAtNs : Long.MAX_VALUE;
    }

    /** A later view was heard of. */
    void onView(final View later)
    {
        final boolean isSameView = ViewState.ACTIVE == later.state() && later.number() == newest.number();
        newest = later;
        if (isSameView)
        {
            return; // a memory node is filled, or is not any more: the members are the same
        }
        engine.unreachable(group, later.isDeserted());
        if (null != view)
        {
            leave("view " + view.number() + " is over");
        }
        backoff.reset();
        retryAtNs = session.raas().clock().nanoTime();
    }

    /** Posts until the lease ends, and nothing afterwards. */
    void onLeaseRenewed()
    {
        for (final VirtualQp member : members)
        {
            member.grantedUntil(session.leaseEndsNs().getAsLong());
        }
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    int poll(final long nowNs)
    {
        return switch (state)
        {
            case WAITING -> pollWaiting(nowNs);
            case CONNECTING -> pollConnecting(nowNs);
            case READY -> pollReady(nowNs);
            case LEAVING -> pollLeaving();
        };
    }

    private int pollWaiting(final long nowNs)
    {
        if (ViewState.ACTIVE != newest.state() || retryAtNs - nowNs > 0)
        {
            return 0;
        }
        for (final PeerIdentity member : newest.members())
        {
            if (!isConnected(member))
            {
                failure = "group " + group + ": memory node " + member.nodeId() + " is not connected";
                retryAtNs = nowNs + MIN_PAUSE_NS;
                return 0;
            }
        }
        view = newest;
        members = new VirtualQp[view.members().size()];
        state = State.CONNECTING;
        for (int member = 0; member < members.length; member++)
        {
            members[member] = connect(member);
        }
        onLeaseRenewed();
        primary = links.byId().get(view.members().getLast().nodeId());
        primary.watch().add(engine.allocator(group));
        isSeen = primary.lookAgain();
        return 1;
    }

    private boolean isConnected(final PeerIdentity member)
    {
        links.add(session, member.nodeId());
        final MemoryLink link = links.byId().get(member.nodeId());
        return link.isReady() && link.identity().equals(member);
    }

    private VirtualQp connect(final int member)
    {
        final MemoryLink link = links.byId().get(view.members().get(member).nodeId());
        return session.raas().connect(link.record().address(), ReadTargetAddress.NONE, link.record().region(),
            (vqp, cookie, status) -> onComplete(cookie, status), session.timeoutNs());
    }

    private void onComplete(final int cookie, final int status)
    {
        final int counted = BatchListener.OUTCOME_UNKNOWN == status || !heldLease() ?
            WorkCompletionStatus.WR_FLUSH_ERR : status;
        if (null != mirror)
        {
            mirror.onMemberComplete(cookie, counted);
        }
        else
        {
            onBatchComplete(cookie, counted);
        }
    }

    /**
     * A member that is lost may serve READs still, so nothing counts that comes without a lease. What was complete when
     * the clock was read needs no other look at it.
     */
    private boolean heldLease()
    {
        final long round = session.raas().completionRounds();
        if (round != leaseRound)
        {
            leaseRound = round;
            heldLease = session.holdsLease().getAsBoolean();
        }
        return heldLease;
    }

    private void onBatchComplete(final int cookie, final int status)
    {
        if (GroupReclaimer.COOKIE == cookie)
        {
            reclaimer.onComplete(status);
        }
        else if (MemoryLink.OBSERVER_COOKIE == cookie)
        {
            observerAccess.onComplete(status);
        }
        else
        {
            engine.onBatchComplete(cookie, status);
        }
    }

    private int pollConnecting(final long nowNs)
    {
        boolean areConnected = true;
        for (final VirtualQp member : members)
        {
            if (isUnusable(member))
            {
                giveUp(member, nowNs);
                return 1;
            }
            areConnected &= member.carriesWrites();
        }
        for (final PeerIdentity member : view.members())
        {
            areConnected &= isConnected(member);
        }
        // Nothing is done here before it is known which chunks are closed.
        if (!areConnected || !isSeen.getAsBoolean())
        {
            return 0;
        }
        mirror = 1 == members.length ? null : new MirrorPort(
            session.raas().protectionDomain(), view.number(), members, this::onBatchComplete);
        port = null == mirror ? new LastMemberPort(members[0]) : mirror;
        engine.attach(group, port, mayHaveNewMember());
        lastView = view;
        engine.suspend(group, false);
        isAttached = true;
        final GroupMembers ascending = leasing();
        chunks.begin(view.number(), ascending, primary.superblock());
        reclaimer.begin(ascending, port, view.members().stream()
            .map((member) -> links.byId().get(member.nodeId())).toList());
        failure = "";
        state = State.READY;
        LOGGER.info("reached: group {}, view={}, members={}", group, view.number(), view.members());
        return 1;
    }

    /**
     * Whether what was written under the last port may not be on a member: another incarnation of a memory node may
     * have other memory, and who is a member now may have been none in a view between.
     */
    private boolean mayHaveNewMember()
    {
        return null != lastView && (view.number() > lastView.number() + 1 ||
            !lastView.members().containsAll(view.members()));
    }

    /** Also one over which the peer grants nothing: it has closed a view. */
    private static boolean isUnusable(final VirtualQp member)
    {
        return VirtualQp.State.FAILED == member.state() ||
            member.carriesWrites() && member.peerRegions().isEmpty();
    }

    private int pollReady(final long nowNs)
    {
        for (final VirtualQp member : members)
        {
            if (isUnusable(member))
            {
                giveUp(member, nowNs);
                return 1;
            }
        }
        backoff.reset();
        return (null == mirror ? 0 : mirror.poll()) + chunks.poll(nowNs) + reclaimer.poll(nowNs);
    }

    /** The view may be active still, and the member may answer again. */
    private void giveUp(final VirtualQp member, final long nowNs)
    {
        leave(member.failure().isEmpty() ? member.peer() + ": it has closed a view" : member.failure());
        retryAtNs = nowNs + backoff.nextPauseNs();
    }

    /** From here on nothing is posted, and nothing answered that was. */
    private void leave(final String why)
    {
        failure = "group " + group + ": " + why;
        view = null;
        state = State.LEAVING;
        engine.suspend(group, true);
        chunks.end();
        reclaimer.end();
        primary.watch().remove(engine.allocator(group));
        if (null != mirror)
        {
            mirror.leave();
        }
        for (final VirtualQp member : members)
        {
            if (null != member)
            {
                member.close();
            }
        }
    }

    /** READs under way still change local memory. */
    private int pollLeaving()
    {
        for (final VirtualQp member : members)
        {
            if (0 != member.outstandingBatches())
            {
                return 0;
            }
        }
        if (isAttached)
        {
            engine.detach(group);
            isAttached = false;
        }
        reclaimer.ended();
        release();
        state = State.WAITING;
        return 1;
    }

    private void release()
    {
        if (null != mirror)
        {
            mirror.close();
        }
        mirror = null;
        port = null;
        members = NONE;
        if (null != observerAccess)
        {
            observerAccess.close();
        }
        observerAccess = null;
    }

    /** @return the members of the view, for leases of chunks; while {@link #isReady()}. */
    GroupMembers leasing()
    {
        final List<PeerIdentity> ascending =
            view.members().stream().sorted(Comparator.comparingInt(PeerIdentity::nodeId)).toList();
        final int primary = ascending.indexOf(view.members().getLast());
        return new GroupMembers()
        {
            @Override
            public int count()
            {
                return ascending.size();
            }

            @Override
            public int primary()
            {
                return primary;
            }

            @Override
            public MemoryNodeClient client(final int member)
            {
                final MemoryLink link = links.byId().get(ascending.get(member).nodeId());
                return link.isReady() && link.identity().equals(ascending.get(member)) ? link.client() : null;
            }
        };
    }

    /** As the session ends: its queue pairs are closed next. */
    @Override
    public void close()
    {
        for (final VirtualQp member : members)
        {
            member.close();
        }
        release();
        reclaimer.close();
    }

    @Override
    public String toString()
    {
        return "GroupLink{group=" + group + ", state=" + state + ", newest=" + newest + ", failure=" + failure + '}';
    }
}
