package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.QueuePairStates;
import io.verbena.rdma.spi.QueuePairTransitions;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A simulated queue pair: its states, attributes and receives. What it sends is {@link SimSendQueue}'s, what it serves
 * is {@link SimResponder}'s.
 */
public final class SimQueuePair extends StagedQueuePair implements SimTarget, SimStateful
{
    static final int REQUEST = 0;
    static final int RESPONSE = 1;
    static final int CONNECT = 2;
    /** In place of a count of retries: the fabric's time decides, as the connection service has set it up. */
    static final int RNR_BY_TIME = -1;

    private static final int SERVICE_RETRIES = 7;
    private static final int SERVICE_TIMEOUT = 14;

    private final SimDevice device;
    private final SimFabric fabric;
    private final SimProtectionDomain protectionDomain;
    private final SimCompletionQueue sendCompletions;
    private final SimCompletionQueue receiveCompletions;
    /** Null: a receive queue of its own. */
    private final SimSharedReceiveQueue shared;
    private final ReceiveQueue receives;
    private final SimResponder responder;
    private final SimSendQueue sends;
    private final CurrentAttributes attributes = new CurrentAttributes();
    private final int number;
    private final int depth;
    private QueuePairState state = QueuePairState.RESET;
    private SimLink link = new SimLink();
    private SimConnectionAttempt attempt;
    private long resetSequence = -1;
    private boolean hasServiceTimers = true;
    private boolean isEstablished;
    private boolean isHeld;
    private boolean isClosed;

    SimQueuePair(
        final SimProtectionDomain protectionDomain,
        final SimCompletionQueue sendCompletions,
        final SimCompletionQueue receiveCompletions,
        final SimSharedReceiveQueue shared,
        final QueuePairOptions options,
        final int number)
    {
        super(
            options.type(),
            options.capabilities(),
            options.type() == QueuePairType.UD ? SimDevice.PATH_MTU_BYTES : SimDevice.MAX_MESSAGE_BYTES,
            true);
        this.device = protectionDomain.device();
        this.fabric = device.fabric();
        this.protectionDomain = protectionDomain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.shared = shared;
        this.receives = shared == null ?
            new ReceiveQueue(options.capabilities().maxReceiveRequests()) : shared.queue();
        this.depth = options.capabilities().maxReadAtomic();
        this.number = number;
        this.responder = new SimResponder(this);
        this.sends = new SimSendQueue(this, sendCompletions);
    }

    @Override
    public SimDevice device()
    {
        return device;
    }

    @Override
    public SimProtectionDomain protectionDomain()
    {
        return protectionDomain;
    }

    @Override
    public SimCompletionQueue receiveCompletions()
    {
        return receiveCompletions;
    }

    @Override
    public ReceiveQueue receives()
    {
        return receives;
    }

    /** Whether the cost model of its NIC decides how long its messages take. */
    boolean hasRnic()
    {
        return device.rnic() != null;
    }

    SimSendQueue sends()
    {
        return sends;
    }

    SimResponder responder()
    {
        return responder;
    }

    CurrentAttributes attributes()
    {
        return attributes;
    }

    /** The queue pair that it is connected to, as far as it is there; null otherwise. */
    SimQueuePair peer()
    {
        if (link.peer() == null && attributes.destination() != null)
        {
            final SimDevice other = fabric.find(attributes.destination());
            final SimQueuePair found = other == null ? null : other.findQueuePair(attributes.destinationNumber());
            link.peer(found != null && found.type() == type() ? found : null);
        }
        return link.peer();
    }

    /** What it is connected to until the next reset. */
    SimLink link()
    {
        return link;
    }

    @Override
    public int accessFlags()
    {
        return attributes.accessFlags();
    }

    /** READs and atomics that it may have outstanding. */
    int maxReadAtomic()
    {
        return attributes.maxReadAtomic();
    }

    @Override
    public int readAtomicDepth()
    {
        return attributes.maxDestinationReadAtomic();
    }

    @Override
    public long rnrWaitNs()
    {
        return attributes.rnrWaitNs();
    }

    /** Retries after receiver-not-ready, or {@link #RNR_BY_TIME}. */
    int rnrRetries()
    {
        return hasServiceTimers ? RNR_BY_TIME : attributes.rnrRetry();
    }

    /** Time until a request that nobody answers fails. */
    long retryTimeNs()
    {
        return hasServiceTimers ? fabric.options().retryTimeoutNs() : attributes.retryTimeNs();
    }

    /** Where decisions about messages of this queue pair belong. */
    long lane(final int direction)
    {
        return SimDecisions.lane(device.index(), number, direction);
    }

    @Override
    public long decide(final SimDecision what, final long bound)
    {
        return fabric.decisions().next(what, lane(REQUEST), bound);
    }

    /** What has arrived from the peer and is not executed. */
    List<SimRequest> inbound()
    {
        return responder.inbound();
    }

    /** How many posted requests have not set out. */
    long unlaunched()
    {
        return sends.unlaunched();
    }

    WorkRequest posted(final long position)
    {
        return request(position);
    }

    long tail()
    {
        return sendTail();
    }

    MemorySegment inline(final WorkRequest posted)
    {
        return inlinePayload(posted);
    }

    void hold(final boolean isHeld)
    {
        this.isHeld = isHeld;
    }

    /** Whether what has not arrived is held back. */
    boolean isHeld()
    {
        return isHeld && device.isPaused();
    }

    @Override
    public boolean accepts(final SimRequest request)
    {
        return attributes.destinationNumber() == request.requester.number &&
            request.requester.device.address().equals(attributes.destination()) && request.sequence > resetSequence;
    }

    @Override
    public void serving()
    {
        if (state == QueuePairState.RTR && !isEstablished)
        {
            isEstablished = true;
            device.events().raise(AsyncEventType.COMM_EST, this);
        }
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    @Override
    public String transport()
    {
        return attributes.destination() == null ? "none" : "simulated";
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (shared != null || type() == QueuePairType.DC_INITIATOR)
        {
            throw new RdmaException(
                "queue pair has no receive queue of its own: " +
                (shared != null ? "post to its shared receive queue, " : "an initiator only sends, ") + this);
        }
        if (!QueuePairStates.takesReceives(state))
        {
            return PostStatus.INVALID_STATE;
        }
        if (!receives.offer(wrId, localAddress, lengthBytes, localKey))
        {
            return PostStatus.QUEUE_FULL;
        }
        if (state == QueuePairState.ERR)
        {
            flushReceives();
        }
        return PostStatus.OK;
    }

    @Override
    public void releaseReceive()
    {
        receives.release();
    }

    @Override
    public void receiveTaken()
    {
        if (shared != null)
        {
            shared.taken();
        }
    }

    @Override
    public void modify(final QueuePairAttributes change)
    {
        if (isClosed)
        {
            throw new RdmaException("queue pair is closed: " + this);
        }
        QueuePairTransitions.check(type(), state, change, SimDevice.MAX_READ_ATOMIC);
        final QueuePairState target = QueuePairTransitions.target(state, change);
        attributes.apply(change);
        if (change.has(QueuePairAttributes.RNR_RETRY) || change.has(QueuePairAttributes.TIMEOUT))
        {
            hasServiceTimers = false;
        }
        if (target == QueuePairState.RESET)
        {
            reset();
        }
        else if (target == QueuePairState.ERR)
        {
            moveToError();
        }
        else if (target != state)
        {
            enter(target);
        }
    }

    @Override
    public void query(final QueuePairAttributes target)
    {
        attributes.fill(target, state);
    }

    @Override
    public void moveToError()
    {
        if (state != QueuePairState.ERR && state != QueuePairState.RESET)
        {
            state = QueuePairState.ERR;
            responder.dropAll();
            sends.flush();
            flushReceives();
            if (shared != null)
            {
                device.events().raise(AsyncEventType.QP_LAST_WQE_REACHED, this);
            }
        }
    }

    @Override
    public void refused(final SimResponder by, final int status)
    {
        final AsyncEventType event = AccessChecks.responderEvent(status);
        if (event != null && state != QueuePairState.ERR)
        {
            device.events().raise(event, this);
        }
        moveToError();
    }

    /** A request failed, its completion is there. */
    void sendFailed()
    {
        if (AccessChecks.failsIntoSqe(type()) && state == QueuePairState.RTS)
        {
            state = QueuePairState.SQE;
            sends.flush();
        }
        else
        {
            moveToError();
        }
    }

    /** In SQD, and nothing is in flight any more. */
    void drained()
    {
        device.events().raise(AsyncEventType.SQ_DRAINED, this);
    }

    @Override
    public void close()
    {
        if (isClosed)
        {
            return;
        }
        if (attempt != null)
        {
            attempt.cancel();
        }
        reset();
        isClosed = true;
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        if (shared != null)
        {
            shared.detach(this);
        }
        device.events().forget(this);
        protectionDomain.queuePairClosed(this);
    }

    void toInit()
    {
        if (state != QueuePairState.RESET || isClosed)
        {
            throw new RdmaException("queue pair must be open and in state RESET: " + this);
        }
        if (type() != QueuePairType.RC && type() != QueuePairType.UC)
        {
            throw new RdmaException("the connection service connects RC and UC queue pairs: type=" + type());
        }
        state = QueuePairState.INIT;
    }

    void attempt(final SimConnectionAttempt attempt)
    {
        this.attempt = attempt;
    }

    void toReset(final SimConnectionAttempt failed)
    {
        if (attempt == failed && state == QueuePairState.INIT)
        {
            reset();
        }
    }

    /** The connection service: what both ends agreed on, and RTS. */
    void establish(final SimQueuePair other, final int accessFlags)
    {
        link.peer(other);
        final int agreed = Math.min(depth, other.depth);
        attributes.apply(new QueuePairAttributes()
            .pkeyIndex(0).port(1).accessFlags(accessFlags).destination(other.device.address())
            .destinationNumber(other.number).pathMtuBytes(SimDevice.PATH_MTU_BYTES).rqPsn(0).sqPsn(0));
        if (type() == QueuePairType.RC)
        {
            attributes.apply(new QueuePairAttributes()
                .maxReadAtomic(agreed).maxDestinationReadAtomic(agreed).minRnrTimer(1).timeout(SERVICE_TIMEOUT)
                .retryCount(SERVICE_RETRIES).rnrRetry(SERVICE_RETRIES));
        }
        hasServiceTimers = true;
        if (state == QueuePairState.INIT)
        {
            state = QueuePairState.RTS;
            responder.serveSoon();
        }
    }

    @Override
    protected long inlineSource(final long localAddress, final int lengthBytes)
    {
        final RegisteredRegion region =
            lengthBytes == 0 ? null : device.keys().findContaining(localAddress, lengthBytes);
        if (region == null && lengthBytes != 0)
        {
            throw new RdmaException(
                "INLINE payload is not in memory of this device: localAddress=0x" + Long.toHexString(localAddress) +
                ", lengthBytes=" + lengthBytes + "; addresses of sim are those of MemoryRegion.address()");
        }
        return region == null ? 0 : region.rawAddress(localAddress);
    }

    @Override
    protected void onDoorbell()
    {
        if (QueuePairStates.flushesSends(state))
        {
            sends.flush();
        }
        else if (state == QueuePairState.RTS)
        {
            sends.launchSoon();
        }
    }

    @Override
    public void describe(final StateWords words)
    {
        final SimQueuePair peer = link.peer();
        words.in(StatePart.QUEUE_PAIRS).accept((long)state.ordinal() << 32 | number);
        words.accept(peer == null ? 0 : (long)peer.device.index() << 32 | peer.number);
        words.accept((link.isCut() ? 1 : 0) | (hasServiceTimers ? 2 : 0) | (isEstablished ? 4 : 0) | (isHeld ? 8 : 0));
        attributes.describe(words);
        words.in(StatePart.CONNECTIONS).accept(attempt == null ? 0 : attempt.stateHash());
        responder.describe(words.in(StatePart.REQUESTS));
        if (shared == null)
        {
            receives.describe(words.in(StatePart.RECEIVES));
        }
        if (!device.isKilled())
        {
            words.in(StatePart.SENDS).accept(sendQueueSpace());
            sends.describe(words);
        }
    }

    @Override
    public String toString()
    {
        return "SimQueuePair{device=" + device.name() + ", number=" + number + ", type=" + type() + ", state=" +
            state + ", isClosed=" + isClosed + ", isCut=" + link.isCut() + '}';
    }

    private void enter(final QueuePairState target)
    {
        state = target;
        switch (target)
        {
            case RTR -> responder.serveSoon();
            case RTS ->
            {
                responder.serveSoon();
                sends.resume();
            }
            case SQD ->
            {
                if (sends.isIdle())
                {
                    drained();
                }
            }
            default ->
            {
            }
        }
    }

    /** Everything outstanding goes without a completion; what has left may still land at the peer. */
    private void reset()
    {
        state = QueuePairState.RESET;
        resetSequence = fabric.nextSequence();
        responder.reset();
        sends.clear();
        sendCompletions.forget(this);
        receiveCompletions.forget(this);
        clearSends();
        if (shared == null)
        {
            receives.clear();
        }
        device.windows().unbindAll(number);
        attributes.clear();
        link = new SimLink();
        hasServiceTimers = true;
        isEstablished = false;
    }

    private void flushReceives()
    {
        while (shared == null && !receives.isEmpty())
        {
            final long wrId = receives.wrId();
            receives.remove();
            receiveCompletions.pushFlushedReceive(this, wrId);
        }
    }
}
