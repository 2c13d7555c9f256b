package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
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
        final int mtu = queuePair.mtu();
        if ((traits & RoceOpcode.ENDS) == 0)
        {
            return payloadBytes == mtu;
        }
        return payloadBytes <= mtu && ((traits & RoceOpcode.BEGINS) != 0 || payloadBytes > 0);
    }

    /** Where the payload of a packet lies, in the terms of raw memory. */
    static long payload(final RocePacket packet, final int opcode)
    {
        return packet.buffer().addressOffset() + RoceOpcode.headerBytes(opcode);
    }
}
