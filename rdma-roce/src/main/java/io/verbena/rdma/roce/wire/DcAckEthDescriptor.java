package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Extended transport header of DC responses (DcAckETH), a format of this project: behind the headers that the packet
 * would have on an RC connection; {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            context                            |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class DcAckEthDescriptor
{
    /** Offset of the 32-bit context of the request; 0 in a DC_ACCEPT that refuses. */
    public static final int CONTEXT_OFFSET = 0;
    /** Length of the header. */
    public static final int LENGTH_BYTES = CONTEXT_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    private DcAckEthDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(final MutableDirectBuffer buffer, final int offset, final int context)
    {
        buffer.putInt(offset + CONTEXT_OFFSET, context, ORDER);
    }

    /** The context of the request. */
    public static int context(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + CONTEXT_OFFSET, ORDER);
    }
}
