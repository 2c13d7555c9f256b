package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.DeniedOperations;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Report of a compute node on what it has denied.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+---------------+
 *     |     count     |   reserved    |
 *  16 +---------------+---------------+
 *     | { times 8, lengths 2 + 2, who, what } ...
 * </pre>
 */
final class DenialsDescriptor
{
    static final int COUNT_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int RESERVED_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int ENTRIES_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int ENTRY_TIMES_OFFSET = 0;
    static final int ENTRY_WHO_LENGTH_OFFSET = ENTRY_TIMES_OFFSET + Long.BYTES;
    static final int ENTRY_WHAT_LENGTH_OFFSET = ENTRY_WHO_LENGTH_OFFSET + Short.BYTES;
    static final int ENTRY_TEXT_OFFSET = ENTRY_WHAT_LENGTH_OFFSET + Short.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private DenialsDescriptor()
    {
    }

    /** What is longer than {@link DeniedOperations#MAX_TEXT_BYTES} is cut. */
    static int encode(final List<DeniedOperations> denied, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + COUNT_OFFSET, denied.size(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        int at = offset + ENTRIES_OFFSET;
        for (final DeniedOperations each : denied)
        {
            final byte[] who = bytes(each.who());
            final byte[] what = bytes(each.what());
            buffer.putLong(at + ENTRY_TIMES_OFFSET, each.times(), ORDER);
            buffer.putShort(at + ENTRY_WHO_LENGTH_OFFSET, (short)who.length, ORDER);
            buffer.putShort(at + ENTRY_WHAT_LENGTH_OFFSET, (short)what.length, ORDER);
            buffer.putBytes(at + ENTRY_TEXT_OFFSET, who);
            buffer.putBytes(at + ENTRY_TEXT_OFFSET + who.length, what);
            at += ENTRY_TEXT_OFFSET + who.length + what.length;
        }
        return at - offset;
    }

    private static byte[] bytes(final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return bytes.length > DeniedOperations.MAX_TEXT_BYTES ?
            Arrays.copyOf(bytes, DeniedOperations.MAX_TEXT_BYTES) : bytes;
    }

    static List<DeniedOperations> decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, ENTRIES_OFFSET, "report of denials");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > DeniedOperations.MAX_REPORTED)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "report of " + count + " denials: 0 to " +
                DeniedOperations.MAX_REPORTED + " are possible");
        }
        final List<DeniedOperations> denied = new ArrayList<>(count);
        int at = ENTRIES_OFFSET;
        for (int i = 0; i < count; i++)
        {
            ControlHeaderDescriptor.require(lengthBytes, at + ENTRY_TEXT_OFFSET, "report of denials");
            final long times = buffer.getLong(offset + at + ENTRY_TIMES_OFFSET, ORDER);
            final int whoLength = buffer.getShort(offset + at + ENTRY_WHO_LENGTH_OFFSET, ORDER) & 0xFFFF;
            final int whatLength = buffer.getShort(offset + at + ENTRY_WHAT_LENGTH_OFFSET, ORDER) & 0xFFFF;
            at += ENTRY_TEXT_OFFSET;
            if (times < 1 || whoLength > DeniedOperations.MAX_TEXT_BYTES ||
                whatLength > DeniedOperations.MAX_TEXT_BYTES)
            {
                throw new ControlException(ControlStatus.INVALID_REQUEST, "report of " + times + " denials, with " +
                    whoLength + " and " + whatLength + " bytes of text");
            }
            ControlHeaderDescriptor.require(lengthBytes, at + whoLength + whatLength, "report of denials");
            denied.add(new DeniedOperations(
                text(buffer, offset + at, whoLength), text(buffer, offset + at + whoLength, whatLength), times));
            at += whoLength + whatLength;
        }
        return denied;
    }

    private static String text(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final byte[] bytes = new byte[lengthBytes];
        buffer.getBytes(offset, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
