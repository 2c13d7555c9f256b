package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.RoceAddressHandle;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DcAcceptEthDescriptor;
import io.verbena.rdma.roce.wire.DcAckEthDescriptor;
import io.verbena.rdma.roce.wire.DcEthDescriptor;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * The way of a DC initiator's requests, to one target at a time. Before the first request the target is asked for a
 * context, whose number every request names: the target makes a number once only, so that a packet of an earlier
 * connection never has an effect, however late it comes. Connecting again takes a round trip; the context is kept for a
 * while after the last request, and given back then, or when a request goes elsewhere.
 */
final class DcRoute extends Route
{
    /** How long an initiator that has nothing to do keeps its context. */
    static final long REST_NS = 1_000_000;

    private static final long FIRST_REPEAT_NS = 500_000;
    private static final long MAX_REPEAT_NS = 16_000_000;
    private static final int MAX_BACKOFF = 2;
    private static final int CONNECT = RoceOpcode.DC | RoceOpcode.DC_CONNECT;
    private static final int ACCEPT = RoceOpcode.DC | RoceOpcode.DC_ACCEPT;
    private static final int RELEASE = RoceOpcode.DC | RoceOpcode.DC_RELEASE;

    private final QueuePairPort queuePair;
    private final CurrentAttributes attributes;
    private final RequesterTimers.RetryState retries = new RequesterTimers.RetryState();
    private ReliableSender sender;
    private RoceAddressHandle handle;
    private int number;
    private long accessKey;
    private int connection;
    private int context;
    private int mtu;
    private boolean isConnecting;
    private boolean isConnected;
    private long repeatNs;
    private long repeatWaitNs;
    private long restNs = RetryTimers.NEVER_NS;
    private long drainedNs;
    /** Pauses of this process before it connected: in a later one the target may have given the context away. */
    private long pausesBefore;

    /** @param connection number that no earlier initiator with this queue pair number began with, at random. */
    DcRoute(final QueuePairPort queuePair, final CurrentAttributes attributes, final int connection)
    {
        super(queuePair.type(), attributes);
        this.queuePair = queuePair;
        this.attributes = attributes;
        this.connection = connection;
    }

    /** The sender whose requests it leads. */
    void serve(final ReliableSender requester)
    {
        sender = requester;
    }

    @Override
    void start(final QueuePairAttributes change)
    {
        retries.configure(change);
    }

    @Override
    void clear()
    {
        leave();
    }

    @Override
    void onError()
    {
        leave();
    }

    @Override
    int mtu()
    {
        return mtu;
    }

    @Override
    int destinationNumber()
    {
        return number;
    }

    @Override
    boolean takes(final RocePacket packet, final int opcode)
    {
        return super.takes(packet, opcode) && (RoceOpcode.traits(opcode) & RoceOpcode.HAS_DC_ETH) == 0;
    }

    @Override
    boolean leadsTo(final WorkRequest request, final boolean isDrained)
    {
        if (isConnecting)
        {
            return false;
        }
        if (isConnected && isTo(request) && queuePair.engine().pauses() == pausesBefore)
        {
            return true;
        }
        if (isDrained)
        {
            leave();
            connect(request);
        }
        return false;
    }

    private boolean isTo(final WorkRequest request)
    {
        return number == request.destinationNumber && accessKey == request.destinationKey &&
            (handle == request.destination || handle.target().equals(request.destination.target()));
    }

    @Override
    boolean leadsOnTo(final WorkRequest request)
    {
        return isTo(request);
    }

    private void connect(final WorkRequest request)
    {
        handle = (RoceAddressHandle)request.destination;
        number = request.destinationNumber;
        accessKey = request.destinationKey;
        lead(handle.path, handle.inboundPath);
        connection++;
        pausesBefore = queuePair.engine().pauses();
        isConnecting = true;
        final long nowNs = queuePair.engine().nowNs();
        retries.onProgress();
        retries.arm(nowNs);
        repeatWaitNs = FIRST_REPEAT_NS;
        ask(nowNs);
        queuePair.deadline(RetryTimers.NEVER_NS);
    }

    private void ask(final long nowNs)
    {
        // Lost when there is no room, as on the network.
        send(CONNECT);
        repeatNs = nowNs + repeatWaitNs;
        repeatWaitNs = Math.min(2 * repeatWaitNs, MAX_REPEAT_NS);
    }

    private void send(final int opcode)
    {
        final PacketWriter writer = queuePair.engine().writer();
        final RocePacket packet = writer.claim();
        if (packet != null)
        {
            send(writer, packet, opcode, 0, false, opcode == CONNECT, PacketSequence.add(sender.nextSequence, 0));
        }
    }

    @Override
    void putHeader(final RocePacket packet, final int opcode)
    {
        final boolean isConnect = opcode == CONNECT;
        DcEthDescriptor.encode(packet.buffer(), RoceOpcode.dcOffset(opcode), accessKey,
            isConnect ? connection : context, isConnect ? ownMtuCode() : 0, queuePair.number());
    }

    private int ownMtuCode()
    {
        return DcEthDescriptor.mtuCode(
            Math.min(attributes.pathMtuBytes(), queuePair.engine().options().datagramBytes()));
    }

    @Override
    boolean isAnswer(final RocePacket packet, final int opcode)
    {
        if (opcode == ACCEPT)
        {
            onAccept(packet);
            return false;
        }
        final boolean isAnswer = isConnected &&
            DcAckEthDescriptor.context(packet.buffer(), RoceOpcode.dcOffset(opcode)) == context;
        if (!isAnswer)
        {
            queuePair.engine().counters().stale++;
        }
        return isAnswer;
    }

    private void onAccept(final RocePacket packet)
    {
        final int ack = RoceOpcode.dcOffset(ACCEPT);
        final int grant = ack + DcAckEthDescriptor.LENGTH_BYTES;
        final int code = DcAcceptEthDescriptor.mtuCode(packet.buffer(), grant);
        final int syndrome = AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final boolean isGranted = (syndrome & AethDescriptor.KIND_MASK) == AethDescriptor.ACK;
        if (!isConnecting || DcAcceptEthDescriptor.connection(packet.buffer(), grant) != connection ||
            isGranted && (code < 1 || code > ownMtuCode()))
        {
            queuePair.engine().counters().stale++;
        }
        else if (isGranted)
        {
            isConnecting = false;
            isConnected = true;
            context = DcAckEthDescriptor.context(packet.buffer(), ack);
            mtu = DcEthDescriptor.mtuBytes(code);
            retries.disarm();
            drainedNs = queuePair.engine().nowNs();
            // Of a target that answers none the first one is refused, rather than waiting for ever.
            final int depth = Math.max(1, DcAcceptEthDescriptor.depth(packet.buffer(), grant));
            sender.begin(Math.min(attributes.maxReadAtomic(), depth));
            onDrained();
            queuePair.wake();
        }
        else
        {
            leave();
            sender.fail(ReliableReceiver.status(syndrome));
        }
    }

    @Override
    void onDrained()
    {
        if (isConnected)
        {
            drainedNs = queuePair.engine().nowNs();
            if (restNs == RetryTimers.NEVER_NS)
            {
                restNs = drainedNs + REST_NS;
                queuePair.deadline(RetryTimers.NEVER_NS);
            }
        }
    }

    @Override
    long deadlineNs()
    {
        return isConnecting ? Math.min(retries.deadlineNs(), repeatNs) : restNs;
    }

    @Override
    void onTimer(final long nowNs)
    {
        if (isConnecting)
        {
            onUnanswered(nowNs);
        }
        else if (nowNs >= restNs)
        {
            final boolean isDrained = sender.isDrained();
            restNs = isDrained ? drainedNs + REST_NS : RetryTimers.NEVER_NS;
            if (isDrained && nowNs >= restNs)
            {
                leave();
            }
        }
    }

    /** No context yet: the target has none free, or cannot be reached. */
    private void onUnanswered(final long nowNs)
    {
        if (nowNs >= retries.deadlineNs())
        {
            queuePair.engine().counters().timeouts++;
            if (!retries.mayRepeat())
            {
                leave();
                sender.fail(WorkCompletionStatus.RETRY_EXC_ERR);
                return;
            }
            retries.repeat(nowNs, MAX_BACKOFF);
            ask(nowNs);
        }
        else if (nowNs >= repeatNs)
        {
            queuePair.engine().counters().probes++;
            ask(nowNs);
        }
    }

    private void leave()
    {
        if (isConnected)
        {
            // When it is lost, the target takes the context back by itself.
            send(RELEASE);
        }
        isConnecting = false;
        isConnected = false;
        restNs = RetryTimers.NEVER_NS;
        super.clear();
    }

    /** What a DC initiator has in place of a responder. */
    static final class NoRequests extends ReceiveSide
    {
        NoRequests(final QueuePairPort queuePair)
        {
            super(queuePair);
        }

        @Override
        void start(final int sequence)
        {
            // has nothing to expect
        }

        @Override
        void onRequest(final RocePacket packet, final int opcode, final int payloadBytes)
        {
            queuePair.engine().counters().misdirected++;
        }
    }
}
