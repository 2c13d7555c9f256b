package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.RoceAddressHandle;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.QueuePairStates;
import io.verbena.rdma.spi.QueuePairTransitions;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.invoke.VarHandle;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A queue pair on a {@link RoceEngine}. Posting only queues and then drives the engine, if nobody
 * does: {@link RoceEngine#doWork} sends. One thread posts sends and one posts receives, beside the thread that drives;
 * verbs that change the state may be called by any thread that does not post at the same time.
 */
public final class RoceQueuePair extends StagedQueuePair
{
    private final EngineContext engine;
    private final ProtectionDomain domain;
    private final int number;
    private final RoceCompletionQueue sendCompletions;
    private final RoceCompletionQueue receiveCompletions;
    private final RoceSharedReceiveQueue sharedReceives;
    private final ReceiveQueue receives;
    private final CurrentAttributes attributes = new CurrentAttributes();
    private final Route route;
    private final SendSide sender;
    private final ReceiveSide receiver;
    private volatile QueuePairState state = QueuePairState.RESET;
    private boolean isEstablished;
    private boolean isDraining;
    private final Predicate<RoceQueuePair> closing;
    final QueuePairPort port = new Port();
    private final ReceiveSide.CongestionMarks marks = new ReceiveSide.CongestionMarks(port);
    private final ScheduleEntry turn = new Turn();

    RoceQueuePair(
        final EngineContext engine,
        final ProtectionDomain domain,
        final int number,
        final QueuePairOptions options,
        final int maxMessageBytes,
        final int firstConnection,
        final Function<QueuePairPort, ReceiveSide> receivers,
        final Predicate<RoceQueuePair> closing)
    {
        super(options.type(), options.capabilities(), maxMessageBytes, true);
        this.engine = engine;
        this.domain = domain;
        this.number = number;
        this.closing = closing;
        sendCompletions = (RoceCompletionQueue)options.sendCompletions();
        receiveCompletions = (RoceCompletionQueue)options.receiveCompletions();
        sharedReceives = (RoceSharedReceiveQueue)options.sharedReceiveQueue();
        receives = sharedReceives != null ? sharedReceives.receives(number) :
            new ReceiveQueue(options.capabilities().maxReceiveRequests());
        route = options.type() == QueuePairType.DC_INITIATOR ?
            new DcRoute(port, attributes, firstConnection) : new Route(options.type(), attributes);
        final boolean isReliable = options.type() == QueuePairType.RC || options.type() == QueuePairType.DC_INITIATOR;
        sender = isReliable ? new ReliableSender(port, options.capabilities().maxSendRequests()) :
            new UnreliableSender(port);
        receiver = receivers.apply(port);
        if (route instanceof final DcRoute initiated)
        {
            initiated.serve((ReliableSender)sender);
        }
        engine.schedule().add(turn);
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public String transport()
    {
        return route.outbound() == null ? "none" : "rocev2";
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    @Override
    public void query(final QueuePairAttributes target)
    {
        engine.exclusively(() -> attributes.fill(target, state));
    }

    @Override
    public void modify(final QueuePairAttributes change)
    {
        engine.exclusively(() ->
        {
            change(change);
            // Whoever drives next looks at it, the exit from this verb at the latest.
            engine.posted().add(turn);
        });
    }

    private void change(final QueuePairAttributes change)
    {
        QueuePairTransitions.check(type(), state, change, EngineOptions.MAX_READ_ATOMIC);
        final QueuePairState target = QueuePairTransitions.target(state, change);
        attributes.apply(change);
        switch (target)
        {
            case RESET -> reset();
            case RTR ->
            {
                if (state == QueuePairState.INIT)
                {
                    connect(change);
                }
                state = target;
            }
            case RTS ->
            {
                if (state == QueuePairState.RTR)
                {
                    route.start(change);
                    sender.start(change.sqPsn());
                }
                state = target;
            }
            case SQD -> drain(change);
            case ERR -> fail();
            default -> state = target;
        }
    }

    private void connect(final QueuePairAttributes change)
    {
        usePath(change);
        receiver.start(change.rqPsn());
    }

    private void usePath(final QueuePairAttributes change)
    {
        if (type() != QueuePairType.UD && change.has(QueuePairAttributes.ADDRESS_VECTOR))
        {
            route.lead(change.destination(), engine.options());
        }
    }

    private void drain(final QueuePairAttributes change)
    {
        if (state == QueuePairState.SQD)
        {
            usePath(change);
            sender.configure();
            return;
        }
        state = QueuePairState.SQD;
        isDraining = true;
        if (sender instanceof ReliableSender reliable)
        {
            reliable.requestAcks();
        }
        port.onSendsDrained();
    }

    private void reset()
    {
        state = QueuePairState.RESET;
        isEstablished = false;
        isDraining = false;
        route.clear();
        turn.deadlineNs = RetryTimers.NEVER_NS;
        attributes.clear();
        sendCompletions.forget(port);
        receiveCompletions.forget(port);
        receiver.clear();
        if (sharedReceives == null)
        {
            receives.clear();
        }
        clearSends();
        sender.forgetAll(sendTail());
        engine.memory().windows.unbindAll(number);
    }

    @Override
    public void moveToError()
    {
        engine.exclusively(() -> fail());
    }

    /** Enters ERR, unless it is there or in RESET. */
    void fail()
    {
        if (state != QueuePairState.RESET && state != QueuePairState.ERR)
        {
            state = QueuePairState.ERR;
            flushInError();
        }
    }

    private void flushInError()
    {
        route.onError();
        turn.deadlineNs = RetryTimers.NEVER_NS;
        sender.flush();
        receiver.flush();
        flushReceives();
        if (sharedReceives != null)
        {
            engine.events().raise(AsyncEventType.QP_LAST_WQE_REACHED, this);
        }
    }

    private void flushReceives()
    {
        // A thread that posts a receive looks at the state afterwards: one of both sees the other.
        VarHandle.fullFence();
        while (sharedReceives == null && !receives.isEmpty())
        {
            final long wrId = receives.wrId();
            receives.remove();
            receiveCompletions.addReceive(port, wrId, WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionOpcode.RECV,
                0, 0, 0, 0, false);
        }
    }

    @Override
    protected void checkDestination(final AddressHandle handle)
    {
        if (type() == QueuePairType.DC_INITIATOR &&
            !(handle instanceof final RoceAddressHandle own && own.isOfProject))
        {
            throw new UnsupportedVerbException("DC to " + handle.target(), toString(),
                "only devices of this provider take its packets: connect an RC queue pair");
        }
    }

    @Override
    public boolean isIdle()
    {
        return engine.whether(() -> state != QueuePairState.ERR && sender.completedPosition == sendTail());
    }

    @Override
    protected void onDoorbell()
    {
        engine.posted().add(turn);
        engine.onPosted();
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (sharedReceives != null || type() == QueuePairType.DC_INITIATOR || !QueuePairStates.takesReceives(state))
        {
            return PostStatus.INVALID_STATE;
        }
        if (!receives.offer(wrId, localAddress, lengthBytes, localKey))
        {
            return PostStatus.QUEUE_FULL;
        }
        VarHandle.fullFence();
        if (state == QueuePairState.ERR)
        {
            engine.posted().add(turn);
            engine.drive();
        }
        return PostStatus.OK;
    }

    @Override
    public void close()
    {
        engine.exclusively(() ->
        {
            if (closing.test(this))
            {
                reset();
                engine.schedule().remove(turn);
                engine.events().forget(this);
            }
        });
    }

    /**
     * Handles a packet for this queue pair whose form, checksum and sender are in order.
     *
     * @param packet       received.
     * @param opcode       known.
     * @param payloadBytes without padding.
     */
    void onPacket(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final int traits = RoceOpcode.traits(opcode);
        marks.onPacket(packet, traits, sender);
        if ((traits & RoceOpcode.IS_NOTIFICATION) != 0)
        {
            return;
        }
        if ((traits & RoceOpcode.IS_RESPONSE) != 0)
        {
            if (route.isAnswer(packet, opcode))
            {
                sender.onResponse(packet, opcode, payloadBytes);
            }
        }
        else
        {
            receiver.onRequest(packet, opcode, payloadBytes);
        }
    }

    /**
     * Sends answers first, then requests.
     *
     * @param quantum most packets of each.
     * @return whether there is more to send now.
     */
    boolean transmit(final int quantum)
    {
        if (QueuePairStates.flushesSends(state))
        {
            sender.flush();
        }
        if (state == QueuePairState.ERR)
        {
            flushReceives();
        }
        final boolean hasAnswers = receiver.transmit(quantum);
        return QueuePairStates.takesSends(state) && !QueuePairStates.flushesSends(state) && sender.transmit(quantum) ||
            hasAnswers;
    }

    /** When an answer is due; for tests. */
    long deadlineNs()
    {
        return turn.deadlineNs;
    }

    /** Whether its completions cannot be delivered any more. */
    boolean isOverrun()
    {
        return sendCompletions.isOverrun() || receiveCompletions.isOverrun();
    }

    /** Whether a packet with its number is of its transport and from its peer, and has a meaning in this state. */
    boolean takes(final RocePacket packet, final int opcode)
    {
        final boolean hasMeaning = QueuePairStates.servesInbound(state) ||
            state == QueuePairState.ERR && receiver instanceof ReliableReceiver reliable && reliable.hasRefused();
        return hasMeaning && route.takes(packet, opcode);
    }

    @Override
    public String toString()
    {
        return "RoceQueuePair{number=" + number + ", type=" + type() + ", state=" + state + ", path=" +
            route.outbound() + '}';
    }

    /** Its place among the queue pairs of the engine. */
    private final class Turn extends ScheduleEntry
    {
        @Override
        boolean transmit(final int quantum)
        {
            return RoceQueuePair.this.transmit(quantum);
        }

        @Override
        void onTimer(final long nowNs)
        {
            route.onTimer(nowNs);
            sender.onTimer(nowNs);
        }
    }

    /** What requester and responder see of it. */
    private final class Port extends QueuePairPort
    {
        @Override
        int number()
        {
            return number;
        }

        @Override
        void freeSends(final long position)
        {
            releaseSends(position);
        }

        @Override
        void freeReceive()
        {
            receives.release();
        }

        @Override
        EngineContext engine()
        {
            return engine;
        }

        @Override
        ProtectionDomain domain()
        {
            return domain;
        }

        @Override
        QueuePairType type()
        {
            return RoceQueuePair.this.type();
        }

        @Override
        QueuePairState state()
        {
            return state;
        }

        @Override
        void query(final QueuePairAttributes target)
        {
            attributes.fill(target, state);
        }

        @Override
        int accessFlags()
        {
            return attributes.accessFlags();
        }

        @Override
        int qkey()
        {
            return attributes.qkey();
        }

        @Override
        int readAtomicDepth()
        {
            return attributes.maxDestinationReadAtomic();
        }

        @Override
        int rnrCode()
        {
            return attributes.rnrCode();
        }

        @Override
        Route route()
        {
            return route;
        }

        @Override
        RoceCompletionQueue sendCompletions()
        {
            return sendCompletions;
        }

        @Override
        RoceCompletionQueue receiveCompletions()
        {
            return receiveCompletions;
        }

        @Override
        ReceiveQueue receives()
        {
            return receives;
        }

        @Override
        void onReceiveTaken()
        {
            if (sharedReceives != null)
            {
                sharedReceives.onTaken();
            }
        }

        @Override
        long sendEnd()
        {
            return sendTail();
        }

        @Override
        WorkRequest sendRequest(final long position)
        {
            return request(position);
        }

        @Override
        void wake()
        {
            engine.schedule().wake(turn);
        }

        @Override
        void deadline(final long timeNs)
        {
            engine.schedule().deadline(turn, Math.min(timeNs, route.deadlineNs()));
        }

        @Override
        boolean invalidate(final int key)
        {
            final BoundWindow window = engine.memory().windows.find(key);
            final boolean isAllowed = window != null && window.mayInvalidate(key, domain, number);
            if (isAllowed)
            {
                window.unbind();
            }
            return isAllowed;
        }

        @Override
        void onSendFailure(final int status)
        {
            // First: who takes the completion, on another thread, finds the state that it stands for.
            state = sender instanceof ReliableSender ? QueuePairState.ERR : QueuePairState.SQE;
            sender.complete(status);
            if (state == QueuePairState.SQE)
            {
                sender.flush();
                return;
            }
            flushInError();
        }

        @Override
        void onSendsDrained()
        {
            if (sender.isDrained())
            {
                route.onDrained();
            }
            if (isDraining && state == QueuePairState.SQD && sender.isDrained())
            {
                isDraining = false;
                engine.events().raise(AsyncEventType.SQ_DRAINED, RoceQueuePair.this);
            }
        }

        @Override
        void onRequestRefused(final AsyncEventType event)
        {
            if (event != null)
            {
                engine.events().raise(event, RoceQueuePair.this);
            }
            fail();
        }

        @Override
        void onMessage()
        {
            if (!isEstablished)
            {
                isEstablished = true;
                if (state == QueuePairState.RTR)
                {
                    engine.events().raise(AsyncEventType.COMM_EST, RoceQueuePair.this);
                }
            }
        }

        @Override
        void moveToError()
        {
            fail();
        }
    }
}
