package io.verbena.protocol.remote;

import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * An operation as a message, {@code docs/format/kv-messages.md}; little-endian.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |    version    |     kind      |
 *   4 +---------------+---------------+
 *     |           table id            |
 *   8 +-------------------------------+
 *     |      time left, ns (8)        |
 *  16 +-------------------------------+
 *     |          operand (8)          |
 *  24 +-------------------------------+
 *     |      transfer id (8)          |
 *  32 +-------------------------------+
 *     |         key length            |
 *  36 +-------------------------------+
 *     |   value length, -1 for none   |
 *  40 +---------------+---------------+
 *     |  name length  | reserved (6)  |
 *  48 +---------------+---------------+
 *     |           expiry (8)          |
 *  56 +-------------------------------+
 *     |  table name, key, value ...   |
 * </pre>
 *
 * <p>With a transfer id other than 0, key and value were sent before, in parts, and do not follow.
 */
final class OperationMessageDescriptor
{
    static final int VERSION = 2;
    static final int VERSION_OFFSET = 0;
    static final int KIND_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int TABLE_ID_OFFSET = KIND_OFFSET + Short.BYTES;
    static final int TIMEOUT_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    static final int OPERAND_OFFSET = TIMEOUT_OFFSET + Long.BYTES;
    static final int TRANSFER_ID_OFFSET = OPERAND_OFFSET + Long.BYTES;
    static final int KEY_LENGTH_OFFSET = TRANSFER_ID_OFFSET + Long.BYTES;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    static final int NAME_LENGTH_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int EXPIRY_OFFSET = NAME_LENGTH_OFFSET + Long.BYTES;
    static final int NAME_OFFSET = EXPIRY_OFFSET + Long.BYTES;
    static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private OperationMessageDescriptor()
    {
    }

    static int valueLength(final OperationRequest request)
    {
        return null == request.value() ? -1 : request.valueLength();
    }

    static boolean fitsOneMessage(final OperationRequest request, final int nameLengthBytes)
    {
        return NAME_OFFSET + nameLengthBytes + request.keyLength() + Math.max(0, valueLength(request)) <=
            RpcClient.MAX_MESSAGE_BYTES;
    }

    /**
     * Writes everything but key and value.
     *
     * @return length so far; key and value follow when there is no transfer.
     */
    static int encodeHead(
        final OperationRequest request, final byte[] name, final long timeoutNs, final long transferId,
        final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + KIND_OFFSET, (short)request.kind().code(), ORDER);
        buffer.putInt(offset + TABLE_ID_OFFSET, request.table().id(), ORDER);
        buffer.putLong(offset + TIMEOUT_OFFSET, timeoutNs, ORDER);
        buffer.putLong(offset + OPERAND_OFFSET, request.operand(), ORDER);
        buffer.putLong(offset + TRANSFER_ID_OFFSET, transferId, ORDER);
        buffer.putInt(offset + KEY_LENGTH_OFFSET, request.keyLength(), ORDER);
        buffer.putInt(offset + VALUE_LENGTH_OFFSET, valueLength(request), ORDER);
        buffer.putLong(offset + NAME_LENGTH_OFFSET, name.length, ORDER);
        buffer.putLong(offset + EXPIRY_OFFSET, request.expiry(), ORDER);
        buffer.putBytes(offset + NAME_OFFSET, name);
        return NAME_OFFSET + name.length;
    }

    /** Appends key and value; returns the length of the message. */
    static int encodeBody(
        final OperationRequest request, final int headLengthBytes, final MutableDirectBuffer buffer, final int offset)
    {
        final int valueOffset = headLengthBytes + request.keyLength();
        buffer.putBytes(offset + headLengthBytes, request.key(), 0, request.keyLength());
        if (null != request.value())
        {
            buffer.putBytes(offset + valueOffset, request.value(), 0, request.valueLength());
        }
        return valueOffset + Math.max(0, valueLength(request));
    }

    static long transferId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + TRANSFER_ID_OFFSET, ORDER);
    }

    /** Time left of the deadline when it was sent. */
    static long timeoutNs(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + TIMEOUT_OFFSET, ORDER);
    }

    /** Length of key and value together; after {@link #check}. */
    static int bodyLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + KEY_LENGTH_OFFSET, ORDER) +
            Math.max(0, buffer.getInt(offset + VALUE_LENGTH_OFFSET, ORDER));
    }

    /** Throws unless the message can be read, and asks for what a request may ask. */
    static void check(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        MalformedRequestException.require(lengthBytes, NAME_OFFSET, "operation");
        MalformedRequestException.requireRange("version of the message",
            buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF, VERSION, VERSION);
        final RequestKind kind = kind(buffer, offset);
        MalformedRequestException.requireKnown("kind of operation", code(buffer, offset), kind);
        MalformedRequestException.requireRange("key length",
            buffer.getInt(offset + KEY_LENGTH_OFFSET, ORDER), 1, RequestLimits.MAX_KEY_BYTES);
        final boolean hasValue = carriesValue(kind);
        MalformedRequestException.requireRange("value length", buffer.getInt(offset + VALUE_LENGTH_OFFSET, ORDER),
            hasValue ? 0 : -1, hasValue ? RequestLimits.MAX_VALUE_BYTES : -1);
        final long nameLength = buffer.getLong(offset + NAME_LENGTH_OFFSET, ORDER);
        MalformedRequestException.requireRange(
            "table name length", nameLength, 1, RequestLimits.MAX_TABLE_NAME_BYTES);
        checkExpiry(
            kind, buffer.getLong(offset + EXPIRY_OFFSET, ORDER), buffer.getLong(offset + OPERAND_OFFSET, ORDER));
        final boolean isInline = 0 == transferId(buffer, offset);
        MalformedRequestException.require(lengthBytes,
            NAME_OFFSET + (int)nameLength + (isInline ? bodyLength(buffer, offset) : 0), "operation");
    }

    private static void checkExpiry(final RequestKind kind, final long expiry, final long operand)
    {
        if (RequestExpiry.KEEP != expiry || !kind.takesExpiry())
        {
            final long mostMs = kind.takesExpiry() ? RequestExpiry.MAX_MS : 0;
            MalformedRequestException.requireRange("expiry, ms", expiry, -mostMs, mostMs);
        }
        if (RequestKind.EXPIRE == kind)
        {
            MalformedRequestException.requireRange(
                "condition of the expiry", operand, RequestExpiry.ALWAYS, RequestExpiry.IF_EARLIER);
        }
    }

    /**
     * Fills a request from a message that was checked.
     *
     * @param body       where key and value begin in {@code bodyBuffer}, or -1: right behind the table's name.
     * @param names      of tables asked for before.
     * @param deadlineNs on the local clock.
     */
    static void decode(
        final DirectBuffer buffer, final int offset, final DirectBuffer bodyBuffer, final int body,
        final TableNames names, final OperationRequest request, final long deadlineNs)
    {
        final RequestKind kind = kind(buffer, offset);
        final int nameLength = (int)buffer.getLong(offset + NAME_LENGTH_OFFSET, ORDER);
        final int keyOffset = body >= 0 ? body : offset + NAME_OFFSET + nameLength;
        final byte[] key = new byte[buffer.getInt(offset + KEY_LENGTH_OFFSET, ORDER)];
        bodyBuffer.getBytes(keyOffset, key);
        final int valueLength = buffer.getInt(offset + VALUE_LENGTH_OFFSET, ORDER);
        final byte[] value = valueLength < 0 ? null : new byte[valueLength];
        if (null != value)
        {
            bodyBuffer.getBytes(keyOffset + key.length, value);
        }
        final TableReference table =
            names.table(buffer.getInt(offset + TABLE_ID_OFFSET, ORDER), buffer, offset + NAME_OFFSET, nameLength);
        request.ask(kind, table, key, value, buffer.getLong(offset + OPERAND_OFFSET, ORDER), deadlineNs);
        request.askExpiry(buffer.getLong(offset + EXPIRY_OFFSET, ORDER));
    }

    private static int code(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + KIND_OFFSET, ORDER) & 0xFFFF;
    }

    private static RequestKind kind(final DirectBuffer buffer, final int offset)
    {
        return RequestKind.ofCode(code(buffer, offset));
    }

    private static boolean carriesValue(final RequestKind kind)
    {
        return switch (kind)
        {
            case PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE, APPEND -> true;
            case GET, EXISTS, DELETE, DELETE_BY_VERSION, INCREMENT, SCAN, COUNT, EXPIRE -> false;
        };
    }
}
