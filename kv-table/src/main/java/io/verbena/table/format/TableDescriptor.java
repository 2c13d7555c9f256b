package io.verbena.table.format;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.openhft.hashing.LongHashFunction;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * All that a node must know to work on a table; the meta server keeps its bytes without looking inside. Immutable.
 *
 * <pre>
 *    0        1        2        3        4        5        6        7
 *  +-----------------------------------+--------+--------+-----------------+
 *  |               magic               | format | depth  |   name length   |   0
 *  +-----------------------------------+--------+--------+-----------------+
 *  |             table id              |       groups of each subtable     |   8
 *  +-----------------------------------+-----------------------------------+
 *  |                              hash seed                                |  16
 *  +-----------------------------------------------------------------------+
 *  |          2^depth directory entries, 8 bytes each                   ...   24
 *  +-----------------------------------------------------------------------+
 *  |          name, UTF-8; then checksum, 8 bytes                       ...
 * </pre>
 *
 * <p>The checksum is XXH3-64 over all bytes before it. Entries are {@link DirectoryEntry} words, indexed by suffix.
 */
public final class TableDescriptor
{
    /** Name in messages. */
    public static final String NAME = "table descriptor";
    public static final int MAGIC = 0x54424456;
    public static final int FORMAT_VERSION = 1;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    public static final int DEPTH_OFFSET = FORMAT_OFFSET + Byte.BYTES;
    public static final int NAME_LENGTH_OFFSET = DEPTH_OFFSET + Byte.BYTES;
    public static final int TABLE_ID_OFFSET = NAME_LENGTH_OFFSET + Short.BYTES;
    public static final int GROUP_COUNT_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    public static final int HASH_SEED_OFFSET = GROUP_COUNT_OFFSET + Integer.BYTES;
    public static final int ENTRIES_OFFSET = HASH_SEED_OFFSET + Long.BYTES;
    public static final int CHECKSUM_BYTES = Long.BYTES;

    /** Longest name, UTF-8. */
    public static final int MAX_NAME_BYTES = 255;

    private final String name;
    private final int tableId;
    private final int depth;
    private final int groupCount;
    private final long hashSeed;
    private final long[] entries;

    /**
     * @param name       1 to {@link #MAX_NAME_BYTES} bytes of UTF-8.
     * @param tableId    not 0, chosen at random by the creator.
     * @param depth      of the directory, 0 to {@link BucketDescriptor#MAX_DEPTH}.
     * @param groupCount of each subtable, 1 or more.
     * @param hashSeed   of {@link KeyHash}, chosen at random by the creator.
     * @param entries    2^depth directory entries; copied.
     */
    public TableDescriptor(
        final String name,
        final int tableId,
        final int depth,
        final int groupCount,
        final long hashSeed,
        final long[] entries)
    {
        final int nameBytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (nameBytes == 0 || nameBytes > MAX_NAME_BYTES)
        {
            throw new IllegalArgumentException(
                "table name has " + nameBytes + " bytes; choose one of 1 to " + MAX_NAME_BYTES);
        }
        if (tableId == 0 || groupCount < 1 || depth < 0 || depth > BucketDescriptor.MAX_DEPTH ||
            entries.length != 1 << depth)
        {
            throw new IllegalArgumentException("table descriptor out of range: tableId=" + tableId + " depth=" + depth +
                " groupCount=" + groupCount + " entries=" + entries.length);
        }
        this.name = name;
        this.tableId = tableId;
        this.depth = depth;
        this.groupCount = groupCount;
        this.hashSeed = hashSeed;
        this.entries = entries.clone();
    }

    /** @return name of the table. */
    public String name()
    {
        return name;
    }

    /** @return id that every bucket and block of the table carries. */
    public int tableId()
    {
        return tableId;
    }

    /** @return depth of the directory. */
    public int depth()
    {
        return depth;
    }

    /** @return number of subtables. */
    public int subtableCount()
    {
        return entries.length;
    }

    /** @return groups in each subtable. */
    public int groupCount()
    {
        return groupCount;
    }

    /** @return seed of the key hash. */
    public long hashSeed()
    {
        return hashSeed;
    }

    /** @return directory entry of a suffix, see {@link DirectoryEntry}. */
    public long entry(final int suffix)
    {
        return entries[suffix];
    }

    /** @return slots of the whole table. */
    public long slotCount()
    {
        return (long)entries.length * groupCount * BucketDescriptor.SLOTS_PER_GROUP;
    }

    /** @return the bytes for the meta server. */
    public byte[] encode()
    {
        final byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
        final int length = ENTRIES_OFFSET + entries.length * Long.BYTES + nameBytes.length + CHECKSUM_BYTES;
        final ByteBuffer buffer = ByteBuffer.allocate(length).order(LITTLE_ENDIAN);
        buffer.putInt(MAGIC).put((byte)FORMAT_VERSION).put((byte)depth).putShort((short)nameBytes.length);
        buffer.putInt(tableId).putInt(groupCount).putLong(hashSeed);
        for (final long entry : entries)
        {
            buffer.putLong(entry);
        }
        buffer.put(nameBytes);
        buffer.putLong(LongHashFunction.xx3().hashBytes(buffer.array(), 0, buffer.position()));
        return buffer.array();
    }

    /**
     * Reads the bytes back.
     *
     * @param bytes from {@link #encode()}.
     * @return the descriptor.
     * @throws FormatException naming the first thing that is wrong: magic, version, length, checksum, entry state.
     */
    public static TableDescriptor decode(final byte[] bytes)
    {
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN);
        if (bytes.length < ENTRIES_OFFSET + CHECKSUM_BYTES || buffer.getInt(MAGIC_OFFSET) != MAGIC)
        {
            throw new FormatException("not a table descriptor: length=" + bytes.length);
        }
        if (bytes[FORMAT_OFFSET] != FORMAT_VERSION)
        {
            throw FormatException.unknownVersion(NAME, bytes[FORMAT_OFFSET] & 0xFF, FORMAT_VERSION);
        }
        final int depth = bytes[DEPTH_OFFSET];
        final int nameLength = Short.toUnsignedInt(buffer.getShort(NAME_LENGTH_OFFSET));
        final int checkedBytes = bytes.length - CHECKSUM_BYTES;
        if (depth < 0 || depth > BucketDescriptor.MAX_DEPTH ||
            checkedBytes != ENTRIES_OFFSET + (1 << depth) * Long.BYTES + nameLength)
        {
            throw new FormatException("table descriptor cut short or damaged: length=" + bytes.length + " depth=" +
                depth + " nameLength=" + nameLength);
        }
        if (buffer.getLong(checkedBytes) != LongHashFunction.xx3().hashBytes(bytes, 0, checkedBytes))
        {
            throw new FormatException("table descriptor damaged: its checksum does not fit");
        }
        final long[] entries = new long[1 << depth];
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = buffer.getLong(ENTRIES_OFFSET + i * Long.BYTES);
            DirectoryEntry.check(entries[i]);
        }
        final String name =
            new String(bytes, ENTRIES_OFFSET + entries.length * Long.BYTES, nameLength, StandardCharsets.UTF_8);
        return new TableDescriptor(name, buffer.getInt(TABLE_ID_OFFSET), depth, buffer.getInt(GROUP_COUNT_OFFSET),
            buffer.getLong(HASH_SEED_OFFSET), entries);
    }

    @Override
    public boolean equals(final Object other)
    {
        return other instanceof final TableDescriptor that && Arrays.equals(encode(), that.encode());
    }

    @Override
    public int hashCode()
    {
        return tableId;
    }

    @Override
    public String toString()
    {
        return "TableDescriptor{name=" + name + " tableId=" + Integer.toHexString(tableId) + " depth=" + depth +
            " groupCount=" + groupCount + " slots=" + slotCount() + '}';
    }
}
