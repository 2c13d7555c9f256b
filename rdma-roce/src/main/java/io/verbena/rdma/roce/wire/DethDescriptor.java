package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Datagram extended transport header (DETH), behind the BTH of every UD packet; {@code docs/format/roce-packet.md};
 * big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                             Q_Key                             |
 *  +---------------+-----------------------------------------------+
 *  |   reserved    |               source queue pair               |
 *  +---------------+-----------------------------------------------+
 * </pre>
 */
public final class DethDescriptor
{
    /** Offset of the 32-bit key that the receiving queue pair expects. */
    public static final int QKEY_OFFSET = 0;
    /** Offset of the word whose lower 24 bits are the source queue pair. */
    public static final int SOURCE_OFFSET = QKEY_OFFSET + Integer.BYTES;
    /** Length of the header. */
    public static final int LENGTH_BYTES = SOURCE_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;
    private static final int NUMBER_MASK = 0xFF_FFFF;

    private DethDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(final MutableDirectBuffer buffer, final int offset, final int qkey, final int source)
    {
        buffer.putInt(offset + QKEY_OFFSET, qkey, ORDER);
        buffer.putInt(offset + SOURCE_OFFSET, source & NUMBER_MASK, ORDER);
    }

    /** The key that the receiving queue pair expects. */
    public static int qkey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + QKEY_OFFSET, ORDER);
    }

    /** The queue pair that sent, 24 bits. */
    public static int source(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + SOURCE_OFFSET, ORDER) & NUMBER_MASK;
    }
}
