package io.verbena.protocol.remote;

import io.verbena.protocol.request.RecordPage;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * A part of what does not fit into one message, {@code docs/format/kv-messages.md}; little-endian. Request PART carries
 * bytes, its reply is empty; request FETCH carries none, its reply is the bytes asked for and nothing else.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |    version    |   reserved    |
 *   4 +---------------+---------------+
 *     |     length of the whole       |
 *   8 +-------------------------------+
 *     |   transfer or result id (8)   |
 *  16 +-------------------------------+
 *     |  where the part begins in it  |
 *  20 +-------------------------------+
 *     |      length of the part       |
 *  24 +-------------------------------+
 *     |  bytes ...                    |
 * </pre>
 */
final class TransferDescriptor
{
    static final int VERSION = 1;
    static final int VERSION_OFFSET = 0;
    static final int TOTAL_LENGTH_OFFSET = VERSION_OFFSET + Integer.BYTES;
    static final int ID_OFFSET = TOTAL_LENGTH_OFFSET + Integer.BYTES;
    static final int PART_OFFSET_OFFSET = ID_OFFSET + Long.BYTES;
    static final int PART_LENGTH_OFFSET = PART_OFFSET_OFFSET + Integer.BYTES;
    static final int BYTES_OFFSET = PART_LENGTH_OFFSET + Integer.BYTES;
    /** Longest part. */
    static final int MAX_PART_BYTES = RpcClient.MAX_MESSAGE_BYTES - BYTES_OFFSET;
    /** Longest whole. */
    static final int MAX_TRANSFER_BYTES = RecordPage.MAX_BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private TransferDescriptor()
    {
    }

    static int encode(
        final long id, final int totalLength, final int partOffset, final int partLength,
        final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putInt(offset + VERSION_OFFSET, VERSION, ORDER);
        buffer.putInt(offset + TOTAL_LENGTH_OFFSET, totalLength, ORDER);
        buffer.putLong(offset + ID_OFFSET, id, ORDER);
        buffer.putInt(offset + PART_OFFSET_OFFSET, partOffset, ORDER);
        buffer.putInt(offset + PART_LENGTH_OFFSET, partLength, ORDER);
        return BYTES_OFFSET;
    }

    /** Throws unless the message can be read, and lies within its whole. */
    static void check(final DirectBuffer buffer, final int offset, final int lengthBytes, final boolean hasBytes)
    {
        MalformedRequestException.require(lengthBytes, BYTES_OFFSET, "part");
        MalformedRequestException.requireRange(
            "version of the message", buffer.getInt(offset + VERSION_OFFSET, ORDER), VERSION, VERSION);
        final int total = totalLength(buffer, offset);
        MalformedRequestException.requireRange("length", total, 1, MAX_TRANSFER_BYTES);
        MalformedRequestException.requireRange("begin of part", partOffset(buffer, offset), 0, total - 1);
        MalformedRequestException.requireRange("length of part", partLength(buffer, offset), 1,
            Math.min(MAX_PART_BYTES, total - partOffset(buffer, offset)));
        MalformedRequestException.require(
            lengthBytes, BYTES_OFFSET + (hasBytes ? partLength(buffer, offset) : 0), "part");
    }

    static long id(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + ID_OFFSET, ORDER);
    }

    static int totalLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + TOTAL_LENGTH_OFFSET, ORDER);
    }

    static int partOffset(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + PART_OFFSET_OFFSET, ORDER);
    }

    static int partLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + PART_LENGTH_OFFSET, ORDER);
    }
}
