package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.DcAckEthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

/**
 * A responder that serves one initiator of a DC target at a time. Its number changes each time, and requests with an
 * older one are not its own: the lower bits say which context it is, the others how often it was used. Made once, used
 * again. Used by the engine's thread.
 */
final class DcContext extends QueuePairPort
{
    /** 320 us. */
    private static final int RNR_CODE = 10;

    private final EngineContext engine;
    private final int slot;
    private final ContextRoute route = new ContextRoute();
    private final ReliableReceiver receiver;
    private final ReceiveSide.CongestionMarks marks = new ReceiveSide.CongestionMarks(this);
    private final ScheduleEntry turn = new Turn();
    private RoceDcTarget target;
    private int generation;
    private int initiator;
    private int connection;
    private int mtu;
    private long heardNs;

    /**
     * @param slot       among the contexts of its engine.
     * @param generation of its first number, at random.
     */
    DcContext(final EngineContext engine, final int slot, final int generation)
    {
        this.engine = engine;
        this.slot = slot;
        this.generation = generation;
        receiver = new ReliableReceiver(this);
    }

    /**
     * Begins to serve an initiator.
     *
     * @param served     its target.
     * @param packet     that asks for it.
     * @param source     queue pair number of the initiator.
     * @param number     of the connection.
     * @param mtuBytes   longest payload of a packet, both ways.
     * @param sequence   PSN of the first request.
     */
    void open(
        final RoceDcTarget served,
        final RocePacket packet,
        final int source,
        final int number,
        final int mtuBytes,
        final int sequence)
    {
        target = served;
        initiator = source;
        connection = number;
        mtu = mtuBytes;
        do
        {
            generation++;
        }
        while (contextNumber() == 0);
        if (!isBack(packet))
        {
            route.lead(packet.wayBack(), null);
        }
        receiver.start(sequence);
        heardNs = engine.nowNs();
    }

    /** Serves nobody any more; a receive that is not full yet completes with WR_FLUSH_ERR. */
    void release()
    {
        receiver.flush();
        target = null;
    }

    /** Serves nobody any more, and nothing completes. */
    void drop()
    {
        receiver.clear();
        target = null;
    }

    boolean isFree()
    {
        return target == null;
    }

    /** Whether it serves a target. */
    boolean isOf(final RoceDcTarget other)
    {
        return target == other;
    }

    /** Whether it serves a connection to a target, of the initiator that it is of. */
    boolean isFor(final RoceDcTarget other, final int number)
    {
        return target == other && connection == number;
    }

    /** Whether it serves the initiator that has sent a packet, or has served it last. */
    boolean isOfInitiator(final RocePacket packet, final int source)
    {
        return initiator == source && isBack(packet);
    }

    /** Number of the connection that it was opened for last. */
    int connection()
    {
        return connection;
    }

    /** Whether a request with the number of a context is of the initiator that it serves now. */
    boolean serves(final RoceDcTarget other, final RocePacket packet, final int source, final int number)
    {
        return target == other && contextNumber() == number && initiator == source && isBack(packet);
    }

    /** Whether its answers would go to where a packet came from. */
    boolean isBack(final RocePacket packet)
    {
        return packet.isAnsweredBy(route.outbound());
    }

    int contextNumber()
    {
        return generation << EngineOptions.DC_SLOT_BITS | slot;
    }

    /** When the initiator was heard of last. */
    long heardNs()
    {
        return heardNs;
    }

    /** The initiator has asked for the context once more. */
    void onAskedAgain()
    {
        heardNs = engine.nowNs();
    }

    void onRequest(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        heardNs = engine.nowNs();
        marks.onPacket(packet, RoceOpcode.traits(opcode), null);
        receiver.onRequest(packet, opcode, payloadBytes);
    }

    @Override
    int number()
    {
        return target.number();
    }

    @Override
    void freeSends(final long position)
    {
        // sends nothing of its own
    }

    @Override
    void freeReceive()
    {
        target.owner().freeReceive();
    }

    @Override
    RoceCompletionQueue.Owner receiver()
    {
        return target.owner();
    }

    @Override
    EngineContext engine()
    {
        return engine;
    }

    @Override
    ProtectionDomain domain()
    {
        return target.domain();
    }

    @Override
    QueuePairType type()
    {
        // serves a connection as a queue pair of this type does
        return QueuePairType.RC;
    }

    @Override
    QueuePairState state()
    {
        return QueuePairState.RTR;
    }

    @Override
    void query(final QueuePairAttributes attributes)
    {
        attributes.clear();
    }

    @Override
    int accessFlags()
    {
        return target.options().accessFlags();
    }

    @Override
    int qkey()
    {
        return 0;
    }

    @Override
    int readAtomicDepth()
    {
        return target.options().maxReadAtomic();
    }

    @Override
    int rnrCode()
    {
        return RNR_CODE;
    }

    @Override
    Route route()
    {
        return route;
    }

    @Override
    RoceCompletionQueue sendCompletions()
    {
        return null;
    }

    @Override
    RoceCompletionQueue receiveCompletions()
    {
        return target.completions();
    }

    @Override
    ReceiveQueue receives()
    {
        return target.receiveQueue();
    }

    @Override
    void onReceiveTaken()
    {
        target.receives().onTaken();
    }

    @Override
    long sendEnd()
    {
        return 0;
    }

    @Override
    WorkRequest sendRequest(final long position)
    {
        return null;
    }

    @Override
    void wake()
    {
        engine.schedule().wake(turn);
    }

    @Override
    void deadline(final long timeNs)
    {
        // a responder has none
    }

    @Override
    boolean invalidate(final int key)
    {
        return false;
    }

    @Override
    void onSendFailure(final int status)
    {
        // sends nothing of its own
    }

    @Override
    void onSendsDrained()
    {
        // sends nothing of its own
    }

    /** What an initiator does wrong ends its connection and nothing else. */
    @Override
    void onRequestRefused(final AsyncEventType event)
    {
        receiver.flush();
    }

    @Override
    void onMessage()
    {
        // a target is never on its way to ready
    }

    @Override
    void moveToError()
    {
        receiver.flush();
    }

    /** Its place among those that have answers to send. */
    private final class Turn extends ScheduleEntry
    {
        @Override
        boolean transmit(final int quantum)
        {
            return target != null && receiver.transmit(quantum);
        }

        @Override
        void onTimer(final long nowNs)
        {
            // has none
        }
    }

    /** The way of its answers. */
    private final class ContextRoute extends Route
    {
        ContextRoute()
        {
            super(QueuePairType.DC_INITIATOR, new CurrentAttributes());
        }

        @Override
        int mtu()
        {
            return mtu;
        }

        @Override
        int destinationNumber()
        {
            return initiator;
        }

        @Override
        void putHeader(final RocePacket packet, final int opcode)
        {
            DcAckEthDescriptor.encode(packet.buffer(), RoceOpcode.dcOffset(opcode), contextNumber());
        }
    }
}
