package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.DeviceAddress;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The 40 bytes in front of each received datagram ({@code struct ibv_grh}): version, class and flow label (4), payload
 * length (2), next header (1), hop limit (1), source GID (16), destination GID (16); all big-endian.
 */
public final class GlobalRoutingHeader
{
    /** Length. */
    public static final int LENGTH_BYTES = 40;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
        ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int VERSION_6 = 6 << 28;
    private static final byte NEXT_HEADER_TRANSPORT = 0x1B;
    private static final byte HOP_LIMIT = 64;
    private static final int TRANSPORT_HEADER_BYTES = 12 + 8;
    private static final int INVARIANT_CHECKSUM_BYTES = 4;

    private GlobalRoutingHeader()
    {
    }

    /**
     * Writes a header.
     *
     * @param target       40 bytes or more.
     * @param source       sender.
     * @param destination  receiver.
     * @param payloadBytes of the datagram.
     */
    public static void write(
        final MemorySegment target,
        final DeviceAddress source,
        final DeviceAddress destination,
        final int payloadBytes)
    {
        write(target, 0, source, destination, payloadBytes);
    }

    /**
     * Writes a header somewhere in a segment.
     *
     * @param target       long enough.
     * @param offset       of the header, in bytes.
     * @param source       sender.
     * @param destination  receiver.
     * @param payloadBytes of the datagram.
     */
    public static void write(
        final MemorySegment target,
        final long offset,
        final DeviceAddress source,
        final DeviceAddress destination,
        final int payloadBytes)
    {
        target.set(INT, offset, VERSION_6);
        target.set(
            SHORT,
            offset + 4,
            (short)(TRANSPORT_HEADER_BYTES + (payloadBytes + 3 & ~3) + INVARIANT_CHECKSUM_BYTES));
        target.set(ValueLayout.JAVA_BYTE, offset + 6, NEXT_HEADER_TRANSPORT);
        target.set(ValueLayout.JAVA_BYTE, offset + 7, HOP_LIMIT);
        target.set(LONG, offset + 8, source.gidHigh());
        target.set(LONG, offset + 16, source.gidLow());
        target.set(LONG, offset + 24, destination.gidHigh());
        target.set(LONG, offset + 32, destination.gidLow());
    }
}
