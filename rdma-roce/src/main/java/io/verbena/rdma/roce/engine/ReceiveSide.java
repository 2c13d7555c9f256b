package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/** The responder of a queue pair: carries out what requests ask for. Used by the engine's thread. */
abstract class ReceiveSide
{
    final QueuePairPort queuePair;
    final InboundReceive receive;

    ReceiveSide(final QueuePairPort queuePair)
    {
        this.queuePair = queuePair;
        receive = new InboundReceive(queuePair);
    }

    /**
     * Enters RTR.
     *
     * @param sequence PSN expected first.
     */
    abstract void start(int sequence);

    /**
     * Handles a request.
     *
     * @param packet       whose form has been checked.
     * @param opcode       of a request.
     * @param payloadBytes without padding.
     */
    abstract void onRequest(RocePacket packet, int opcode, int payloadBytes);

    /**
     * Sends answers.
     *
     * @param quantum most packets.
     * @return whether there are more.
     */
    boolean transmit(final int quantum)
    {
        return false;
    }

    /** Forgets everything, as in RESET. */
    void clear()
    {
        receive.clear();
    }

    /** Enters ERR. */
    void flush()
    {
        receive.fail(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    /** Whether a packet has as many bytes as its place in the message demands. */
    final boolean hasLengthOfItsPlace(final int traits, final int payloadBytes)
    {
        final int mtu = queuePair.route().mtu();
        if ((traits & RoceOpcode.ENDS) == 0)
        {
            return payloadBytes == mtu;
        }
        return payloadBytes <= mtu && ((traits & RoceOpcode.BEGINS) != 0 || payloadBytes > 0);
    }

    /** Syndrome that refuses a request which ends at its requester with a status. */
    static int syndrome(final int requesterStatus)
    {
        return switch (requesterStatus)
        {
            case WorkCompletionStatus.REM_INV_REQ_ERR -> AethDescriptor.INVALID_REQUEST;
            case WorkCompletionStatus.REM_ACCESS_ERR -> AethDescriptor.REMOTE_ACCESS_ERROR;
            default -> AethDescriptor.REMOTE_OPERATIONAL_ERROR;
        };
    }

    /** Status of a request that was refused with a syndrome. */
    static int status(final int syndrome)
    {
        return switch (syndrome)
        {
            case AethDescriptor.INVALID_REQUEST -> WorkCompletionStatus.REM_INV_REQ_ERR;
            case AethDescriptor.REMOTE_ACCESS_ERROR -> WorkCompletionStatus.REM_ACCESS_ERR;
            default -> WorkCompletionStatus.REM_OP_ERR;
        };
    }

    /** Where the payload of a packet lies, in the terms of raw memory. */
    static long payload(final RocePacket packet, final int opcode)
    {
        return packet.buffer().addressOffset() + RoceOpcode.headerBytes(opcode);
    }

    /**
     * Answers packets that a router marked because its queue was long: the peer is asked to send less, at most once in
     * an interval, as by RNICs. Marked responses of READs also make this side request less, since it decides how much
     * is on the way. Used by the engine's thread.
     */
    static final class CongestionMarks
    {
        /** Between two notifications of a queue pair. */
        static final long INTERVAL_NS = 50_000;

        private final QueuePairPort queuePair;
        private long lastNs = Long.MIN_VALUE / 2;

        CongestionMarks(final QueuePairPort queuePair)
        {
            this.queuePair = queuePair;
        }

        /** A packet with these traits has arrived for the queue pair of a requester. */
        void onPacket(final RocePacket packet, final int traits, final SendSide sender)
        {
            if ((traits & RoceOpcode.IS_NOTIFICATION) != 0)
            {
                queuePair.engine().counters().notifications++;
                sender.onNotification();
            }
            else if (packet.isCongestionMarked())
            {
                if ((traits & RoceOpcode.IS_RESPONSE) != 0)
                {
                    sender.onNotification();
                }
                askForLess();
            }
        }

        /** Whether the peer has a queue pair that could send less: a DC target has none. */
        private boolean isConnected()
        {
            return queuePair.type() == QueuePairType.RC || queuePair.type() == QueuePairType.UC;
        }

        private void askForLess()
        {
            final EngineContext engine = queuePair.engine();
            final long nowNs = engine.nowNs();
            if (isConnected() && nowNs - lastNs >= INTERVAL_NS && engine.writer().sendNotification(
                queuePair.route().outbound(), queuePair.route().cipher(), queuePair.route().destinationNumber()))
            {
                lastNs = nowNs;
                engine.counters().notificationsSent++;
            }
        }
    }
}
