package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * What a DC target grants (DcAcceptETH), a format of this project: the last header of DC_ACCEPT;
 * {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                          connection                           |
 *  +---------------+---------------+-------------------------------+
 *  |   path MTU    |     depth     |           reserved            |
 *  +---------------+---------------+-------------------------------+
 * </pre>
 */
public final class DcAcceptEthDescriptor
{
    /** Offset of the 32-bit number of the connection, as DC_CONNECT had it. */
    public static final int CONNECTION_OFFSET = 0;
    /** Offset of the byte with the path MTU: 1 (256 bytes) to 5 (4096), at most the one asked for. */
    public static final int MTU_OFFSET = CONNECTION_OFFSET + Integer.BYTES;
    /** Offset of the byte that says how many READs and atomics the target answers at once. */
    public static final int DEPTH_OFFSET = MTU_OFFSET + Byte.BYTES;
    /** Offset of two bytes of zeros. */
    public static final int RESERVED_OFFSET = DEPTH_OFFSET + Byte.BYTES;
    /** Length of the header. */
    public static final int LENGTH_BYTES = RESERVED_OFFSET + Short.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    private DcAcceptEthDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(
        final MutableDirectBuffer buffer, final int offset, final int connection, final int mtuCode, final int depth)
    {
        buffer.putInt(offset + CONNECTION_OFFSET, connection, ORDER);
        buffer.putByte(offset + MTU_OFFSET, (byte)mtuCode);
        buffer.putByte(offset + DEPTH_OFFSET, (byte)depth);
        buffer.putShort(offset + RESERVED_OFFSET, (short)0, ORDER);
    }

    /** The number of the connection. */
    public static int connection(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + CONNECTION_OFFSET, ORDER);
    }

    /** The path MTU, 0 to 255. */
    public static int mtuCode(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + MTU_OFFSET) & 0xFF;
    }

    /** READs and atomics that the target answers at once, 0 to 255. */
    public static int depth(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + DEPTH_OFFSET) & 0xFF;
    }
}
