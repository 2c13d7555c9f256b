package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.request.MessageOpcodes;
import io.verbena.rdma.roce.request.RoceAddressHandle;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DethDescriptor;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/** The requester of a UC or UD queue pair: a request completes when its last packet has been sent. */
final class UnreliableSender extends SendSide
{
    private final boolean isDatagram;
    private int nextSequence;
    private int cursorPacket;

    UnreliableSender(final QueuePairPort queuePair)
    {
        super(queuePair);
        isDatagram = queuePair.type() == QueuePairType.UD;
    }

    @Override
    void start(final int sequence)
    {
        nextSequence = sequence;
        cursorPacket = 0;
    }

    @Override
    void forgetAll(final long position)
    {
        completedPosition = position;
        cursorPacket = 0;
    }

    @Override
    boolean isDrained()
    {
        return cursorPacket == 0;
    }

    @Override
    boolean transmit(final int quantum)
    {
        for (int i = 0; i < quantum; i++)
        {
            final boolean mayBegin = cursorPacket > 0 || queuePair.state() == QueuePairState.RTS;
            if (completedPosition == queuePair.sendEnd() || !mayBegin)
            {
                return false;
            }
            if (!step(queuePair.sendRequest(completedPosition)))
            {
                return true;
            }
        }
        return true;
    }

    /** Sends one packet; false when there was no room. */
    private boolean step(final WorkRequest request)
    {
        final int status = cursorPacket == 0 ? begin(request) : WorkCompletionStatus.SUCCESS;
        if (status != WorkCompletionStatus.SUCCESS)
        {
            fail(status);
            return true;
        }
        if (request.isLocal())
        {
            complete(WorkCompletionStatus.SUCCESS);
            return true;
        }
        final RocePacket packet = writer.claim();
        if (packet == null)
        {
            return false;
        }
        final int mtu = isDatagram ? queuePair.engine().options().datagramBytes() : queuePair.route().mtu();
        final int offset = cursorPacket * mtu;
        final int lengthBytes = Math.min(request.lengthBytes - offset, mtu);
        final boolean isLast = offset + lengthBytes == request.lengthBytes;
        final int opcode = queuePair.route().transport |
            MessageOpcodes.of(request, cursorPacket == 0, isLast);
        if (lengthBytes > 0)
        {
            final long source = source(request, offset, lengthBytes);
            if (source == RemoteAccess.REFUSED)
            {
                fail(WorkCompletionStatus.LOC_PROT_ERR);
                return true;
            }
            PacketWriter.putPayload(packet, opcode, source, lengthBytes);
        }
        MessageOpcodes.putHeaders(packet, opcode, request);
        send(packet, request, opcode, lengthBytes, isLast && (request.flags & SendFlags.SOLICITED) != 0);
        cursorPacket++;
        if (isLast)
        {
            cursorPacket = 0;
            complete(WorkCompletionStatus.SUCCESS);
            queuePair.onSendsDrained();
        }
        return true;
    }

    private void send(
        final RocePacket packet,
        final WorkRequest request,
        final int opcode,
        final int lengthBytes,
        final boolean isSolicited)
    {
        if (isDatagram)
        {
            DethDescriptor.encode(
                packet.buffer(), BthDescriptor.LENGTH_BYTES, (int)request.destinationKey, queuePair.number());
            writer.send(packet, ((RoceAddressHandle)request.destination).path, null, opcode, lengthBytes,
                request.destinationNumber, isSolicited, false, nextSequence);
        }
        else
        {
            queuePair.route().send(writer, packet, opcode, lengthBytes, isSolicited, false, nextSequence);
        }
        nextSequence = PacketSequence.add(nextSequence, 1);
    }
}
