package io.verbena.raas.directory;

import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Layout of a record of the named part of the view, {@code docs/format/peer-directory.md}; little-endian. Records lie
 * at multiples of {@link #UNIT_BYTES}; a unit that no record uses is zero.
 *
 * <pre>
 *     0               4               8
 *   0 +---------------+---------------+
 *     | checksum: XXH3-64 of the rest |
 *   8 +---------------+---------------+
 *     |    number     |content length |
 *  16 +---------------+---------------+
 *     |  name hash: XXH3-64 of UTF-8  |
 *  24 +-------+-------+---------------+
 *     |version|name l.|     zero      |
 *  32 +-------+-------+---------------+
 *     | name, content; zero to the end of the unit ...
 * </pre>
 */
public final class NamedRecordDescriptor
{
    /** Version of this layout. */
    public static final int VERSION = 1;
    /** Offset of the 64-bit checksum of what is behind it, up to the end of the content; never 0. */
    public static final int CHECKSUM_OFFSET = 0;
    /** Offset of the 32-bit number. */
    public static final int NUMBER_OFFSET = CHECKSUM_OFFSET + Long.BYTES;
    /** Offset of the 32-bit length of the content. */
    public static final int CONTENT_LENGTH_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit hash of the name. */
    public static final int NAME_HASH_OFFSET = CONTENT_LENGTH_OFFSET + Integer.BYTES;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = NAME_HASH_OFFSET + Long.BYTES;
    /** Offset of the 16-bit length of the name. */
    public static final int NAME_LENGTH_OFFSET = VERSION_OFFSET + Short.BYTES;
    /** Offset of the name; the content is behind it. */
    public static final int NAME_OFFSET = 32;
    /** A record begins at a multiple of this many bytes, and has what is left of its last unit. */
    public static final int UNIT_BYTES = 64;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private NamedRecordDescriptor()
    {
    }

    /** Bytes of a record, a multiple of the unit. */
    static int lengthBytes(final NamedRecord record)
    {
        return BitUtil.align(NAME_OFFSET + nameOf(record).length + record.content().length, UNIT_BYTES);
    }

    private static byte[] nameOf(final NamedRecord record)
    {
        final byte[] name = record.name().getBytes(StandardCharsets.UTF_8);
        if (name.length == 0 || name.length > 0xFFFF)
        {
            throw new IllegalArgumentException("a name of 1 to 65,535 bytes is needed, not of " + name.length);
        }
        return name;
    }

    /** Writes a whole record, checksum included; not into memory that others read meanwhile. */
    static void encode(final NamedRecord record, final MutableDirectBuffer buffer, final int offset)
    {
        final byte[] name = nameOf(record);
        buffer.setMemory(offset, lengthBytes(record), (byte)0);
        buffer.putInt(offset + NUMBER_OFFSET, record.number(), ORDER);
        buffer.putInt(offset + CONTENT_LENGTH_OFFSET, record.content().length, ORDER);
        buffer.putBytes(offset + NAME_OFFSET, name);
        buffer.putLong(offset + NAME_HASH_OFFSET,
            PeerRecordDescriptor.checksum(buffer, offset + NAME_OFFSET, name.length), ORDER);
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putShort(offset + NAME_LENGTH_OFFSET, (short)name.length, ORDER);
        buffer.putBytes(offset + NAME_OFFSET + name.length, record.content());
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset), ORDER);
    }

    /** Whether no record begins at this unit. */
    static boolean isFree(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + CHECKSUM_OFFSET) == 0;
    }

    /** Whether its checksum holds, and it ends before a limit: false for a record caught halfway. */
    static boolean isValid(final DirectBuffer buffer, final int offset, final int limit)
    {
        final int contentLength = buffer.getInt(offset + CONTENT_LENGTH_OFFSET, ORDER);
        return contentLength >= 0 && contentLength <= limit - offset && usedBytes(buffer, offset) <= limit - offset &&
            buffer.getLong(offset + CHECKSUM_OFFSET, ORDER) == checksum(buffer, offset);
    }

    /** Bytes of a valid record, a multiple of the unit. */
    static int lengthBytes(final DirectBuffer buffer, final int offset)
    {
        return BitUtil.align(usedBytes(buffer, offset), UNIT_BYTES);
    }

    /** Why this version cannot use a valid record; empty when it can. */
    static String problem(final DirectBuffer buffer, final int offset)
    {
        final int version = buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF;
        return version == VERSION ? "" : "the record of number " + buffer.getInt(offset + NUMBER_OFFSET, ORDER) +
            " has version " + version + ", this node knows version " + VERSION + ": update the older of the two";
    }

    static NamedRecord decode(final DirectBuffer buffer, final int offset)
    {
        final byte[] name = new byte[nameLength(buffer, offset)];
        buffer.getBytes(offset + NAME_OFFSET, name);
        final byte[] content = new byte[buffer.getInt(offset + CONTENT_LENGTH_OFFSET, ORDER)];
        buffer.getBytes(offset + NAME_OFFSET + name.length, content);
        return new NamedRecord(
            buffer.getInt(offset + NUMBER_OFFSET, ORDER), new String(name, StandardCharsets.UTF_8), content);
    }

    /** Checksum of a record whose lengths are sane. */
    static long checksum(final DirectBuffer buffer, final int offset)
    {
        return PeerRecordDescriptor.checksum(
            buffer, offset + NUMBER_OFFSET, usedBytes(buffer, offset) - NUMBER_OFFSET);
    }

    private static int usedBytes(final DirectBuffer buffer, final int offset)
    {
        return NAME_OFFSET + nameLength(buffer, offset) + buffer.getInt(offset + CONTENT_LENGTH_OFFSET, ORDER);
    }

    private static int nameLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + NAME_LENGTH_OFFSET, ORDER) & 0xFFFF;
    }
}
