package io.verbena.raas.message;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * What the two ends of a virtual queue pair say of themselves when it opens for messages: payload of the request with
 * method {@link #METHOD} and of its reply, {@code docs/format/open-messages.md}; little-endian.
 *
 * <pre>
 *   0 +-------------+-------------+
 *     |   version   |   credits   |
 *   4 +-------------+-------------+
 *     |           number          |
 *   8 +---------------------------+
 *     |          service          |
 *  12 +---------------------------+
 *     |          node id          |
 *  16 +---------------------------+
 *     |        incarnation        |
 *  20 +---------------------------+
 *     |         remote key        |
 *  24 +---------------------------+
 *     |          address          |
 *  32 +---------------------------+
 *     |           length          |
 *  40 +---------------------------+
 * </pre>
 */
public final class OpenMessagesDescriptor
{
    /** Method of the call that opens a virtual queue pair for messages; no service has it. */
    public static final int METHOD = 0xFFFF;
    /** Version of this layout. */
    public static final int VERSION = 1;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = 0;
    /** Offset of the 16-bit number of messages that the other end may have under way to this one. */
    public static final int CREDITS_OFFSET = VERSION_OFFSET + Short.BYTES;
    /** Offset of the 32-bit number of this end: generation and index of the immediates sent to it. */
    public static final int NUMBER_OFFSET = CREDITS_OFFSET + Short.BYTES;
    /** Offset of the 32-bit number of what is asked for; a reply repeats it. */
    public static final int SERVICE_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    /** Request: offset of the 32-bit node number for which the end acts. */
    public static final int NODE_ID_OFFSET = SERVICE_OFFSET + Integer.BYTES;
    /** Request: offset of its 32-bit incarnation. */
    public static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    /** Offset of the 32-bit key of the memory that the other end may write to. */
    public static final int REMOTE_KEY_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit address of that memory. */
    public static final int ADDRESS_OFFSET = REMOTE_KEY_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit length of that memory in bytes; 0 for none. */
    public static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** Length of a request, and of a reply. */
    public static final int LENGTH_BYTES = LENGTH_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    static
    {
        if (ADDRESS_OFFSET % Long.BYTES != 0)
        {
            throw new ExceptionInInitializerError("the address would not be aligned: offset " + ADDRESS_OFFSET);
        }
    }

    private OpenMessagesDescriptor()
    {
    }

    /** Writes what an end says of itself. */
    public static void encode(
        final MutableDirectBuffer buffer, final int offset, final int number, final MessageOptions options)
    {
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + CREDITS_OFFSET, (short)options.credits(), ORDER);
        buffer.putInt(offset + NUMBER_OFFSET, number, ORDER);
        buffer.putInt(offset + SERVICE_OFFSET, options.service(), ORDER);
        buffer.putInt(offset + NODE_ID_OFFSET, options.identity().nodeId(), ORDER);
        buffer.putInt(offset + INCARNATION_OFFSET, options.identity().incarnation(), ORDER);
        buffer.putInt(offset + REMOTE_KEY_OFFSET, options.grantedKey(), ORDER);
        buffer.putLong(offset + ADDRESS_OFFSET, options.grantedAddress(), ORDER);
        buffer.putLong(offset + LENGTH_OFFSET, options.grantedLengthBytes(), ORDER);
    }

    /** Why this cannot be understood, or null when it can. */
    public static String problem(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        if (lengthBytes >= Short.BYTES && buffer.getShort(offset + VERSION_OFFSET, ORDER) != VERSION)
        {
            return "messages are opened in version " + buffer.getShort(offset + VERSION_OFFSET, ORDER) +
                " there, and in version " + VERSION + " here: update the older of the two nodes";
        }
        if (lengthBytes != LENGTH_BYTES)
        {
            return "messages are opened with " + LENGTH_BYTES + " bytes, not with " + lengthBytes;
        }
        final int credits = credits(buffer, offset);
        return credits < 1 || credits > MessageCredits.MAX_CREDITS || grantedLengthBytes(buffer, offset) < 0 ?
            "messages are opened with 1 to " + MessageCredits.MAX_CREDITS + " credits and a length of 0 or more, " +
                "not with " + credits + " and " + grantedLengthBytes(buffer, offset) : null;
    }

    public static int credits(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + CREDITS_OFFSET, ORDER) & 0xFFFF;
    }

    public static int number(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NUMBER_OFFSET, ORDER);
    }

    public static int service(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + SERVICE_OFFSET, ORDER);
    }

    public static int nodeId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NODE_ID_OFFSET, ORDER);
    }

    public static int incarnation(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + INCARNATION_OFFSET, ORDER);
    }

    public static int grantedKey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + REMOTE_KEY_OFFSET, ORDER);
    }

    public static long grantedAddress(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + ADDRESS_OFFSET, ORDER);
    }

    public static long grantedLengthBytes(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + LENGTH_OFFSET, ORDER);
    }
}
