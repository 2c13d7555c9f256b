package io.verbena.table.format;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A block: one record, out of line, 64-byte aligned, immutable from the compare-and-swap that publishes it until it has
 * left quarantine.
 *
 * <pre>
 *    0        1        2        3        4        5        6        7
 *  +--------+--------+--------+--------+--------+--------+--------+--------+
 *  |                              checksum                                 |   0
 *  +--------+--------+-----------------+-----------------------------------+
 *  | format | flags  | key length - 1  |           value length            |   8
 *  +--------+--------+-----------------+-----------------------------------+
 *  |             table id              |             client id             |  16
 *  +-----------------------------------+-----------------------------------+
 *  |                              version                                  |  24
 *  +-----------------------------------------------------------------------+
 *  |                              sequence                                 |  32
 *  +-----------------------------------------------------------------------+
 *  |                              expiry, ms                               |  40
 *  +-----------------------------------------------------------------------+
 *  |                              key hash, high half                      |  48
 *  +-----------------------------------------------------------------------+
 *  |                              predecessor                              |  56
 *  +-----------------------------------------------------------------------+
 *  |                              key, then value                       ...   64
 * </pre>
 *
 * <p>The checksum is XXH3-64 over everything from offset 0 to the end of the value <em>with the committed slot word,
 * window 0, in the checksum's place</em>: it binds the bytes to the one word that publishes them, so a block that was
 * rewritten never passes under its old word. The window is left out because a split may renew it. Flags say what the
 * value is, see {@link #FLAG_COUNTER}. Expiry is the instant from which on the record is absent, 0 for never. Client id
 * and sequence name the attempt that wrote the block. Predecessor is the slot word that this block replaced, 0 for an
 * insert: while retired blocks are in quarantine, it leads back to what the key held before. Written by a WRITE of a
 * compute node, read by READs that may tear. Stateless.
 */
public final class BlockDescriptor
{
    /** Name in messages. */
    public static final String NAME = "block";
    public static final int FORMAT_VERSION = 2;

    public static final int CHECKSUM_OFFSET = 0;
    public static final int FORMAT_OFFSET = CHECKSUM_OFFSET + Long.BYTES;
    public static final int FLAGS_OFFSET = FORMAT_OFFSET + Byte.BYTES;
    public static final int KEY_LENGTH_OFFSET = FLAGS_OFFSET + Byte.BYTES;
    public static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Short.BYTES;
    public static final int TABLE_ID_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    public static final int CLIENT_ID_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    public static final int VERSION_OFFSET = CLIENT_ID_OFFSET + Integer.BYTES;
    public static final int SEQUENCE_OFFSET = VERSION_OFFSET + Long.BYTES;
    public static final int EXPIRY_OFFSET = SEQUENCE_OFFSET + Long.BYTES;
    public static final int KEY_HASH_OFFSET = EXPIRY_OFFSET + Long.BYTES;
    public static final int PREDECESSOR_OFFSET = KEY_HASH_OFFSET + Long.BYTES;
    public static final int HEADER_BYTES = PREDECESSOR_OFFSET + Long.BYTES;
    public static final int KEY_OFFSET = HEADER_BYTES;

    /** The value is a counter that an increment wrote: 8 bytes, a little-endian two's complement number. */
    public static final int FLAG_COUNTER = 1;

    /** Longest key. */
    public static final int MAX_KEY_BYTES = 64 * 1024;
    /** Longest value that one block holds. */
    public static final int MAX_VALUE_BYTES = 16 * 1024;

    static
    {
        if (HEADER_BYTES != 64 || HEADER_BYTES + MAX_KEY_BYTES + MAX_VALUE_BYTES > SizeClasses.MAX_BLOCK_BYTES)
        {
            throw new IllegalStateException("block header is one line and the longest record fits the largest class");
        }
    }

    private BlockDescriptor()
    {
    }

    /** @return bytes a record takes before rounding up to its size class. */
    public static int recordLength(final int keyLength, final int valueLength)
    {
        return HEADER_BYTES + keyLength + valueLength;
    }

    /**
     * Writes every header field except the checksum; key and value are put by the caller at {@link #KEY_OFFSET}.
     *
     * @param buffer      holds the block.
     * @param offset      of its first byte.
     * @param tableId     of the table.
     * @param keyLength   1 to {@link #MAX_KEY_BYTES}.
     * @param valueLength 0 to {@link #MAX_VALUE_BYTES}.
     * @param version     see {@link BlockVersion}.
     * @param clientId    who writes.
     * @param sequence    which attempt of the client.
     * @param keyHashHigh {@link KeyHash#high}.
     * @param predecessor committed word that the block will replace, or {@link SlotWord#EMPTY}.
     * @param expiryMs    wall-clock milliseconds since 1970 from which on the record is absent, or 0.
     * @param flags       0 or {@link #FLAG_COUNTER}.
     */
    public static void writeHeader(
        final MutableDirectBuffer buffer,
        final int offset,
        final int tableId,
        final int keyLength,
        final int valueLength,
        final long version,
        final int clientId,
        final long sequence,
        final long keyHashHigh,
        final long predecessor,
        final long expiryMs,
        final int flags)
    {
        // In whole words: what is stored in pieces has to leave the store buffer before the checksum can load it.
        buffer.putLong(offset + FORMAT_OFFSET, lengthsWord(keyLength, valueLength, flags), LITTLE_ENDIAN);
        buffer.putLong(
            offset + TABLE_ID_OFFSET, Integer.toUnsignedLong(tableId) | (long)clientId << Integer.SIZE, LITTLE_ENDIAN);
        buffer.putLong(offset + VERSION_OFFSET, version, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE_OFFSET, sequence, LITTLE_ENDIAN);
        buffer.putLong(offset + EXPIRY_OFFSET, expiryMs, LITTLE_ENDIAN);
        buffer.putLong(offset + KEY_HASH_OFFSET, keyHashHigh, LITTLE_ENDIAN);
        buffer.putLong(offset + PREDECESSOR_OFFSET, predecessor, LITTLE_ENDIAN);
    }

    /** Format, flags and both lengths, as they stand in one word. */
    private static long lengthsWord(final int keyLength, final int valueLength, final int flags)
    {
        return FORMAT_VERSION | (long)flags << (FLAGS_OFFSET - FORMAT_OFFSET) * Byte.SIZE |
            (long)(keyLength - 1) << (KEY_LENGTH_OFFSET - FORMAT_OFFSET) * Byte.SIZE |
            (long)valueLength << (VALUE_LENGTH_OFFSET - FORMAT_OFFSET) * Byte.SIZE;
    }

    /**
     * Computes and stores the checksum of a complete block.
     *
     * @param buffer        off-heap, holds the block.
     * @param offset        of its first byte.
     * @param committedWord the word that will publish it.
     */
    public static void seal(final MutableDirectBuffer buffer, final int offset, final long committedWord)
    {
        assert buffer.byteArray() == null : "a block is sealed off-heap";
        final int length = recordLength(keyLength(buffer, offset), valueLength(buffer, offset));
        buffer.boundsCheck(offset, length);
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset, length, committedWord), LITTLE_ENDIAN);
    }

    private static long checksum(
        final DirectBuffer buffer, final int offset, final int lengthBytes, final long committedWord)
    {
        return BlockChecksum.of(
            buffer.addressOffset() + offset, lengthBytes, SlotWord.withoutWindow(committedWord));
    }

    /**
     * Whether a copy of a block is whole and is what the word published. May overwrite the copy's checksum field, and
     * puts it back then.
     *
     * @param buffer        off-heap, holds a private copy.
     * @param offset        of its first byte.
     * @param readBytes     bytes that were read: the length of the word's size class.
     * @param committedWord the word that named the block.
     * @return false when lengths, format or checksum do not fit: torn, rewritten, or damaged.
     */
    public static boolean isValid(
        final MutableDirectBuffer buffer, final int offset, final int readBytes, final long committedWord)
    {
        assert buffer.byteArray() == null : "a block is checked off-heap";
        buffer.boundsCheck(offset, readBytes);
        final int valueLength = valueLength(buffer, offset);
        final int length = recordLength(keyLength(buffer, offset), valueLength);
        return valueLength >= 0 && valueLength <= MAX_VALUE_BYTES && length <= readBytes &&
            formatVersion(buffer, offset) == FORMAT_VERSION &&
            buffer.getLong(offset + CHECKSUM_OFFSET, LITTLE_ENDIAN) == checksum(buffer, offset, length, committedWord);
    }

    /** @return format version. */
    public static int formatVersion(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + FORMAT_OFFSET) & 0xFF;
    }

    /** @return flags: 0 or {@link #FLAG_COUNTER}. */
    public static int flags(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + FLAGS_OFFSET) & 0xFF;
    }

    /** @return key length in bytes. */
    public static int keyLength(final DirectBuffer buffer, final int offset)
    {
        return (buffer.getShort(offset + KEY_LENGTH_OFFSET, LITTLE_ENDIAN) & 0xFFFF) + 1;
    }

    /** @return value length in bytes; of bytes not checked yet it may be anything. */
    public static int valueLength(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + VALUE_LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    /** @return table id. */
    public static int tableId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + TABLE_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** @return version. */
    public static long version(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + VERSION_OFFSET, LITTLE_ENDIAN);
    }

    /** @return client id. */
    public static int clientId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + CLIENT_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** @return the client's attempt. */
    public static long sequence(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + SEQUENCE_OFFSET, LITTLE_ENDIAN);
    }

    /** @return the committed word that the block replaced, or {@link SlotWord#EMPTY}. */
    public static long predecessor(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + PREDECESSOR_OFFSET, LITTLE_ENDIAN);
    }

    /** @return wall-clock milliseconds since 1970 from which on the record is absent, or 0. */
    public static long expiryMs(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + EXPIRY_OFFSET, LITTLE_ENDIAN);
    }

    /** @return high half of the key's hash, so that a split need not read the key. */
    public static long keyHash(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + KEY_HASH_OFFSET, LITTLE_ENDIAN);
    }
}
