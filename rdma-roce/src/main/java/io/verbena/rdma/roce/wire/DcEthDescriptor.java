package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Extended transport header of DC requests (DcETH), a format of this project: behind the headers that the packet would
 * have on an RC connection, before an immediate; {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                                                               |
 *  +                          access key                           +
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            context                            |
 *  +---------------+-----------------------------------------------+
 *  |   path MTU    |                   initiator                   |
 *  +---------------+-----------------------------------------------+
 * </pre>
 */
public final class DcEthDescriptor
{
    /** Offset of the 64-bit key that the target expects. */
    public static final int ACCESS_KEY_OFFSET = 0;
    /** Offset of the 32-bit context that the target gave; in DC_CONNECT the number of the connection. */
    public static final int CONTEXT_OFFSET = ACCESS_KEY_OFFSET + Long.BYTES;
    /** Offset of the word whose lower 24 bits are the initiator. */
    public static final int INITIATOR_OFFSET = CONTEXT_OFFSET + Integer.BYTES;
    /** Length of the header. */
    public static final int LENGTH_BYTES = INITIATOR_OFFSET + Integer.BYTES;
    /** First bit, in the word of the initiator, of the path MTU: in DC_CONNECT 1 (256 bytes) to 5 (4096), else 0. */
    public static final int MTU_SHIFT = 24;

    /** Code 1 stands for 256 bytes. */
    private static final int MTU_CODE_SHIFT = 7;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;
    private static final int NUMBER_MASK = 0xFF_FFFF;

    static
    {
        if (LENGTH_BYTES != 16)
        {
            throw new ExceptionInInitializerError("DcETH has 16 bytes: " + LENGTH_BYTES);
        }
    }

    private DcEthDescriptor()
    {
    }

    /**
     * Writes a header.
     *
     * @param buffer    target.
     * @param offset    of the header.
     * @param accessKey that the target expects.
     * @param context   that the target gave, or the number of the connection.
     * @param mtuCode   0 to 5.
     * @param initiator 24-bit queue pair number.
     */
    public static void encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final long accessKey,
        final int context,
        final int mtuCode,
        final int initiator)
    {
        buffer.putLong(offset + ACCESS_KEY_OFFSET, accessKey, ORDER);
        buffer.putInt(offset + CONTEXT_OFFSET, context, ORDER);
        buffer.putInt(offset + INITIATOR_OFFSET, mtuCode << MTU_SHIFT | initiator & NUMBER_MASK, ORDER);
    }

    /** The key that the initiator names. */
    public static long accessKey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + ACCESS_KEY_OFFSET, ORDER);
    }

    /** The context, or the number of the connection. */
    public static int context(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + CONTEXT_OFFSET, ORDER);
    }

    /** The path MTU, 0 to 255. */
    public static int mtuCode(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + INITIATOR_OFFSET, ORDER) >>> MTU_SHIFT;
    }

    /** A path MTU of 256 to 4096 bytes as a code, rounded down. */
    public static int mtuCode(final int mtuBytes)
    {
        return Integer.numberOfTrailingZeros(Integer.highestOneBit(mtuBytes)) - MTU_CODE_SHIFT;
    }

    /** A path MTU in bytes; the code is 1 to 5. */
    public static int mtuBytes(final int code)
    {
        return 1 << code + MTU_CODE_SHIFT;
    }

    /** The queue pair that sent, 24 bits. */
    public static int initiator(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + INITIATOR_OFFSET, ORDER) & NUMBER_MASK;
    }
}
