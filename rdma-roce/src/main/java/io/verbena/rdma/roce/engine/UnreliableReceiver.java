package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.IethDescriptor;
import io.verbena.rdma.roce.wire.ImmDtDescriptor;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

/**
 * The responder of a UC queue pair: no answers. A message of which a packet is missing is given up, what arrived of it
 * may be in place, and its receive serves the next one.
 */
final class UnreliableReceiver extends ReceiveSide
{
    /** How much a packet may have been overtaken. What is farther back is no late packet: as many were lost before. */
    private static final int LATE_PACKETS = 1 << 16;

    private final InboundWrite write;
    private int expected;
    private int openMessage;

    UnreliableReceiver(final QueuePairPort queuePair)
    {
        super(queuePair);
        write = new InboundWrite(queuePair);
    }

    @Override
    void start(final int sequence)
    {
        clear();
        expected = sequence;
    }

    @Override
    void clear()
    {
        super.clear();
        openMessage = 0;
    }

    @Override
    void onRequest(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final int sequence = BthDescriptor.sequence(packet.buffer(), 0);
        final int traits = RoceOpcode.traits(opcode);
        final int message = traits & (RoceOpcode.IS_SEND | RoceOpcode.IS_WRITE);
        final boolean begins = (traits & RoceOpcode.BEGINS) != 0;
        final boolean isInPlace = begins || sequence == expected && openMessage == message;
        final int distance = PacketSequence.distance(sequence, expected);
        final boolean isLate = distance < 0 && distance >= -LATE_PACKETS;
        if (isLate || message == 0)
        {
            drop();
            return;
        }
        expected = PacketSequence.add(sequence, 1);
        openMessage = 0;
        final boolean isTaken = isInPlace && hasLengthOfItsPlace(traits, payloadBytes) &&
            (message == RoceOpcode.IS_SEND ? takeSend(packet, opcode, traits, payloadBytes) :
            takeWrite(packet, opcode, traits, payloadBytes));
        if (!isTaken)
        {
            drop();
            return;
        }
        openMessage = (traits & RoceOpcode.ENDS) == 0 ? message : 0;
        queuePair.onMessage();
    }

    private boolean takeSend(final RocePacket packet, final int opcode, final int traits, final int payloadBytes)
    {
        if ((traits & RoceOpcode.BEGINS) != 0)
        {
            if (!receive.isAvailable())
            {
                return false;
            }
            receive.take();
        }
        final int status = receive.check(payloadBytes);
        if (status == WorkCompletionStatus.LOC_PROT_ERR)
        {
            receive.fail(status);
            queuePair.moveToError();
        }
        final int headersEnd = RoceOpcode.headerBytes(opcode);
        final boolean hasKey = (traits & RoceOpcode.HAS_IETH) != 0;
        if (status != WorkCompletionStatus.SUCCESS || hasKey && !queuePair.invalidate(
            IethDescriptor.remoteKey(packet.buffer(), headersEnd - IethDescriptor.LENGTH_BYTES)))
        {
            return false;
        }
        receive.place(payload(packet, opcode), payloadBytes);
        if ((traits & RoceOpcode.ENDS) != 0)
        {
            final boolean hasImmediate = (traits & RoceOpcode.HAS_IMMEDIATE) != 0;
            final int withKey = hasKey ? WorkCompletions.WITH_INVALIDATION : 0;
            receive.complete(hasImmediate || hasKey ?
                ImmDtDescriptor.immediate(packet.buffer(), headersEnd - ImmDtDescriptor.LENGTH_BYTES) : 0,
                hasImmediate ? WorkCompletions.WITH_IMMEDIATE : withKey, 0,
                BthDescriptor.isSolicited(packet.buffer(), 0));
        }
        return true;
    }

    private boolean takeWrite(final RocePacket packet, final int opcode, final int traits, final int payloadBytes)
    {
        final boolean isLast = (traits & RoceOpcode.ENDS) != 0;
        final boolean hasImmediate = (traits & RoceOpcode.HAS_IMMEDIATE) != 0;
        int status = (traits & RoceOpcode.BEGINS) != 0 ? write.begin(packet) : WorkCompletionStatus.SUCCESS;
        if (status == WorkCompletionStatus.SUCCESS)
        {
            status = write.check(payloadBytes, isLast);
        }
        if (status != WorkCompletionStatus.SUCCESS || hasImmediate && !receive.isAvailable())
        {
            return false;
        }
        write.place(payload(packet, opcode), payloadBytes);
        if (hasImmediate)
        {
            receive.take();
            receive.completeWrite(write.lengthBytes(), ImmDtDescriptor.immediate(
                packet.buffer(), RoceOpcode.headerBytes(opcode) - ImmDtDescriptor.LENGTH_BYTES),
                WorkCompletions.WITH_IMMEDIATE, BthDescriptor.isSolicited(packet.buffer(), 0));
        }
        return true;
    }

    private void drop()
    {
        queuePair.engine().counters().unreliableDrops++;
    }
}
