package io.verbena.protocol.view;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * An attempt to end a view, and what became of it, in a message behind its header; little-endian.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            number             |
 *   8 +---------------+---------------+
 *     |     group     |    attempt    |
 *  16 +---------------+---------------+
 *     |     equal     |   reserved    |
 *  24 +---------------+---------------+
 * </pre>
 */
public final class ViewAttemptDescriptor
{
    static final int NUMBER_OFFSET = 0;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int EQUAL_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int RESERVED_OFFSET = EQUAL_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private ViewAttemptDescriptor()
    {
    }

    /**
     * Writes an attempt.
     *
     * @param attempt  any.
     * @param areEqual of a report: whether the copies are equal now; false: the attempt was given up.
     * @param buffer   of the message.
     * @param offset   where it begins.
     * @return its length.
     */
    public static int encode(
        final ViewAttempt attempt, final boolean areEqual, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putLong(offset + NUMBER_OFFSET, attempt.number(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, attempt.group(), ORDER);
        buffer.putInt(offset + ATTEMPT_OFFSET, attempt.attempt(), ORDER);
        buffer.putInt(offset + EQUAL_OFFSET, areEqual ? 1 : 0, ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        return LENGTH_BYTES;
    }

    /**
     * Reads an attempt.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return the attempt.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there is none.
     */
    public static ViewAttempt decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, LENGTH_BYTES, "an attempt to end a view");
        final ViewAttempt attempt = new ViewAttempt(buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + NUMBER_OFFSET, ORDER), buffer.getInt(offset + ATTEMPT_OFFSET, ORDER));
        final int isEqual = buffer.getInt(offset + EQUAL_OFFSET, ORDER);
        if (attempt.group() < 1 || attempt.number() < 1 || attempt.attempt() < 1 || (isEqual & ~1) != 0)
        {
            throw ViewDescriptor.invalid("no attempt to end a view: " + attempt + " equal=" + isEqual);
        }
        return attempt;
    }

    /**
     * @param buffer of the message, that was {@linkplain #decode decoded}.
     * @param offset where it begins.
     * @return whether the copies are equal.
     */
    public static boolean areEqual(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + EQUAL_OFFSET, ORDER) == 1;
    }
}
