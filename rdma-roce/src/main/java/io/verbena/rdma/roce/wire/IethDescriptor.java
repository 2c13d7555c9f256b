package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Invalidate extended transport header (IETH), in the last packet of SEND_WITH_INV; {@code docs/format/roce-packet.md};
 * big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                   remote key to be invalidated                |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class IethDescriptor
{
    /** Offset of the 32-bit key of the receiver's window. */
    public static final int REMOTE_KEY_OFFSET = 0;
    /** Length of the header. */
    public static final int LENGTH_BYTES = REMOTE_KEY_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    private IethDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(final MutableDirectBuffer buffer, final int offset, final int remoteKey)
    {
        buffer.putInt(offset + REMOTE_KEY_OFFSET, remoteKey, ORDER);
    }

    /** Key of the receiver's window. */
    public static int remoteKey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + REMOTE_KEY_OFFSET, ORDER);
    }
}
