package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * How far memory nodes are filled, in a message behind its header; little-endian.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |     count     |   reserved    |
 *   8 +---------------+---------------+
 *     | count entries, 56 bytes each  |
 *     +-------------------------------+
 *
 *   0 +-------------------------------+
 *     |            number             |
 *   8 +---------------+---------------+
 *     |     group     |    attempt    |
 *  16 +---------------+---------------+
 *     |         copied bytes          |
 *  24 +-------------------------------+
 *     |        differing bytes        |
 *  32 +-------------------------------+
 *     |        compared bytes         |
 *  40 +-------------------------------+
 *     |          total bytes          |
 *  48 +---------------+---------------+
 *     |     pass      | seconds left  |
 *  56 +---------------+---------------+
 * </pre>
 */
public final class FillProgressDescriptor
{
    /** Entries of one message, at most: a reply has those of the first groups. */
    public static final int MAX_ENTRIES = 64;

    static final int COUNT_OFFSET = 0;
    static final int RESERVED_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int ENTRIES_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int NUMBER_OFFSET = 0;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int COPIED_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int DIFFERING_OFFSET = COPIED_OFFSET + Long.BYTES;
    static final int COMPARED_OFFSET = DIFFERING_OFFSET + Long.BYTES;
    static final int TOTAL_OFFSET = COMPARED_OFFSET + Long.BYTES;
    static final int PASS_OFFSET = TOTAL_OFFSET + Long.BYTES;
    static final int SECONDS_LEFT_OFFSET = PASS_OFFSET + Integer.BYTES;
    static final int ENTRY_LENGTH_BYTES = SECONDS_LEFT_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private FillProgressDescriptor()
    {
    }

    /**
     * Writes how far memory nodes are filled.
     *
     * @param fills  the first {@link #MAX_ENTRIES} of them are written.
     * @param buffer of the message.
     * @param offset where it begins.
     * @return its length.
     */
    public static int encode(final List<FillProgress> fills, final MutableDirectBuffer buffer, final int offset)
    {
        final int count = Math.min(fills.size(), MAX_ENTRIES);
        buffer.putInt(offset + COUNT_OFFSET, count, ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        for (int i = 0; i < count; i++)
        {
            encodeEntry(fills.get(i), buffer, offset + ENTRIES_OFFSET + i * ENTRY_LENGTH_BYTES);
        }
        return ENTRIES_OFFSET + count * ENTRY_LENGTH_BYTES;
    }

    private static void encodeEntry(final FillProgress fill, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putLong(offset + NUMBER_OFFSET, fill.attempt().number(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, fill.attempt().group(), ORDER);
        buffer.putInt(offset + ATTEMPT_OFFSET, fill.attempt().attempt(), ORDER);
        buffer.putLong(offset + COPIED_OFFSET, fill.copiedBytes(), ORDER);
        buffer.putLong(offset + DIFFERING_OFFSET, fill.differingBytes(), ORDER);
        buffer.putLong(offset + COMPARED_OFFSET, fill.comparedBytes(), ORDER);
        buffer.putLong(offset + TOTAL_OFFSET, fill.totalBytes(), ORDER);
        buffer.putInt(offset + PASS_OFFSET, fill.pass(), ORDER);
        buffer.putInt(offset + SECONDS_LEFT_OFFSET, fill.secondsLeft(), ORDER);
    }

    /**
     * Reads how far memory nodes are filled.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return a new list.
     * @throws ControlException INVALID_REQUEST, when there is none.
     */
    public static List<FillProgress> decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, ENTRIES_OFFSET, "a list of memory nodes that are filled");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > MAX_ENTRIES)
        {
            throw ViewDescriptor.invalid("a list of " + count + " memory nodes that are filled: it has at most " +
                MAX_ENTRIES);
        }
        ViewDescriptor.require(
            lengthBytes, ENTRIES_OFFSET + count * ENTRY_LENGTH_BYTES, "a list of " + count + " that are filled");
        final List<FillProgress> fills = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            fills.add(decodeEntry(buffer, offset + ENTRIES_OFFSET + i * ENTRY_LENGTH_BYTES));
        }
        return fills;
    }

    private static FillProgress decodeEntry(final DirectBuffer buffer, final int offset)
    {
        final ViewAttempt attempt = new ViewAttempt(buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + NUMBER_OFFSET, ORDER), buffer.getInt(offset + ATTEMPT_OFFSET, ORDER));
        if (attempt.group() < 1 || attempt.number() < 1 || attempt.attempt() < 1)
        {
            throw ViewDescriptor.invalid("no attempt to fill a memory node: " + attempt);
        }
        try
        {
            return new FillProgress(attempt, buffer.getLong(offset + COPIED_OFFSET, ORDER),
                buffer.getLong(offset + DIFFERING_OFFSET, ORDER), buffer.getLong(offset + COMPARED_OFFSET, ORDER),
                buffer.getLong(offset + TOTAL_OFFSET, ORDER), buffer.getInt(offset + PASS_OFFSET, ORDER),
                buffer.getInt(offset + SECONDS_LEFT_OFFSET, ORDER));
        }
        catch (final IllegalArgumentException ex)
        {
            throw ViewDescriptor.invalid(ex.getMessage());
        }
    }

    /**
     * Reads how far one memory node is filled.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return that of a list of one.
     * @throws ControlException INVALID_REQUEST, when it is not one.
     */
    public static FillProgress decodeOne(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final List<FillProgress> fills = decode(buffer, offset, lengthBytes);
        if (fills.size() != 1)
        {
            throw ViewDescriptor.invalid(fills.size() + " reports of memory nodes that are filled in one message: " +
                "one is meant");
        }
        return fills.getFirst();
    }
}
