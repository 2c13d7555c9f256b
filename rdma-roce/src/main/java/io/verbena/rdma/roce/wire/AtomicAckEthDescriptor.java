package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Atomic acknowledge extended transport header (AtomicAckETH), behind the AETH of the answer to an atomic;
 * {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                        original value                         |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class AtomicAckEthDescriptor
{
    /** Offset of the 64-bit value that the word had before. */
    public static final int ORIGINAL_OFFSET = 0;
    /** Length of the header. */
    public static final int LENGTH_BYTES = ORIGINAL_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    private AtomicAckEthDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(final MutableDirectBuffer buffer, final int offset, final long original)
    {
        buffer.putLong(offset + ORIGINAL_OFFSET, original, ORDER);
    }

    /** The value that the word had before. */
    public static long original(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + ORIGINAL_OFFSET, ORDER);
    }
}
