package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.QueuePairStates;
import io.verbena.rdma.spi.QueuePairTransitions;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * A simulated queue pair: its states, attributes and receives. What it sends is {@link SimSendQueue}'s, what it serves
 * is {@link SimResponder}'s.
 */
final class SimQueuePair extends SimSender implements SimTarget, SimLink.Peer, SimStateful
{
    /** The attempt to connect it by the connection service. */
    interface Attempt
    {
        /** The queue pair is being closed. */
        void cancel();

        /** Of the outcome. */
        long stateHash();
    }

    private static final int SERVICE_RETRIES = 7;
    private static final int SERVICE_TIMEOUT = 14;

    private final SimTimeline timeline;
    private final ProtectionDomain protectionDomain;
    private final Runnable onClosed;
    private final SimCompletionQueue sendCompletions;
    private final SimCompletionQueue receiveCompletions;
    /** Null: a receive queue of its own. */
    private final SimSharedReceiveQueue shared;
    private final ReceiveQueue receives;
    private final SimResponder responder;
    private final SimSendQueue sends;
    private final CurrentAttributes attributes = new CurrentAttributes();
    private final int depth;
    private QueuePairState state = QueuePairState.RESET;
    private Attempt attempt;
    private long resetSequence = -1;
    private boolean hasServiceTimers = true;
    private boolean isEstablished;
    private boolean isHeld;
    private boolean isClosed;

    /** @param onClosed called once. */
    SimQueuePair(
        final SimNetwork network,
        final SimHost host,
        final ProtectionDomain protectionDomain,
        final Runnable onClosed,
        final SimCompletionQueue sendCompletions,
        final SimCompletionQueue receiveCompletions,
        final SimSharedReceiveQueue shared,
        final QueuePairOptions options,
        final int number)
    {
        super(network, host, options, number);
        this.timeline = network.timeline();
        this.onClosed = onClosed;
        this.protectionDomain = protectionDomain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.shared = shared;
        this.receives = shared == null ?
            new ReceiveQueue(options.capabilities().maxReceiveRequests()) : shared.queue();
        this.depth = options.capabilities().maxReadAtomic();
        this.responder = new SimResponder(network, this, this::refused);
        this.sends = new SimSendQueue(this, sendCompletions);
    }

    /** A queue pair of this device. */
    static SimQueuePair of(final SimHost host, final QueuePair queuePair)
    {
        if (queuePair instanceof SimQueuePair sim && sim.host == host)
        {
            return sim;
        }
        throw new RdmaException("not a queue pair of this device: device=" + host.name() + ", queuePair=" + queuePair);
    }

    @Override
    public ProtectionDomain protectionDomain()
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

    @Override
    SimSendQueue sends()
    {
        return sends;
    }

    @Override
    public SimRequest.Executor executor()
    {
        return responder;
    }

    @Override
    public int depth()
    {
        return depth;
    }

    @Override
    public int queueKey()
    {
        return attributes.qkey();
    }

    @Override
    public int pathMtuBytes()
    {
        return attributes.pathMtuBytes();
    }

    @Override
    public SimLink.Peer peer()
    {
        if (link.peer() == null && attributes.destination() != null)
        {
            final SimHost other = network.find(attributes.destination());
            final SimLink.Peer found =
                other == null ? null : network.queuePair(other, attributes.destinationNumber());
            link.peer(found != null && found.type() == type() ? found : null);
        }
        return link.peer();
    }

    @Override
    public int accessFlags()
    {
        return attributes.accessFlags();
    }

    @Override
    public int maxReadAtomic()
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

    @Override
    public int rnrRetries()
    {
        return hasServiceTimers ? SimRequest.RNR_BY_TIME : attributes.rnrRetry();
    }

    @Override
    public long retryTimeNs()
    {
        return hasServiceTimers ? timeline.options().retryTimeoutNs() : attributes.retryTimeNs();
    }

    @Override
    public void onKilled()
    {
        if (decide(SimDecision.CUT, 2) > 0)
        {
            link.cut();
        }
        sends.route().killed();
    }

    @Override
    public void onPaused()
    {
        isHeld = decide(SimDecision.HOLD, 2) > 0;
    }

    @Override
    public boolean isHeld()
    {
        return isHeld && host.isPaused();
    }

    @Override
    public void takeDatagram(final SimRequest request, final int queueKey)
    {
        final boolean isTaken = !host.isKilled() && type() == QueuePairType.UD &&
            QueuePairStates.servesInbound(state) && queueKey() == queueKey && !receives.isEmpty() &&
            SimReceiver.check(this, request) != WorkCompletionStatus.LOC_LEN_ERR;
        if (isTaken)
        {
            serving();
            final int status = SimReceiver.consume(this, request);
            network.observer().onExecuted(host, request);
            request.requesterHost().onExecuted();
            if (status != WorkCompletionStatus.SUCCESS)
            {
                moveToError();
            }
        }
    }

    @Override
    public boolean accepts(final SimRequest request)
    {
        return attributes.destinationNumber() == request.requesterNumber() &&
            request.requesterHost().address().equals(attributes.destination()) &&
            request.launch.sequence() > resetSequence;
    }

    @Override
    public void serving()
    {
        if (state == QueuePairState.RTR && !isEstablished)
        {
            isEstablished = true;
            host.events().raise(AsyncEventType.COMM_EST, this);
        }
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
        QueuePairTransitions.check(type(), state, change, SimHost.MAX_READ_ATOMIC);
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
                host.events().raise(AsyncEventType.QP_LAST_WQE_REACHED, this);
            }
        }
    }

    /** A request of the peer was refused with this status. */
    private void refused(final int status)
    {
        final AsyncEventType event = AccessChecks.responderEvent(status);
        if (event != null && state != QueuePairState.ERR)
        {
            host.events().raise(event, this);
        }
        moveToError();
    }

    @Override
    public void sendFailed()
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

    @Override
    public void drained()
    {
        host.events().raise(AsyncEventType.SQ_DRAINED, this);
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
        host.events().forget(this);
        onClosed.run();
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

    void attempt(final Attempt attempt)
    {
        this.attempt = attempt;
    }

    void toReset(final Attempt failed)
    {
        if (attempt == failed && state == QueuePairState.INIT)
        {
            reset();
        }
    }

    /** The connection service: what both ends agreed on, and RTS. */
    void establish(final SimLink.Peer other, final int accessFlags)
    {
        link.peer(other);
        final int agreed = Math.min(depth, other.depth());
        attributes.apply(new QueuePairAttributes()
            .pkeyIndex(0).port(1).accessFlags(accessFlags).destination(other.host().address())
            .destinationNumber(other.number()).pathMtuBytes(SimHost.PATH_MTU_BYTES).rqPsn(0).sqPsn(0));
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
            lengthBytes == 0 ? null : host.keys().findContaining(localAddress, lengthBytes);
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
        final SimLink.Peer peer = link.peer();
        words.in(StatePart.QUEUE_PAIRS).accept((long)state.ordinal() << 32 | number);
        words.accept(peer == null ? 0 : (long)peer.host().index() << 32 | peer.number());
        words.accept((link.isCut() ? 1 : 0) | (hasServiceTimers ? 2 : 0) | (isEstablished ? 4 : 0) | (isHeld ? 8 : 0));
        attributes.describe(words);
        words.in(StatePart.CONNECTIONS).accept(attempt == null ? 0 : attempt.stateHash());
        responder.describe(words.in(StatePart.REQUESTS));
        if (shared == null)
        {
            receives.describe(words.in(StatePart.RECEIVES));
        }
        if (!host.isKilled())
        {
            words.in(StatePart.SENDS).accept(sendQueueSpace());
            sends.describe(words);
        }
    }

    @Override
    public String toString()
    {
        return "SimQueuePair{device=" + host.name() + ", number=" + number + ", type=" + type() + ", state=" +
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
        resetSequence = timeline.nextSequence();
        responder.reset();
        sends.clear();
        sendCompletions.forget(this);
        receiveCompletions.forget(this);
        clearSends();
        if (shared == null)
        {
            receives.clear();
        }
        host.windows().unbindAll(number);
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
