package io.verbena.rdma.roce.request;

import io.verbena.rdma.roce.wire.AtomicEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.IethDescriptor;
import io.verbena.rdma.roce.wire.ImmDtDescriptor;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.WorkRequest;

/** Operations and headers of the packets of a SEND or WRITE. Pure. */
public final class MessageOpcodes
{
    private MessageOpcodes()
    {
    }

    /**
     * The operation of a packet.
     *
     * @param request SEND or WRITE.
     * @param isFirst whether it is the first of the message.
     * @param isLast  whether it is the last.
     * @return of {@link RoceOpcode}, without transport.
     */
    public static int of(final WorkRequest request, final boolean isFirst, final boolean isLast)
    {
        final boolean isWrite = request.operation == WorkRequest.WRITE;
        if (!isLast)
        {
            final int first = isWrite ? RoceOpcode.WRITE_FIRST : RoceOpcode.SEND_FIRST;
            return isFirst ? first : isWrite ? RoceOpcode.WRITE_MIDDLE : RoceOpcode.SEND_MIDDLE;
        }
        if (request.invalidates)
        {
            return isFirst ? RoceOpcode.SEND_ONLY_WITH_INVALIDATE : RoceOpcode.SEND_LAST_WITH_INVALIDATE;
        }
        if (request.hasImmediate)
        {
            final int only = isWrite ? RoceOpcode.WRITE_ONLY_WITH_IMMEDIATE : RoceOpcode.SEND_ONLY_WITH_IMMEDIATE;
            final int last = isWrite ? RoceOpcode.WRITE_LAST_WITH_IMMEDIATE : RoceOpcode.SEND_LAST_WITH_IMMEDIATE;
            return isFirst ? only : last;
        }
        final int only = isWrite ? RoceOpcode.WRITE_ONLY : RoceOpcode.SEND_ONLY;
        return isFirst ? only : isWrite ? RoceOpcode.WRITE_LAST : RoceOpcode.SEND_LAST;
    }

    /**
     * Writes the header of an atomic.
     *
     * @param packet  to fill.
     * @param request CMP_SWAP or FETCH_ADD.
     * @return its operation, of {@link RoceOpcode}.
     */
    public static int putAtomic(final RocePacket packet, final WorkRequest request)
    {
        final boolean isSwap = request.operation == WorkRequest.COMPARE_SWAP;
        AtomicEthDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, request.remoteAddress,
            request.remoteKey, isSwap ? request.desired : request.operand, isSwap ? request.operand : 0);
        return isSwap ? RoceOpcode.COMPARE_SWAP : RoceOpcode.FETCH_ADD;
    }

    /**
     * Writes the headers between the BTH and the payload.
     *
     * @param packet  to fill.
     * @param opcode  of a SEND or WRITE.
     * @param request it belongs to.
     */
    public static void putHeaders(final RocePacket packet, final int opcode, final WorkRequest request)
    {
        final int traits = RoceOpcode.traits(opcode);
        if ((traits & RoceOpcode.HAS_RETH) != 0)
        {
            RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES,
                request.remoteAddress, request.remoteKey, request.lengthBytes);
        }
        final int end = RoceOpcode.headerBytes(opcode);
        if ((traits & RoceOpcode.HAS_IMMEDIATE) != 0)
        {
            ImmDtDescriptor.encode(packet.buffer(), end - ImmDtDescriptor.LENGTH_BYTES, request.immediate);
        }
        else if ((traits & RoceOpcode.HAS_IETH) != 0)
        {
            IethDescriptor.encode(packet.buffer(), end - IethDescriptor.LENGTH_BYTES, request.remoteKey);
        }
    }
}
