package io.verbena.protocol.remote;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The answer to an operation as a message, {@code docs/format/kv-messages.md}; little-endian.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |    version    |    answer     |
 *   4 +---------------+---------------+
 *     |   value length, -1 for none   |
 *   8 +-------------------------------+
 *     |      record version (8)       |
 *  16 +-------------------------------+
 *     |         result id (8)         |
 *  24 +-------------------------------+
 *     |         verb count            |
 *  28 +-------------------------------+
 *     |       round trip count        |
 *  32 +-------------------------------+
 *     |        doorbell count         |
 *  36 +---------------+---------------+
 *     | detail length |   reserved    |
 *  40 +---------------+---------------+
 *     |     record's deadline (8)     |
 *  48 +-------------------------------+
 *     |      its time to live (8)     |
 *  56 +-------------------------------+
 *     |  detail, value ...            |
 * </pre>
 *
 * <p>With a result id other than 0 the value does not follow, and is fetched in parts.
 */
final class OperationReplyDescriptor
{
    static final int VERSION = 2;
    static final int VERSION_OFFSET = 0;
    static final int ANSWER_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int VALUE_LENGTH_OFFSET = ANSWER_OFFSET + Short.BYTES;
    static final int RECORD_VERSION_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int RESULT_ID_OFFSET = RECORD_VERSION_OFFSET + Long.BYTES;
    static final int VERB_COUNT_OFFSET = RESULT_ID_OFFSET + Long.BYTES;
    static final int ROUND_TRIP_COUNT_OFFSET = VERB_COUNT_OFFSET + Integer.BYTES;
    static final int DOORBELL_COUNT_OFFSET = ROUND_TRIP_COUNT_OFFSET + Integer.BYTES;
    static final int DETAIL_LENGTH_OFFSET = DOORBELL_COUNT_OFFSET + Integer.BYTES;
    static final int EXPIRY_OFFSET = DETAIL_LENGTH_OFFSET + Integer.BYTES;
    static final int TIME_TO_LIVE_OFFSET = EXPIRY_OFFSET + Long.BYTES;
    static final int DETAIL_OFFSET = TIME_TO_LIVE_OFFSET + Long.BYTES;
    /** Longest value that is never sent in parts. */
    static final int MAX_INLINE_VALUE_BYTES = RpcClient.MAX_MESSAGE_BYTES - DETAIL_OFFSET;
    private static final int MAX_DETAIL_BYTES = 512;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private OperationReplyDescriptor()
    {
    }

    /** Writes the answer of a request; with a result id, without its value. Returns the length. */
    static int encode(
        final OperationRequest request, final long resultId, final MutableDirectBuffer buffer, final int offset)
    {
        final byte[] value = request.foundValue();
        final byte[] detail = detail(request.detail());
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + ANSWER_OFFSET, (short)request.answer().code(), ORDER);
        buffer.putInt(offset + VALUE_LENGTH_OFFSET, null == value ? -1 : value.length, ORDER);
        buffer.putLong(offset + RECORD_VERSION_OFFSET, request.version(), ORDER);
        buffer.putLong(offset + RESULT_ID_OFFSET, resultId, ORDER);
        buffer.putInt(offset + VERB_COUNT_OFFSET, request.verbCount(), ORDER);
        buffer.putInt(offset + ROUND_TRIP_COUNT_OFFSET, request.roundTripCount(), ORDER);
        buffer.putInt(offset + DOORBELL_COUNT_OFFSET, request.doorbellCount(), ORDER);
        buffer.putInt(offset + DETAIL_LENGTH_OFFSET, detail.length, ORDER);
        buffer.putLong(offset + EXPIRY_OFFSET, request.foundExpiryMs(), ORDER);
        buffer.putLong(offset + TIME_TO_LIVE_OFFSET, request.timeToLiveMs(), ORDER);
        buffer.putBytes(offset + DETAIL_OFFSET, detail);
        if (null == value || 0 != resultId)
        {
            return DETAIL_OFFSET + detail.length;
        }
        buffer.putBytes(offset + DETAIL_OFFSET + detail.length, value);
        return DETAIL_OFFSET + detail.length + value.length;
    }

    /** Throws unless the message can be read. */
    static void check(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        MalformedRequestException.require(lengthBytes, DETAIL_OFFSET, "answer");
        MalformedRequestException.requireRange("version of the message",
            buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF, VERSION, VERSION);
        final int code = buffer.getShort(offset + ANSWER_OFFSET, ORDER) & 0xFFFF;
        MalformedRequestException.requireKnown("answer", code, OperationAnswer.ofCode(code));
        MalformedRequestException.requireRange("detail length", detailLength(buffer, offset), 0, MAX_DETAIL_BYTES);
        MalformedRequestException.requireRange(
            "value length", valueLength(buffer, offset), -1, TransferDescriptor.MAX_TRANSFER_BYTES);
        if (0 != resultId(buffer, offset))
        {
            MalformedRequestException.requireRange("value length of a value to be fetched", valueLength(buffer, offset),
                1, TransferDescriptor.MAX_TRANSFER_BYTES);
        }
        final int inlineLength = 0 == resultId(buffer, offset) ? Math.max(0, valueLength(buffer, offset)) : 0;
        MalformedRequestException.require(
            lengthBytes, DETAIL_OFFSET + detailLength(buffer, offset) + inlineLength, "answer");
    }

    static long resultId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + RESULT_ID_OFFSET, ORDER);
    }

    static int valueLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + VALUE_LENGTH_OFFSET, ORDER);
    }

    /** Fills a request's answer from a message that was checked, with the value given, or the one that follows. */
    static void decode(
        final DirectBuffer buffer, final int offset, final byte[] fetchedValue, final OperationRequest request)
    {
        final byte[] detail = new byte[detailLength(buffer, offset)];
        buffer.getBytes(offset + DETAIL_OFFSET, detail);
        byte[] value = fetchedValue;
        if (null == value && valueLength(buffer, offset) >= 0)
        {
            value = new byte[valueLength(buffer, offset)];
            buffer.getBytes(offset + DETAIL_OFFSET + detail.length, value);
        }
        request.answer(
            OperationAnswer.ofCode(buffer.getShort(offset + ANSWER_OFFSET, ORDER) & 0xFFFF),
            value,
            buffer.getLong(offset + RECORD_VERSION_OFFSET, ORDER),
            0 == detail.length ? null : new String(detail, StandardCharsets.UTF_8));
        request.answerExpiry(
            buffer.getLong(offset + EXPIRY_OFFSET, ORDER), buffer.getLong(offset + TIME_TO_LIVE_OFFSET, ORDER));
        request.cost(
            buffer.getInt(offset + VERB_COUNT_OFFSET, ORDER),
            buffer.getInt(offset + ROUND_TRIP_COUNT_OFFSET, ORDER),
            buffer.getInt(offset + DOORBELL_COUNT_OFFSET, ORDER));
    }

    private static int detailLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + DETAIL_LENGTH_OFFSET, ORDER);
    }

    static byte[] detail(final String text)
    {
        final byte[] bytes = null == text ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= MAX_DETAIL_BYTES ? bytes : Arrays.copyOf(bytes, MAX_DETAIL_BYTES);
    }
}
