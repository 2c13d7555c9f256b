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
 *  |               magic               | format | depth  |  name  | least  |   0
 *  +-----------------------------------+--------+--------+-----------------+
 *  |             table id              |       groups of each subtable     |   8
 *  +-----------------------------------+-----------------------------------+
 *  |                              hash seed                                |  16
 *  +-----------------------------------+-----------------+--------+--------+
 *  |             subtables             |  memory nodes   | shift  |  bits  |  24
 *  +-----------------------------------+-----------------+--------+--------+
 *  |                       least offset of a subtable                      |  32
 *  +-----------------------------------------------------------------------+
 *  |          ids of the memory nodes, 2 bytes each                     ...   40
 *  +-----------------------------------------------------------------------+
 *  |          tree of the subtables; name, UTF-8; checksum, 8 bytes     ...
 * </pre>
 *
 * <p>The checksum is XXH3-64 over all bytes before it. In memory entries are {@link DirectoryEntry} words, indexed by
 * suffix; in the bytes each subtable is named once, see {@link DirectoryBits}. Version 1, which is read still, has the
 * 2^depth words from offset 24 instead. Before version 3 the length of the name, at offset 6, has two
 * bytes, and there is no least depth.
 */
public final class TableDescriptor
{
    /** Name in messages. */
    public static final String NAME = "table descriptor";
    public static final int MAGIC = 0x54424456;
    public static final int FORMAT_VERSION = 3;
    /** Version of before, without a least depth: read, and never written. */
    public static final int TREE_FORMAT_VERSION = 2;
    /** Version of before that, with an array of entries: read, and never written. */
    public static final int ARRAY_FORMAT_VERSION = 1;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    public static final int DEPTH_OFFSET = FORMAT_OFFSET + Byte.BYTES;
    public static final int NAME_LENGTH_OFFSET = DEPTH_OFFSET + Byte.BYTES;
    public static final int LEAST_DEPTH_OFFSET = NAME_LENGTH_OFFSET + Byte.BYTES;
    public static final int TABLE_ID_OFFSET = LEAST_DEPTH_OFFSET + Byte.BYTES;
    public static final int GROUP_COUNT_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    public static final int HASH_SEED_OFFSET = GROUP_COUNT_OFFSET + Integer.BYTES;
    public static final int SUBTABLES_OFFSET = HASH_SEED_OFFSET + Long.BYTES;
    public static final int NODES_OFFSET = SUBTABLES_OFFSET + Integer.BYTES;
    public static final int OFFSET_SHIFT_OFFSET = NODES_OFFSET + Short.BYTES;
    public static final int OFFSET_BITS_OFFSET = OFFSET_SHIFT_OFFSET + Byte.BYTES;
    public static final int BASE_OFFSET = OFFSET_BITS_OFFSET + Byte.BYTES;
    public static final int NODE_IDS_OFFSET = BASE_OFFSET + Long.BYTES;
    public static final int ARRAY_OFFSET = HASH_SEED_OFFSET + Long.BYTES;
    public static final int CHECKSUM_BYTES = Long.BYTES;

    /** Longest name, UTF-8. */
    public static final int MAX_NAME_BYTES = 255;

    private final String name;
    private final int tableId;
    private final int depth;
    private final int leastDepth;
    private final int groupCount;
    private final long hashSeed;
    private final long[] entries;

    /**
     * A table that was just made: its subtables are never merged into fewer.
     *
     * @param name       1 to {@link #MAX_NAME_BYTES} bytes of UTF-8.
     * @param tableId    not 0, chosen at random by the creator.
     * @param depth      of the directory, 0 to {@link BucketDescriptor#MAX_DEPTH}.
     * @param groupCount of each subtable, 1 or more.
     * @param hashSeed   of {@link KeyHash}, chosen at random by the creator.
     * @param entries    2^depth directory entries; copied. Those of one subtable are equal.
     */
    public TableDescriptor(
        final String name,
        final int tableId,
        final int depth,
        final int groupCount,
        final long hashSeed,
        final long[] entries)
    {
        this(name, tableId, depth, depth, groupCount, hashSeed, entries);
    }

    /**
     * @param name       1 to {@link #MAX_NAME_BYTES} bytes of UTF-8.
     * @param tableId    not 0, chosen at random by the creator.
     * @param depth      of the directory, 0 to {@link BucketDescriptor#MAX_DEPTH}.
     * @param leastDepth of subtables: those of this depth are not merged. 0 to {@link BucketDescriptor#MAX_DEPTH}.
     * @param groupCount of each subtable, 1 or more.
     * @param hashSeed   of {@link KeyHash}, chosen at random by the creator.
     * @param entries    2^depth directory entries; copied. Those of one subtable are equal.
     */
    public TableDescriptor(
        final String name,
        final int tableId,
        final int depth,
        final int leastDepth,
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
            leastDepth < 0 || leastDepth > BucketDescriptor.MAX_DEPTH || entries.length != 1 << depth)
        {
            throw new IllegalArgumentException("table descriptor out of range: tableId=" + tableId + " depth=" + depth +
                " leastDepth=" + leastDepth + " groupCount=" + groupCount + " entries=" + entries.length);
        }
        checkDirectory(depth, entries);
        this.name = name;
        this.tableId = tableId;
        this.depth = depth;
        this.leastDepth = leastDepth;
        this.groupCount = groupCount;
        this.hashSeed = hashSeed;
        this.entries = entries.clone();
    }

    /** Each entry is the one of its subtable, and each subtable has all of its entries. */
    private static void checkDirectory(final int depth, final long[] entries)
    {
        long named = 0;
        for (int i = 0; i < entries.length; i++)
        {
            final int entryDepth = DirectoryEntry.depth(entries[i]);
            if (entryDepth > depth || entries[i] != entries[i & (1 << entryDepth) - 1])
            {
                throw new IllegalArgumentException("entry " + i + " of depth " + entryDepth +
                    " is not that of its subtable in a directory of depth " + depth);
            }
            named += i >>> entryDepth == 0 ? 1L << depth - entryDepth : 0;
        }
        if (named != entries.length)
        {
            throw new IllegalArgumentException(
                "subtables with " + named + " entries in a directory that has " + entries.length);
        }
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

    /** @return depth that no subtable gets below when subtables are merged. */
    public int leastDepth()
    {
        return leastDepth;
    }

    /** @return number of entries: as many as there would be subtables if all were as deep as the deepest. */
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

    /** @return number of subtables, each counted once. */
    public int distinctSubtables()
    {
        int subtables = 0;
        for (int i = 0; i < entries.length; i++)
        {
            subtables += i >>> DirectoryEntry.depth(entries[i]) == 0 ? 1 : 0;
        }
        return subtables;
    }

    /** @return slots of the whole table. */
    public long slotCount()
    {
        return (long)distinctSubtables() * groupCount * BucketDescriptor.SLOTS_PER_GROUP;
    }

    /**
     * @param nameBytes   length of the name.
     * @param subtables   that are named.
     * @param memoryNodes where they lie.
     * @param offsetBits  for an offset, counted in the largest units that fit all.
     * @return bytes of a descriptor.
     */
    public static int lengthBytes(
        final int nameBytes, final int subtables, final int memoryNodes, final int offsetBits)
    {
        return NODE_IDS_OFFSET + DirectoryBits.lengthBytes(subtables, memoryNodes, offsetBits) + nameBytes +
            CHECKSUM_BYTES;
    }

    /** @return the bytes for the meta server. */
    public byte[] encode()
    {
        final byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
        final DirectoryBits directory = DirectoryBits.of(entries);
        final int[] nodes = directory.memoryNodeIds();
        final ByteBuffer buffer = ByteBuffer.allocate(lengthBytes(
            nameBytes.length, directory.subtables(), nodes.length, directory.offsetBits())).order(LITTLE_ENDIAN);
        buffer.putInt(MAGIC).put((byte)FORMAT_VERSION).put((byte)depth);
        buffer.put((byte)nameBytes.length).put((byte)leastDepth);
        buffer.putInt(tableId).putInt(groupCount).putLong(hashSeed);
        buffer.putInt(directory.subtables()).putShort((short)nodes.length);
        buffer.put((byte)directory.offsetShift()).put((byte)directory.offsetBits()).putLong(directory.baseOffset());
        for (final int node : nodes)
        {
            buffer.putShort((short)node);
        }
        directory.write(buffer.array(), buffer.position());
        buffer.position(buffer.position() + directory.treeBytes());
        buffer.put(nameBytes);
        buffer.putLong(LongHashFunction.xx3().hashBytes(buffer.array(), 0, buffer.position()));
        return buffer.array();
    }

    /**
     * Reads the bytes back, of this version or the one before.
     *
     * @param bytes from {@link #encode()}.
     * @return the descriptor.
     * @throws FormatException naming the first thing that is wrong: magic, version, checksum, length, entry state.
     */
    public static TableDescriptor decode(final byte[] bytes)
    {
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN);
        if (bytes.length < ARRAY_OFFSET + CHECKSUM_BYTES || buffer.getInt(MAGIC_OFFSET) != MAGIC)
        {
            throw new FormatException("not a table descriptor: length=" + bytes.length);
        }
        final int format = bytes[FORMAT_OFFSET] & 0xFF;
        if (format < ARRAY_FORMAT_VERSION || format > FORMAT_VERSION)
        {
            throw FormatException.unknownVersion(NAME, format, FORMAT_VERSION);
        }
        final int checkedBytes = bytes.length - CHECKSUM_BYTES;
        if (buffer.getLong(checkedBytes) != LongHashFunction.xx3().hashBytes(bytes, 0, checkedBytes))
        {
            throw new FormatException("table descriptor cut short or damaged: its checksum does not fit, length=" +
                bytes.length);
        }
        if (bytes[DEPTH_OFFSET] < 0 || bytes[DEPTH_OFFSET] > BucketDescriptor.MAX_DEPTH)
        {
            throw new FormatException("table descriptor damaged: depth=" + bytes[DEPTH_OFFSET]);
        }
        try
        {
            final int nameLength = format < FORMAT_VERSION ?
                Short.toUnsignedInt(buffer.getShort(NAME_LENGTH_OFFSET)) :
                Byte.toUnsignedInt(buffer.get(NAME_LENGTH_OFFSET));
            final long[] entries =
                format == ARRAY_FORMAT_VERSION ? readArray(buffer, nameLength) : readTree(buffer, nameLength);
            return new TableDescriptor(
                new String(bytes, checkedBytes - nameLength, nameLength, StandardCharsets.UTF_8),
                buffer.getInt(TABLE_ID_OFFSET), bytes[DEPTH_OFFSET],
                bytes[format < FORMAT_VERSION ? DEPTH_OFFSET : LEAST_DEPTH_OFFSET],
                buffer.getInt(GROUP_COUNT_OFFSET), buffer.getLong(HASH_SEED_OFFSET), entries);
        }
        catch (final IllegalArgumentException ex)
        {
            throw new FormatException("table descriptor damaged: " + ex.getMessage());
        }
    }

    private static long[] readTree(final ByteBuffer buffer, final int nameLength)
    {
        final int nodeCount = Short.toUnsignedInt(buffer.getShort(NODES_OFFSET));
        final int subtables = buffer.getInt(SUBTABLES_OFFSET);
        final int offsetBits = buffer.get(OFFSET_BITS_OFFSET);
        final int depth = buffer.get(DEPTH_OFFSET);
        if (nodeCount < 1 || subtables < 1 || subtables > 1 << depth || offsetBits < 0 ||
            offsetBits > DirectoryEntry.OFFSET_BITS ||
            lengthBytes(nameLength, subtables, nodeCount, offsetBits) != buffer.capacity())
        {
            throw new FormatException("table descriptor damaged: length=" + buffer.capacity() + " memoryNodes=" +
                nodeCount + " subtables=" + subtables + " depth=" + depth + " offsetBits=" + offsetBits);
        }
        final int[] nodes = new int[nodeCount];
        for (int i = 0; i < nodeCount; i++)
        {
            nodes[i] = Short.toUnsignedInt(buffer.getShort(NODE_IDS_OFFSET + i * Short.BYTES));
        }
        return DirectoryBits.toRead(depth, nodes, subtables, buffer.getLong(BASE_OFFSET),
            buffer.get(OFFSET_SHIFT_OFFSET), offsetBits)
            .read(buffer.array(), NODE_IDS_OFFSET + nodeCount * Short.BYTES);
    }

    private static long[] readArray(final ByteBuffer buffer, final int nameLength)
    {
        final long[] entries = new long[1 << buffer.get(DEPTH_OFFSET)];
        if (buffer.capacity() != ARRAY_OFFSET + entries.length * Long.BYTES + nameLength + CHECKSUM_BYTES)
        {
            throw new FormatException("table descriptor cut short or damaged: length=" + buffer.capacity() +
                " depth=" + buffer.get(DEPTH_OFFSET) + " nameLength=" + nameLength);
        }
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = buffer.getLong(ARRAY_OFFSET + i * Long.BYTES);
            DirectoryEntry.check(entries[i]);
        }
        return entries;
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
