package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DethDescriptor;
import io.verbena.rdma.roce.wire.ImmDtDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The responder of a UD queue pair. A datagram with a wrong Q_Key, or that finds no receive long enough for it and the
 * 40 bytes of its routing header, vanishes.
 */
final class DatagramReceiver extends ReceiveSide
{
    private static final int VERSION_6 = 6 << 28;
    private static final int LENGTH_OFFSET = 4;
    private static final int NEXT_HEADER_OFFSET = 6;
    private static final int HOP_LIMIT_OFFSET = 7;
    private static final int SOURCE_OFFSET = 8;
    private static final int DESTINATION_OFFSET = 24;
    private static final byte NEXT_HEADER_TRANSPORT = 0x1B;
    private static final byte HOP_LIMIT = 64;

    private final UnsafeBuffer routingHeader =
        new UnsafeBuffer(ByteBuffer.allocateDirect(GlobalRoutingHeader.LENGTH_BYTES));

    DatagramReceiver(final QueuePairPort queuePair)
    {
        super(queuePair);
    }

    @Override
    void start(final int sequence)
    {
        clear();
    }

    @Override
    void onRequest(final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final int qkey = DethDescriptor.qkey(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        final int totalBytes = GlobalRoutingHeader.LENGTH_BYTES + payloadBytes;
        if (qkey != queuePair.qkey() || !receive.isAvailable(totalBytes))
        {
            queuePair.engine().counters().unreliableDrops++;
            return;
        }
        receive.take();
        final int status = receive.check(totalBytes);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            receive.fail(status);
            queuePair.moveToError();
            return;
        }
        putRoutingHeader(packet);
        receive.place(routingHeader.addressOffset(), GlobalRoutingHeader.LENGTH_BYTES);
        receive.place(payload(packet, opcode), payloadBytes);
        final boolean hasImmediate = (RoceOpcode.traits(opcode) & RoceOpcode.HAS_IMMEDIATE) != 0;
        receive.complete(hasImmediate ? ImmDtDescriptor.immediate(
            packet.buffer(), RoceOpcode.headerBytes(opcode) - ImmDtDescriptor.LENGTH_BYTES) : 0,
            WorkCompletions.WITH_GRH | (hasImmediate ? WorkCompletions.WITH_IMMEDIATE : 0),
            DethDescriptor.source(packet.buffer(), BthDescriptor.LENGTH_BYTES),
            BthDescriptor.isSolicited(packet.buffer(), 0));
        queuePair.onMessage();
    }

    /** As {@link GlobalRoutingHeader} describes it, from the addresses of the packet. */
    private void putRoutingHeader(final RocePacket packet)
    {
        routingHeader.putInt(0, VERSION_6, ByteOrder.BIG_ENDIAN);
        routingHeader.putShort(LENGTH_OFFSET, (short)packet.lengthBytes(), ByteOrder.BIG_ENDIAN);
        routingHeader.putByte(NEXT_HEADER_OFFSET, NEXT_HEADER_TRANSPORT);
        routingHeader.putByte(HOP_LIMIT_OFFSET, HOP_LIMIT);
        routingHeader.putLong(SOURCE_OFFSET, packet.sourceHigh(), ByteOrder.BIG_ENDIAN);
        routingHeader.putLong(SOURCE_OFFSET + Long.BYTES, packet.sourceLow(), ByteOrder.BIG_ENDIAN);
        routingHeader.putLong(DESTINATION_OFFSET, packet.destinationHigh(), ByteOrder.BIG_ENDIAN);
        routingHeader.putLong(DESTINATION_OFFSET + Long.BYTES, packet.destinationLow(), ByteOrder.BIG_ENDIAN);
    }
}
