package io.verbena.table.format;

import net.openhft.hashing.LongHashFunction;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A subtable: one header line, then bucket groups.
 *
 * <pre>
 *    0        1        2        3        4        5        6        7
 *  +-----------------------------------+--------+--------+-----------------+
 *  |               magic               | format | depth  |    reserved     |   0
 *  +-----------------------------------+--------+--------+-----------------+
 *  |             table id              |              suffix               |   8
 *  +-----------------------------------+-----------------------------------+
 *  |            group count            |              epoch                |  16
 *  +-----------------------------------+-----------------------------------+
 *  |                              hash seed                                |  24
 *  +-----------------------------------------------------------------------+
 *  |                              split                                    |  32
 *  +-----------------------------------------------------------------------+
 *  |                           predecessor                                 |  40
 *  +-----------------------------------------------------------------------+
 *  |                          second predecessor                           |  48
 *  +-----------------------------------------------------------------------+
 *  |                              checksum                                 |  56
 *  +-----------------------------------------------------------------------+
 *  |                              groups, 192 bytes each                ...   64
 * </pre>
 *
 * <p>Written once by WRITEs of the node that makes the subtable, after the groups; read by splits, tools and recovery.
 * Split is 0, or the {@link SplitLink} to the two subtables that take this one's place, or the {@link MergeLink} to the
 * one that takes the place of this one and its sibling; predecessor is 0, or the offset of the subtable whose slots are
 * still being copied here, the first of two if this one comes of a merge; then the second predecessor is the other one,
 * and epoch the lower half of the epoch in which who made it began to merge.
 * Split and predecessor are changed by compare-and-swap; the checksum is XXH3-64 over the 32 bytes before them.
 * Stateless.
 */
public final class SubtableDescriptor
{
    /** Name in messages. */
    public static final String NAME = "subtable";
    public static final int MAGIC = 0x42545356;
    public static final int FORMAT_VERSION = 2;

    public static final int MAGIC_OFFSET = 0;
    public static final int FORMAT_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    public static final int DEPTH_OFFSET = FORMAT_OFFSET + Byte.BYTES;
    public static final int TABLE_ID_OFFSET = DEPTH_OFFSET + Byte.BYTES + Short.BYTES;
    public static final int SUFFIX_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    public static final int GROUP_COUNT_OFFSET = SUFFIX_OFFSET + Integer.BYTES;
    public static final int EPOCH_OFFSET = GROUP_COUNT_OFFSET + Integer.BYTES;
    public static final int HASH_SEED_OFFSET = EPOCH_OFFSET + Integer.BYTES;
    public static final int SPLIT_OFFSET = HASH_SEED_OFFSET + Long.BYTES;
    public static final int PREDECESSOR_OFFSET = SPLIT_OFFSET + Long.BYTES;
    public static final int SECOND_PREDECESSOR_OFFSET = PREDECESSOR_OFFSET + Long.BYTES;
    public static final int CHECKSUM_OFFSET = SECOND_PREDECESSOR_OFFSET + Long.BYTES;
    public static final int HEADER_BYTES = CHECKSUM_OFFSET + Long.BYTES;
    public static final int GROUPS_OFFSET = HEADER_BYTES;

    private static final LongHashFunction CHECKSUM = LongHashFunction.xx3();

    static
    {
        if (HEADER_BYTES != BucketDescriptor.BUCKET_BYTES)
        {
            throw new IllegalStateException("a subtable header is one line, so that buckets keep to lines");
        }
    }

    private SubtableDescriptor()
    {
    }

    /** @return bytes of a subtable with so many groups. */
    public static long lengthBytes(final int groupCount)
    {
        return GROUPS_OFFSET + (long)groupCount * BucketDescriptor.GROUP_BYTES;
    }

    /** @return offset of a group of a subtable, in the region that the subtable's own offset counts in. */
    public static long groupOffset(final long subtableOffset, final int group)
    {
        return subtableOffset + GROUPS_OFFSET + (long)group * BucketDescriptor.GROUP_BYTES;
    }

    /** @return most groups that fit so many bytes. */
    public static int groupsWithin(final long lengthBytes)
    {
        return (int)Math.min(
            Integer.MAX_VALUE, Math.max(0, (lengthBytes - GROUPS_OFFSET) / BucketDescriptor.GROUP_BYTES));
    }

    /**
     * Writes the header line.
     *
     * @param buffer      off-heap.
     * @param offset      of the header.
     * @param tableId     of the table.
     * @param suffix      of the subtable.
     * @param depth       local depth.
     * @param groupCount  1 or more.
     * @param hashSeed    of the table.
     * @param predecessor offset in the node's region of the subtable that is split into this one, or 0.
     */
    public static void write(
        final MutableDirectBuffer buffer,
        final int offset,
        final int tableId,
        final int suffix,
        final int depth,
        final int groupCount,
        final long hashSeed,
        final long predecessor)
    {
        buffer.setMemory(offset, HEADER_BYTES, (byte)0);
        buffer.putInt(offset + MAGIC_OFFSET, MAGIC, LITTLE_ENDIAN);
        buffer.putByte(offset + FORMAT_OFFSET, (byte)FORMAT_VERSION);
        buffer.putByte(offset + DEPTH_OFFSET, (byte)depth);
        buffer.putInt(offset + TABLE_ID_OFFSET, tableId, LITTLE_ENDIAN);
        buffer.putInt(offset + SUFFIX_OFFSET, suffix, LITTLE_ENDIAN);
        buffer.putInt(offset + GROUP_COUNT_OFFSET, groupCount, LITTLE_ENDIAN);
        buffer.putLong(offset + HASH_SEED_OFFSET, hashSeed, LITTLE_ENDIAN);
        buffer.putLong(offset + PREDECESSOR_OFFSET, predecessor, LITTLE_ENDIAN);
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset), LITTLE_ENDIAN);
    }

    /**
     * Writes the header line of a subtable that takes the place of two.
     *
     * @param buffer            off-heap.
     * @param offset            of the header.
     * @param tableId           of the table.
     * @param suffix            of the subtable.
     * @param depth             local depth.
     * @param groupCount        1 or more.
     * @param hashSeed          of the table.
     * @param predecessor       offset of the one of the two with split bit 0.
     * @param secondPredecessor offset of the other one.
     * @param epoch             in which who writes it began to merge the two.
     */
    public static void write(
        final MutableDirectBuffer buffer,
        final int offset,
        final int tableId,
        final int suffix,
        final int depth,
        final int groupCount,
        final long hashSeed,
        final long predecessor,
        final long secondPredecessor,
        final long epoch)
    {
        write(buffer, offset, tableId, suffix, depth, groupCount, hashSeed, predecessor);
        buffer.putLong(offset + SECOND_PREDECESSOR_OFFSET, secondPredecessor, LITTLE_ENDIAN);
        buffer.putInt(offset + EPOCH_OFFSET, (int)epoch, LITTLE_ENDIAN);
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset), LITTLE_ENDIAN);
    }

    /**
     * Checks magic, version and checksum.
     *
     * @param buffer off-heap.
     * @param offset of the header.
     * @throws FormatException naming what is wrong.
     */
    public static void check(final DirectBuffer buffer, final int offset)
    {
        final int magic = buffer.getInt(offset + MAGIC_OFFSET, LITTLE_ENDIAN);
        if (magic != MAGIC)
        {
            throw new FormatException(String.format("not a subtable: magic=%08x expected=%08x", magic, MAGIC));
        }
        final int version = buffer.getByte(offset + FORMAT_OFFSET) & 0xFF;
        if (version != FORMAT_VERSION)
        {
            throw FormatException.unknownVersion(NAME, version, FORMAT_VERSION);
        }
        final long stored = buffer.getLong(offset + CHECKSUM_OFFSET, LITTLE_ENDIAN);
        if (stored != checksum(buffer, offset))
        {
            throw new FormatException(String.format("subtable header damaged: checksum=%016x", stored));
        }
    }

    /** @return table id. */
    public static int tableId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + TABLE_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** @return suffix. */
    public static int suffix(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + SUFFIX_OFFSET, LITTLE_ENDIAN);
    }

    /** @return local depth. */
    public static int depth(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + DEPTH_OFFSET);
    }

    /** @return number of groups. */
    public static int groupCount(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + GROUP_COUNT_OFFSET, LITTLE_ENDIAN);
    }

    /** @return seed of the table's hash. */
    public static long hashSeed(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + HASH_SEED_OFFSET, LITTLE_ENDIAN);
    }

    /** @return 0, or the link to the subtables that take this one's place, see {@link SplitLink}. */
    public static long split(final DirectBuffer buffer, final int offset)
    {
        return MergeLink.linkOf(splitWord(buffer, offset));
    }

    /** @return the word in the place of {@link #split}: whoever puts a link there has to expect it. */
    public static long splitWord(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + SPLIT_OFFSET, LITTLE_ENDIAN);
    }

    /** @return 0, or the offset of the subtable whose slots are still being copied here. */
    public static long predecessor(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + PREDECESSOR_OFFSET, LITTLE_ENDIAN);
    }

    /** @return 0, or the second of the two subtables that this one takes the place of, or took. */
    public static long secondPredecessor(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + SECOND_PREDECESSOR_OFFSET, LITTLE_ENDIAN);
    }

    /**
     * The epoch in which the merge began that made this one, of which the lower half is stored.
     *
     * @param present epoch that the reader knows.
     * @return of the epochs with that half the one next to the present: one of 2^31 epochs ago counts as one to come.
     */
    public static long epoch(final DirectBuffer buffer, final int offset, final long present)
    {
        return present + (buffer.getInt(offset + EPOCH_OFFSET, LITTLE_ENDIAN) - (int)present);
    }

    private static long checksum(final DirectBuffer buffer, final int offset)
    {
        if (buffer.byteArray() != null)
        {
            throw new IllegalArgumentException("a subtable header is written and checked in off-heap memory");
        }
        return CHECKSUM.hashMemory(buffer.addressOffset() + offset, SPLIT_OFFSET);
    }
}
