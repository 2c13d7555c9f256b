package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * RDMA extended transport header (RETH), of the first packet of a WRITE and of a READ request;
 * {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                        virtual address                        |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                          remote key                           |
 *  +---------------------------------------------------------------+
 *  |                          DMA length                           |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class RethDescriptor
{
    /** Offset of the 64-bit virtual address. */
    public static final int ADDRESS_OFFSET = 0;
    /** Offset of the 32-bit remote key. */
    public static final int REMOTE_KEY_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** Offset of the unsigned 32-bit length of the whole message in bytes. */
    public static final int DMA_LENGTH_OFFSET = REMOTE_KEY_OFFSET + Integer.BYTES;
    /** Length of the header. */
    public static final int LENGTH_BYTES = DMA_LENGTH_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    static
    {
        if (LENGTH_BYTES != 16)
        {
            throw new ExceptionInInitializerError("RETH has 16 bytes: " + LENGTH_BYTES);
        }
    }

    private RethDescriptor()
    {
    }

    /**
     * Writes a header.
     *
     * @param buffer         target.
     * @param offset         of the header.
     * @param address        first byte at the responder.
     * @param remoteKey      of its region or window.
     * @param dmaLengthBytes of the whole message, 0 or more.
     */
    public static void encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final long address,
        final int remoteKey,
        final int dmaLengthBytes)
    {
        buffer.putLong(offset + ADDRESS_OFFSET, address, ORDER);
        buffer.putInt(offset + REMOTE_KEY_OFFSET, remoteKey, ORDER);
        buffer.putInt(offset + DMA_LENGTH_OFFSET, dmaLengthBytes, ORDER);
    }

    /** First byte at the responder. */
    public static long address(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + ADDRESS_OFFSET, ORDER);
    }

    /** Key of the region or window. */
    public static int remoteKey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + REMOTE_KEY_OFFSET, ORDER);
    }

    /** Length of the whole message, 0 to 2^32 - 1. */
    public static long dmaLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + DMA_LENGTH_OFFSET, ORDER) & 0xFFFF_FFFFL;
    }
}
