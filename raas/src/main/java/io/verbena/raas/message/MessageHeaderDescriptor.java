package io.verbena.raas.message;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Header of a request or reply, {@code docs/format/rpc-message.md}; little-endian; written by the sender's CPU.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-------------------------------+-------------------------------+
 *  |            version            |            method             |
 *  +-------------------------------+-------------------------------+
 *  |                         payload length                        |
 *  +---------------------------------------------------------------+
 *  |                       generation of the call                  |
 *  +---------------------------------------------------------------+
 *  |                          reserved, zero                       |
 *  +---------------------------------------------------------------+
 *  |                           payload ...                         |
 * </pre>
 */
public final class MessageHeaderDescriptor
{
    /** Version of this layout. */
    public static final int VERSION = 1;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = 0;
    /** Offset of the 16-bit method. */
    public static final int METHOD_OFFSET = VERSION_OFFSET + Short.BYTES;
    /** Offset of the 32-bit payload length in bytes. */
    public static final int PAYLOAD_LENGTH_OFFSET = METHOD_OFFSET + Short.BYTES;
    /** Offset of the 32-bit generation of the call. */
    public static final int GENERATION_OFFSET = PAYLOAD_LENGTH_OFFSET + Integer.BYTES;
    /** Offset of 32 reserved bits. */
    public static final int RESERVED_OFFSET = GENERATION_OFFSET + Integer.BYTES;
    /** Length of the header; the payload follows. */
    public static final int HEADER_LENGTH_BYTES = RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    static
    {
        if (HEADER_LENGTH_BYTES % Long.BYTES != 0)
        {
            throw new ExceptionInInitializerError("payload would not be aligned: header of " + HEADER_LENGTH_BYTES);
        }
    }

    private MessageHeaderDescriptor()
    {
    }

    /** Writes a header. */
    public static void encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final int method,
        final int payloadLengthBytes,
        final int generation)
    {
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + METHOD_OFFSET, (short)method, ORDER);
        buffer.putInt(offset + PAYLOAD_LENGTH_OFFSET, payloadLengthBytes, ORDER);
        buffer.putInt(offset + GENERATION_OFFSET, generation, ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
    }

    public static int version(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF;
    }

    public static int method(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + METHOD_OFFSET, ORDER) & 0xFFFF;
    }

    public static int payloadLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + PAYLOAD_LENGTH_OFFSET, ORDER);
    }

    public static int generation(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + GENERATION_OFFSET, ORDER);
    }

    /** Whether a message of so many bytes is what its header says. */
    public static boolean isIntact(final DirectBuffer buffer, final int offset, final int messageLengthBytes)
    {
        return messageLengthBytes >= HEADER_LENGTH_BYTES &&
            payloadLength(buffer, offset) == messageLengthBytes - HEADER_LENGTH_BYTES;
    }
}
