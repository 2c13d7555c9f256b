package io.verbena.compute.memory;

import io.verbena.compute.maintenance.MemoryMaintenance;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MemoryNodeClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.view.LeftView;
import io.verbena.raas.OneSidedPort;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasContext;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerLookup;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.failure.Backoff;
import io.verbena.table.TableEngine;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.ChunkWatch;
import io.verbena.table.format.Superblock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The connection of a node to one memory node: looked up with a one-sided READ of the meta server's view, connected,
 * attached to the engine when it is known which chunks are closed, and made anew, after a pause, whenever it breaks. At
 * the first attempt the memory node's read target serves until the queue pair is connected, so that reading begins
 * without the memory node's doing anything. It also leases chunks for the engine and reclaims those of nodes that
 * ended. Owned by the node's thread.
 */
public final class MemoryLink implements AutoCloseable
{
    private enum State
    {
        LOOKING_UP, CONNECTING,
        /** The memory node has closed a view, and gives a key to who names it as left. */
        NAMING,
        VIEWING, READY,
        /** Nothing more is posted to a lost incarnation; what was posted ends. */
        LEAVING, PAUSING, REFUSED
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryLink.class);
    /** Longest pause before the first new attempt: 2 ms; each further one twice as long, and of random length. */
    private static final long MIN_PAUSE_NS = 2_000_000;
    /** Longest pause between attempts: 128 ms. */
    private static final long MAX_PAUSE_NS = 128_000_000;
    /** How long operations wait for the first attempt: 20 ms. */
    private static final long FIRST_WAIT_NS = 20_000_000;
    /** Of batches of {@link #observerAccess()}. */
    public static final int OBSERVER_COOKIE = ChunkWatch.COOKIE | 4;

    private final SessionParts session;
    private final RaasContext raas;
    private final MetaLink metaLink;
    private final TableEngine engine;
    private final int memoryNodeId;
    private final long timeoutNs;
    private final MemoryMaintenance maintenance;
    private final ChunkWatch watch;
    private RegionAccess observerAccess;
    private State state;
    private PeerLookup lookup;
    private PeerRecord record;
    private VirtualQp vqp;
    private MemoryNodeClient client;
    private long retryAtNs;
    private final Backoff backoff;
    private ControlCall<List<LeftView>> naming;
    private long begunNs;
    private boolean isUnreachable;
    private boolean isUnregistered;
    private String failure = "";
    private boolean isRestored;
    /** This incarnation and earlier ones are never to be used again. */
    private int leftIncarnation;

    /** @param refusal why it is never connected; empty for one that is. */
    MemoryLink(final SessionParts session, final int memoryNodeId, final String refusal)
    {
        this.session = session;
        raas = session.raas();
        metaLink = session.metaLink();
        engine = session.engine();
        timeoutNs = session.timeoutNs();
        backoff = new Backoff(MIN_PAUSE_NS, MAX_PAUSE_NS, raas.device().random());
        begunNs = raas.clock().nanoTime();
        this.memoryNodeId = memoryNodeId;
        watch = new ChunkWatch(
            engine.epochs(),
            engine.allocator(memoryNodeId),
            raas.protectionDomain());
        maintenance = openMaintenance();
        engine.suspend(memoryNodeId, true);
        if (refusal.isEmpty())
        {
            lookUp();
        }
        else
        {
            state = State.REFUSED;
            failure = refusal;
            unreachable(true);
            LOGGER.error(refusal);
        }
    }

    /** Where there is no memory for it, nothing is kept. */
    private MemoryMaintenance openMaintenance()
    {
        try
        {
            return new MemoryMaintenance(session, memoryNodeId, watch);
        }
        catch (final RuntimeException ex)
        {
            watch.close();
            throw ex;
        }
    }

    /** @return id of the memory node. */
    public int memoryNodeId()
    {
        return memoryNodeId;
    }

    /** @return whether the memory node can be used now. */
    public boolean isReady()
    {
        return State.READY == state;
    }

    /** @return who it is connected to, while {@link #isReady()}: its memory is the one that this session knows. */
    public PeerIdentity identity()
    {
        return record.identity();
    }

    /** @return whether the meta server has no memory node of this id, as of the last attempt to connect. */
    public boolean isUnregistered()
    {
        return isUnregistered;
    }

    /** @return whether the node's memory is another one than this session knows; it has to end. */
    public boolean isRestored()
    {
        return isRestored;
    }

    /** @return where it is and what it grants; while {@link #isReady()}. */
    public PeerRecord record()
    {
        return record;
    }

    /** @return the layout of its memory; while {@link #isReady()}. */
    public Superblock superblock()
    {
        return watch.view().superblock();
    }

    /** Has chunk headers read that changed. @return whether they were, since now; or whether it cannot be used. */
    public BooleanSupplier lookAgain()
    {
        final long since = watch.lookAgain();
        return () -> State.READY != state || watch.hasLooked(since);
    }

    /** @return epoch that was known when its chunks were looked at last; while {@link #isReady()}. */
    public long lookEpoch()
    {
        return watch.epoch();
    }

    /** @return what reads its chunk headers, and notifies allocators of groups. */
    public ChunkWatch watch()
    {
        return watch;
    }

    /** @return its chunks as they were seen last; while {@link #isReady()}. */
    public ChunkView chunkView()
    {
        return watch.view();
    }

    /** @return proxy for calls while {@link #isReady()}. */
    public MemoryNodeClient client()
    {
        return client;
    }

    /** @return true while the first attempt since the node was last reached goes on: it may end at any moment. */
    public boolean isConnecting()
    {
        return State.READY != state && failure.isEmpty();
    }

    /** @return true while something that may go on at any moment is under way at a node that can be reached. */
    public boolean isWaiting()
    {
        return State.READY == state && (maintenance.isBusy() || watch.isBusy());
    }

    /**
     * Leaves an incarnation of the memory node, and all earlier ones, for good: what was posted ends, and nothing more
     * is. Operations on tables there fail as those on a memory node that cannot be reached, until a later one is there.
     *
     * @param incarnation to leave; 0: none.
     */
    void leave(final int incarnation)
    {
        leftIncarnation = Math.max(leftIncarnation, incarnation);
        if (isOpen() && State.LEAVING != state && record.incarnation() <= leftIncarnation)
        {
            naming = null;
            engine.suspend(memoryNodeId, true);
            vqp.grantedUntil(Long.MIN_VALUE);
            state = State.LEAVING;
        }
    }

    /** @return whether nothing is under way any more to what {@link #leave} has named. */
    boolean hasLeft()
    {
        return null == vqp || record.incarnation() > leftIncarnation || !isOpen() && 0 == vqp.outstandingBatches();
    }

    private boolean isOpen()
    {
        return State.LOOKING_UP != state && State.PAUSING != state && State.REFUSED != state;
    }

    /** @return which epoch may be passed as far as closed chunks here go; any, while nothing is used here. */
    public long passableEpoch()
    {
        return State.READY == state || State.LEAVING == state ?
            Math.min(watch.epoch(), maintenance.passableEpoch()) : Long.MAX_VALUE;
    }

    /** @return what this node does there beside operations. */
    public MemoryMaintenance maintenance()
    {
        return maintenance;
    }

    /** @return to read and swap words with, by the node's thread, beside operations. */
    public RegionAccess observerAccess()
    {
        if (null == observerAccess)
        {
            observerAccess = new RegionAccess(raas.protectionDomain(), OBSERVER_COOKIE);
        }
        return observerAccess;
    }

    /** @return the port while {@link #isReady()}. */
    public OneSidedPort port()
    {
        return vqp;
    }

    /** @return why it is not ready; empty while it is, or connects for the first time. */
    public String failure()
    {
        return failure;
    }

    /** @return when a pause ends, or {@link Long#MAX_VALUE} when there is none. */
    public long retryAtNs()
    {
        return State.PAUSING == state ? retryAtNs : Long.MAX_VALUE;
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (State.READY != state && !isUnreachable && nowNs - begunNs - FIRST_WAIT_NS > 0)
        {
            unreachable(true);
        }
        final MemoryNodeClient reachable = State.READY == state ? client : null;
        return maintenance.pollLeases(reachable, nowNs) + switch (state)
        {
            case LOOKING_UP -> pollLookup(nowNs);
            case CONNECTING -> pollConnect(nowNs);
            case NAMING -> pollNaming(nowNs);
            case VIEWING -> pollView(nowNs);
            case READY -> hasNoKey() ? name() : watch.poll() + pollMaintenance() + pollFailed(nowNs);
            case LEAVING -> pollLeaving(nowNs);
            case PAUSING -> pollPause(nowNs);
            case REFUSED -> 0;
        };
    }

    /** Posts until the lease ends, and nothing afterwards: what comes after the fence would break the queue pair. */
    void onLeaseRenewed()
    {
        if (null != vqp && State.LEAVING != state)
        {
            vqp.grantedUntil(session.leaseEndsNs().getAsLong());
        }
    }

    /** Operations on tables there end at once, instead of waiting for a connection that may never be. */
    private void unreachable(final boolean isOn)
    {
        isUnreachable = isOn;
        engine.unreachable(memoryNodeId, isOn);
    }

    private void lookUp()
    {
        lookup = metaLink.directory().lookup(memoryNodeId, 0, timeoutNs);
        state = State.LOOKING_UP;
    }

    private int pollLookup(final long nowNs)
    {
        switch (lookup.state())
        {
            case PENDING ->
            {
                return 0;
            }
            case FOUND ->
            {
                record = lookup.record();
                if (record.incarnation() <= leftIncarnation)
                {
                    metaLink.directory().forget(memoryNodeId, record.incarnation());
                    pause(nowNs, lost());
                    return 1;
                }
                isUnregistered = false;
                vqp = raas.connect(
                    record.address(), failure.isEmpty() ? record.readTarget() : ReadTargetAddress.NONE,
                    record.region(), this::onBatchComplete, timeoutNs);
                onLeaseRenewed();
                client = new MemoryNodeClient(raas, vqp);
                state = State.CONNECTING;
            }
            case NOT_FOUND ->
            {
                isUnregistered = true;
                pause(nowNs, 0 == leftIncarnation ? "memory node is not registered: nodeId=" + memoryNodeId : lost());
            }
            case FAILED -> pause(nowNs, lookup.failure());
        }
        return 1;
    }

    private int pollConnect(final long nowNs)
    {
        if (hasNoKey())
        {
            return name();
        }
        if (vqp.isReady())
        {
            watch.connect(vqp);
            state = State.VIEWING;
            return 1;
        }
        return pollFailed(nowNs);
    }

    /** Connected, and all that is granted is calls. */
    private boolean hasNoKey()
    {
        return vqp.carriesWrites() && vqp.peerRegions().isEmpty();
    }

    /** All views that are known to be over were left when they were heard of. */
    private int name()
    {
        engine.suspend(memoryNodeId, true);
        maintenance.disconnect();
        naming = client.nameViews(session.views().views().left(), timeoutNs);
        state = State.NAMING;
        return 1;
    }

    private int pollNaming(final long nowNs)
    {
        if (!naming.isDone())
        {
            return pollFailed(nowNs);
        }
        final boolean isNamed = ControlStatus.OK == naming.status() && naming.result().isEmpty();
        if (ControlStatus.OK == naming.status() && !isNamed)
        {
            session.views().askAgain();
        }
        naming = null;
        if (0 == vqp.outstandingBatches())
        {
            engine.detach(memoryNodeId);
        }
        vqp.close();
        raas.forget(vqp.peer());
        LOGGER.info("memory node {} has closed a view of a group: connected anew", memoryNodeId);
        // Not lost: operations wait as they do for the first connection.
        begunNs = nowNs;
        retryAtNs = nowNs + (isNamed ? 0 : backoff.nextPauseNs());
        state = State.PAUSING;
        return 1;
    }

    /** Nothing is done here before it is known which chunks are closed. */
    private int pollView(final long nowNs)
    {
        // Before the watch reads on: a connection is closed when nothing is outstanding.
        if (watch.memoryNodeIncarnation() > record.incarnation())
        {
            giveUp(nowNs, "memory node " + memoryNodeId + " is incarnation " + watch.memoryNodeIncarnation() +
                " by now, and was looked up as " + record.incarnation() + ": its record is read again");
            return 1;
        }
        if (0 != watch.memoryNodeIncarnation() && watch.memoryNodeIncarnation() < record.incarnation())
        {
            onEarlierIncarnation(nowNs);
            return 1;
        }
        if (hasNoKey())
        {
            return name();
        }
        final int workCount = watch.poll();
        if (watch.hasFailed())
        {
            giveUp(nowNs, watch.failure());
            return 1;
        }
        if (watch.isRestoredSince(session.identity().incarnation()))
        {
            isRestored = true;
            giveUp(nowNs, "memory node " + memoryNodeId + " was restored from a checkpoint: this node registers anew");
            return 1;
        }
        if (watch.isCurrent())
        {
            engine.attach(memoryNodeId, vqp);
            engine.suspend(memoryNodeId, false);
            unreachable(false);
            failure = "";
            backoff.reset();
            state = State.READY;
            LOGGER.info("reached: memory node {}, transport={}", memoryNodeId, vqp.transport());
            return 1;
        }
        return workCount + pollFailed(nowNs);
    }

    /**
     * Its process may never hear of the registration: then it has not cut off those who are fenced. Mostly it is about
     * to, which is no loss: operations wait for a while as for the first connection.
     */
    private void onEarlierIncarnation(final long nowNs)
    {
        disconnect();
        if (nowNs - begunNs - FIRST_WAIT_NS <= 0)
        {
            lookUpLater(nowNs);
        }
        else
        {
            pause(nowNs, "memory node " + memoryNodeId + " is incarnation " + watch.memoryNodeIncarnation() +
                " still, and was looked up as " + record.incarnation());
        }
    }

    private int pollMaintenance()
    {
        if (!maintenance.isConnected() && vqp.carriesWrites())
        {
            maintenance.connect(client, vqp);
            LOGGER.info("connected: memory node {}, transport={}", memoryNodeId, vqp.transport());
        }
        return maintenance.poll();
    }

    private int pollFailed(final long nowNs)
    {
        if (VirtualQp.State.FAILED == vqp.state())
        {
            engine.suspend(memoryNodeId, true);
            if (0 == vqp.outstandingBatches())
            {
                giveUp(nowNs, vqp.failure());
                return 1;
            }
        }
        return 0;
    }

    private int pollLeaving(final long nowNs)
    {
        if (0 != vqp.outstandingBatches())
        {
            return 0;
        }
        engine.detach(memoryNodeId);
        giveUp(nowNs, lost());
        raas.forget(vqp.peer());
        LOGGER.info("left: {}", failure);
        return 1;
    }

    private String lost()
    {
        return "memory node " + memoryNodeId + " is lost, and is used again when it has returned: until then a " +
            "compute node that ended may still write there";
    }

    private void giveUp(final long nowNs, final String why)
    {
        disconnect();
        pause(nowNs, why);
    }

    private void disconnect()
    {
        maintenance.disconnect();
        vqp.close();
        metaLink.directory().forget(memoryNodeId, record.incarnation());
    }

    private void pause(final long nowNs, final String why)
    {
        failure = why;
        unreachable(true);
        lookUpLater(nowNs);
    }

    private void lookUpLater(final long nowNs)
    {
        retryAtNs = nowNs + backoff.nextPauseNs();
        state = State.PAUSING;
    }

    private int pollPause(final long nowNs)
    {
        if (nowNs - retryAtNs >= 0 && metaLink.isUsable())
        {
            lookUp();
            return 1;
        }
        return 0;
    }

    private void onBatchComplete(final VirtualQp from, final int cookie, final int status)
    {
        final int counted = CountedStatus.of(from.carriesWrites(), status, session.holdsLease());
        switch (cookie)
        {
            case ChunkWatch.COOKIE -> watch.access().onComplete(counted);
            case MemoryMaintenance.RECLAIM_COOKIE, MemoryMaintenance.SWEEP_COOKIE ->
                maintenance.onComplete(cookie, counted);
            case OBSERVER_COOKIE -> observerAccess.onComplete(counted);
            default -> engine.onBatchComplete(cookie, counted);
        }
    }

    @Override
    public void close()
    {
        if (null != vqp)
        {
            vqp.close();
        }
        watch.close();
        maintenance.close();
        if (null != observerAccess)
        {
            observerAccess.close();
        }
    }

    @Override
    public String toString()
    {
        return "MemoryLink{memoryNodeId=" + memoryNodeId + ", state=" + state + ", failure=" + failure + '}';
    }
}
