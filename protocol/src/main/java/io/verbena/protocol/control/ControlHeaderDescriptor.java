package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * First 8 bytes of every control request and reply; little-endian. A reply with a status other than OK goes on with
 * UTF-8 text, and may say after how long another attempt is worth while.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |    version    |    status     |
 *   4 +---------------+---------------+
 *     |    retry delay, microseconds  |
 *   8 +-------------------------------+
 * </pre>
 */
final class ControlHeaderDescriptor
{
    static final int VERSION = 2;
    static final int VERSION_OFFSET = 0;
    static final int STATUS_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int RETRY_DELAY_OFFSET = STATUS_OFFSET + Short.BYTES;
    static final int LENGTH_BYTES = RETRY_DELAY_OFFSET + Integer.BYTES;
    static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private ControlHeaderDescriptor()
    {
    }

    static void encode(final MutableDirectBuffer buffer, final int offset, final ControlStatus status)
    {
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + STATUS_OFFSET, (short)status.code(), ORDER);
        buffer.putInt(offset + RETRY_DELAY_OFFSET, 0, ORDER);
    }

    static long retryDelayNs(final DirectBuffer buffer, final int offset)
    {
        return TimeUnit.MICROSECONDS.toNanos(buffer.getInt(offset + RETRY_DELAY_OFFSET, ORDER) & 0xFFFF_FFFFL);
    }

    /** Encodes a reply that says no; returns its length. */
    static int encodeFailure(
        final MutableDirectBuffer buffer, final int offset, final int capacity, final ControlException failure)
    {
        encode(buffer, offset, failure.status());
        buffer.putInt(offset + RETRY_DELAY_OFFSET, (int)Math.min(
            TimeUnit.NANOSECONDS.toMicros(failure.retryDelayNs()), Integer.MAX_VALUE), ORDER);
        final byte[] text = String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8);
        final int length = Math.min(text.length, capacity - LENGTH_BYTES);
        buffer.putBytes(offset + LENGTH_BYTES, text, 0, length);
        return LENGTH_BYTES + length;
    }

    static int version(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF;
    }

    static ControlStatus status(final DirectBuffer buffer, final int offset)
    {
        return ControlStatus.ofCode(buffer.getShort(offset + STATUS_OFFSET, ORDER) & 0xFFFF);
    }

    static String text(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final byte[] bytes = new byte[lengthBytes - LENGTH_BYTES];
        buffer.getBytes(offset + LENGTH_BYTES, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Throws unless a message has at least so many bytes. */
    static void require(final int lengthBytes, final int neededBytes, final String what)
    {
        if (lengthBytes < neededBytes)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, what + " of " + lengthBytes + " bytes, needs " + neededBytes);
        }
    }
}
