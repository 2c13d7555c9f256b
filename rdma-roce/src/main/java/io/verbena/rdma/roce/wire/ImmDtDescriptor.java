package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Immediate data (ImmDt), in the last packet of a SEND or WRITE that carries one; {@code docs/format/roce-packet.md};
 * big-endian, so that both sides see the same int value.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                           immediate                           |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class ImmDtDescriptor
{
    /** Offset of the 32-bit immediate. */
    public static final int IMMEDIATE_OFFSET = 0;
    /** Length of the header. */
    public static final int LENGTH_BYTES = IMMEDIATE_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    private ImmDtDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(final MutableDirectBuffer buffer, final int offset, final int immediate)
    {
        buffer.putInt(offset + IMMEDIATE_OFFSET, immediate, ORDER);
    }

    /** The immediate. */
    public static int immediate(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + IMMEDIATE_OFFSET, ORDER);
    }
}
