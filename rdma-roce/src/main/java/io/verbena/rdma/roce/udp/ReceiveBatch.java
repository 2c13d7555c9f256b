package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.RocePacket;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

/**
 * Takes packets from a socket, several messages a system call ({@code recvmmsg}). A message may hold several packets of
 * one length, the last one shorter, that came together (generic receive offload, {@code UDP_GRO} in udp(7)).
 */
final class ReceiveBatch
{
    private static final int MESSAGES = 32;
    /** Longest message. */
    private static final int MESSAGE_BYTES = 1 << 16;
    /** Messages begin at different offsets of a page, as the first lines of all would share one set of the cache. */
    private static final int STRIDE_BYTES = MESSAGE_BYTES + 256;
    private static final int PAGE_BYTES = 4096;
    private static final int LINE_BYTES = 64;
    private static final int VECTOR_BYTES = 16;
    /** Room for the traffic class and the length of a run, and some to spare. */
    private static final int CONTROL_BYTES = 96;

    private final SocketCalls calls;
    private final UdpCounters counters;
    private final SentErrors errors;
    private final long addressHigh;
    private final long addressLow;
    private final int port;
    private final MessageHeaders headers = new MessageHeaders(MESSAGES, CONTROL_BYTES);
    private final UnsafeBuffer vectors =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(MESSAGES * VECTOR_BYTES, LINE_BYTES));
    private final RocePacket packet;
    private int segmentBytes;
    private boolean isCongestionMarked;

    ReceiveBatch(
        final SocketCalls calls,
        final UdpCounters counters,
        final SentErrors errors,
        final long addressHigh,
        final long addressLow,
        final int port)
    {
        this.calls = calls;
        this.counters = counters;
        this.errors = errors;
        this.addressHigh = addressHigh;
        this.addressLow = addressLow;
        this.port = port;
        final ByteBuffer memory = BufferUtil.allocateDirectAligned(MESSAGES * STRIDE_BYTES, PAGE_BYTES);
        packet = new RocePacket(memory);
        final long address = packet.buffer().addressOffset();
        for (int i = 0; i < MESSAGES; i++)
        {
            vectors.putLong(i * VECTOR_BYTES, address + (long)i * STRIDE_BYTES);
            vectors.putLong(i * VECTOR_BYTES + Long.BYTES, MESSAGE_BYTES);
            headers.vectors(i, vectors.addressOffset() + (long)i * VECTOR_BYTES, 1);
            headers.resetForReceive(i);
        }
    }

    /** Hands on what the kernel has; returns how many packets. */
    int receive(final int descriptor, final PacketHandler handler)
    {
        final int count =
            calls.recvmmsg(descriptor, headers.address(0), MESSAGES, SocketConstants.MSG_DONTWAIT);
        if (count <= 0)
        {
            if (count != -SocketConstants.EAGAIN || errors.takeExpected())
            {
                errors.drain(descriptor);
            }
            return 0;
        }
        counters.receiveCalls++;
        int received = 0;
        for (int i = 0; i < count; i++)
        {
            received += onMessage(i, handler);
        }
        return received;
    }

    private int onMessage(final int index, final PacketHandler handler)
    {
        final int lengthBytes = headers.lengthBytes(index);
        final UnsafeBuffer names = headers.names();
        final int nameOffset = headers.nameOffset(index);
        final long sourceHigh = SocketName.high(names, nameOffset);
        final long sourceLow = SocketName.low(names, nameOffset);
        final int sourcePort = SocketName.port(names, nameOffset);
        segmentBytes = lengthBytes;
        isCongestionMarked = false;
        readControls(index);
        headers.resetForReceive(index);
        if (lengthBytes == 0)
        {
            counters.malformed++;
            return 0;
        }
        int received = 0;
        for (int done = 0; done < lengthBytes; done += segmentBytes)
        {
            final int packetBytes = Math.min(segmentBytes, lengthBytes - done);
            if (packetBytes < RocePacket.MIN_LENGTH_BYTES || packetBytes > RocePacket.MAX_LENGTH_BYTES)
            {
                counters.malformed++;
                continue;
            }
            packet.select(index * STRIDE_BYTES + done, packetBytes);
            packet.path(sourceHigh, sourceLow, sourcePort, addressHigh, addressLow, port);
            packet.congestionMarked(isCongestionMarked);
            received++;
            handler.onPacket(packet);
        }
        counters.received += received;
        counters.congestionMarked += isCongestionMarked ? received : 0;
        return received;
    }

    private void readControls(final int index)
    {
        final UnsafeBuffer controls = headers.controls();
        final int end = headers.controlEnd(index);
        for (int offset = headers.controlOffset(index); offset + MessageHeaders.CONTROL_HEADER_BYTES < end;
            offset = MessageHeaders.next(controls, offset))
        {
            final int level = MessageHeaders.level(controls, offset);
            final int type = MessageHeaders.type(controls, offset);
            final int data = offset + MessageHeaders.CONTROL_HEADER_BYTES;
            if (level == SocketConstants.SOL_UDP && type == SocketConstants.UDP_GRO)
            {
                // The kernel gives an int; a run of packets without length would never end.
                segmentBytes = Math.max(1, controls.getInt(data));
            }
            else if (level == SocketConstants.SOL_IPV6 && type == SocketConstants.IPV6_TCLASS ||
                level == SocketConstants.SOL_IP && type == SocketConstants.IP_TOS)
            {
                // IPv6 gives an int, IPv4 a byte; the bits are in the first byte of either.
                isCongestionMarked =
                    (controls.getByte(data) & SocketConstants.ECN_MASK) == SocketConstants.ECN_CONGESTED;
            }
        }
    }
}
