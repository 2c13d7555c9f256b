package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A request about tables, and its answer, as messages, {@code docs/format/kv-messages.md}; little-endian.
 *
 * <pre>
 *  request                             reply
 *   0 +---------------+---------------+   0 +---------------+---------------+
 *     |    version    |     kind      |     |    version    |    status     |
 *   4 +---------------+---------------+   4 +---------------+---------------+
 *     |  name length  |copies | 0     |     |  table id, or count of names  |
 *   8 +-------------------------------+   8 +-------------------------------+
 *     |      time left, ns (8)        |     |  names follow behind (8): 0,1 |
 *  16 +-------------------------------+  16 +-------------------------------+
 *     |     expected records (8)      |     |  detail, or names, each with  |
 *  24 +-------------------------------+     |  its length in 2 bytes ...    |
 *     |  name ...                     |     +-------------------------------+
 *     +-------------------------------+
 * </pre>
 */
final class ControlMessageDescriptor
{
    static final int VERSION = 1;
    static final int VERSION_OFFSET = 0;
    static final int KIND_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int NAME_LENGTH_OFFSET = KIND_OFFSET + Short.BYTES;
    static final int COPIES_OFFSET = NAME_LENGTH_OFFSET + Short.BYTES;
    static final int RESERVED_OFFSET = COPIES_OFFSET + Byte.BYTES;
    static final int TIMEOUT_OFFSET = RESERVED_OFFSET + Byte.BYTES;
    static final int EXPECTED_RECORDS_OFFSET = TIMEOUT_OFFSET + Long.BYTES;
    static final int NAME_OFFSET = EXPECTED_RECORDS_OFFSET + Long.BYTES;
    static final int REPLY_STATUS_OFFSET = KIND_OFFSET;
    static final int REPLY_NUMBER_OFFSET = NAME_LENGTH_OFFSET;
    static final int REPLY_MORE_OFFSET = TIMEOUT_OFFSET;
    static final int REPLY_TEXT_OFFSET = REPLY_MORE_OFFSET + Long.BYTES;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final ControlRequest.Kind[] KINDS = ControlRequest.Kind.values();
    private static final ControlRequest.Status[] STATUSES = ControlRequest.Status.values();

    /** What a reply said; names only for LIST_TABLES. */
    record Answer(ControlRequest.Status status, int tableId, List<String> names, boolean hasMore, String detail)
    {
    }

    private ControlMessageDescriptor()
    {
    }

    static int code(final ControlRequest.Kind kind)
    {
        return kind.ordinal() + 1;
    }

    static int code(final ControlRequest.Status status)
    {
        return status.ordinal() + 1;
    }

    /**
     * Writes a request; the name of LIST_TABLES is the one behind which names are wanted. One copy is written as 0, as
     * builds do that know no copies: those read a request for more as a name that is too long, and refuse it. Returns
     * the length.
     */
    static int encode(
        final ControlRequest.Kind kind, final String name, final long expectedRecords, final int copies,
        final long timeoutNs, final MutableDirectBuffer buffer, final int offset)
    {
        final byte[] bytes = null == name ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + KIND_OFFSET, (short)code(kind), ORDER);
        buffer.putShort(offset + NAME_LENGTH_OFFSET, (short)bytes.length, ORDER);
        buffer.putByte(offset + COPIES_OFFSET, (byte)(1 == copies ? 0 : copies));
        buffer.putByte(offset + RESERVED_OFFSET, (byte)0);
        buffer.putLong(offset + TIMEOUT_OFFSET, timeoutNs, ORDER);
        buffer.putLong(offset + EXPECTED_RECORDS_OFFSET, expectedRecords, ORDER);
        buffer.putBytes(offset + NAME_OFFSET, bytes);
        return NAME_OFFSET + bytes.length;
    }

    static void check(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        MalformedRequestException.require(lengthBytes, NAME_OFFSET, "request about tables");
        MalformedRequestException.requireRange("version of the message",
            buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF, VERSION, VERSION);
        MalformedRequestException.requireRange(
            "kind of request", buffer.getShort(offset + KIND_OFFSET, ORDER) & 0xFFFF, 1, KINDS.length);
        final ControlRequest.Kind kind = kind(buffer, offset);
        final int nameLength = nameLength(buffer, offset);
        final int least = kind.namesTable() ? 1 : 0;
        MalformedRequestException.requireRange(
            "table name length", nameLength, least, RequestLimits.MAX_TABLE_NAME_BYTES);
        MalformedRequestException.require(lengthBytes, NAME_OFFSET + nameLength, "request about tables");
        MalformedRequestException.requireRange("copies", buffer.getByte(offset + COPIES_OFFSET) & 0xFF, 0,
            ControlRequest.Kind.CREATE_TABLE == kind ? RequestLimits.MAX_COPIES : 0);
        MalformedRequestException.requireRange("reserved byte", buffer.getByte(offset + RESERVED_OFFSET) & 0xFF, 0, 0);
    }

    private static int nameLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + NAME_LENGTH_OFFSET, ORDER) & 0xFFFF;
    }

    static ControlRequest.Kind kind(final DirectBuffer buffer, final int offset)
    {
        return KINDS[(buffer.getShort(offset + KIND_OFFSET, ORDER) & 0xFFFF) - 1];
    }

    static String name(final DirectBuffer buffer, final int offset)
    {
        return buffer.getStringWithoutLengthUtf8(offset + NAME_OFFSET, nameLength(buffer, offset));
    }

    static int copies(final DirectBuffer buffer, final int offset)
    {
        return Math.max(1, buffer.getByte(offset + COPIES_OFFSET));
    }

    static long timeoutNs(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + TIMEOUT_OFFSET, ORDER);
    }

    static long expectedRecords(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + EXPECTED_RECORDS_OFFSET, ORDER);
    }

    /** Writes the answer of a request; of names those that fit, behind {@code afterName}. Returns the length. */
    static int encodeReply(
        final ControlRequest request, final String afterName, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + REPLY_STATUS_OFFSET, (short)code(request.status()), ORDER);
        buffer.putInt(offset + REPLY_NUMBER_OFFSET, 0, ORDER);
        buffer.putLong(offset + REPLY_MORE_OFFSET, 0, ORDER);
        if (request.result() instanceof final TableReference table)
        {
            buffer.putInt(offset + REPLY_NUMBER_OFFSET, table.id(), ORDER);
        }
        else if (request.result() instanceof final List<?> names)
        {
            return encodeNames(names, afterName, buffer, offset);
        }
        final byte[] detail = OperationReplyDescriptor.detail(request.detail());
        buffer.putBytes(offset + REPLY_TEXT_OFFSET, detail);
        return REPLY_TEXT_OFFSET + detail.length;
    }

    private static int encodeNames(
        final List<?> names, final String afterName, final MutableDirectBuffer buffer, final int offset)
    {
        int length = REPLY_TEXT_OFFSET;
        int count = 0;
        for (final Object name : names)
        {
            if (((String)name).compareTo(afterName) > 0)
            {
                final byte[] bytes = ((String)name).getBytes(StandardCharsets.UTF_8);
                if (length + Short.BYTES + bytes.length > RpcClient.MAX_MESSAGE_BYTES)
                {
                    buffer.putLong(offset + REPLY_MORE_OFFSET, 1, ORDER);
                    break;
                }
                buffer.putShort(offset + length, (short)bytes.length, ORDER);
                buffer.putBytes(offset + length + Short.BYTES, bytes);
                length += Short.BYTES + bytes.length;
                count++;
            }
        }
        buffer.putInt(offset + REPLY_NUMBER_OFFSET, count, ORDER);
        return length;
    }

    static Answer decodeReply(
        final ControlRequest.Kind kind, final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        MalformedRequestException.require(lengthBytes, REPLY_TEXT_OFFSET, "answer about tables");
        MalformedRequestException.requireRange("version of the message",
            buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF, VERSION, VERSION);
        final int statusCode = buffer.getShort(offset + REPLY_STATUS_OFFSET, ORDER) & 0xFFFF;
        MalformedRequestException.requireRange("status", statusCode, 1, STATUSES.length);
        final ControlRequest.Status status = STATUSES[statusCode - 1];
        final int number = buffer.getInt(offset + REPLY_NUMBER_OFFSET, ORDER);
        if (ControlRequest.Status.OK == status && ControlRequest.Kind.LIST_TABLES == kind)
        {
            return new Answer(status, 0, decodeNames(number, buffer, offset, lengthBytes),
                0 != buffer.getLong(offset + REPLY_MORE_OFFSET, ORDER), null);
        }
        final String detail =
            buffer.getStringWithoutLengthUtf8(offset + REPLY_TEXT_OFFSET, lengthBytes - REPLY_TEXT_OFFSET);
        return new Answer(status, number, List.of(), false, detail.isEmpty() ? null : detail);
    }

    private static List<String> decodeNames(
        final int count, final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final List<String> names = new ArrayList<>();
        int at = REPLY_TEXT_OFFSET;
        for (int i = 0; i < count; i++)
        {
            MalformedRequestException.require(lengthBytes, at + Short.BYTES, "list of names");
            final int nameLength = buffer.getShort(offset + at, ORDER) & 0xFFFF;
            MalformedRequestException.require(lengthBytes, at + Short.BYTES + nameLength, "list of names");
            names.add(buffer.getStringWithoutLengthUtf8(offset + at + Short.BYTES, nameLength));
            at += Short.BYTES + nameLength;
        }
        return names;
    }
}
