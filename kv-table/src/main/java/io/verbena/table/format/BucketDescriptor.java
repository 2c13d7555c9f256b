package io.verbena.table.format;

/**
 * Buckets and groups. A bucket is one 64-byte line; a group is three of them, the middle one shared by its neighbours,
 * so that a main bucket and its overflow are always adjacent and one READ of 128 bytes, a <em>combined bucket</em>,
 * fetches both.
 *
 * <pre>
 *  bucket  0        8       16       24       32       40       48       56       64
 *         +--------+--------+--------+--------+--------+--------+--------+--------+
 *         | header | slot 0 | slot 1 | slot 2 | slot 3 | slot 4 | slot 5 | slot 6 |
 *         +--------+--------+--------+--------+--------+--------+--------+--------+
 *
 *  group   0                 64                128               192
 *         +-----------------+-----------------+-----------------+
 *         |     main 0      | shared overflow |     main 1      |
 *         +-----------------+-----------------+-----------------+
 *         '---- side 0: [0, 128) ----'
 *                           '---- side 1: [64, 192) ---'
 *
 *  header  63                 32 31               12 11      6 5       0
 *         +---------------------+-------------------+---------+---------+
 *         |      table id       |      suffix       |  depth  | format  |
 *         +---------------------+-------------------+---------+---------+
 *                 32                     20              6         6
 * </pre>
 *
 * <p>Slots are {@link SlotWord}s, changed by compare-and-swap of compute nodes only. The header is written when the
 * subtable is formatted, and shows each reader, free of charge, that it reads the subtable it means. A split swaps a
 * {@link SplitLink} into its place before it freezes the first slot of the bucket. Stateless.
 */
public final class BucketDescriptor
{
    /** Name in messages. */
    public static final String NAME = "bucket";
    /** Version of bucket and group. */
    public static final int FORMAT_VERSION = 2;

    public static final int HEADER_OFFSET = 0;
    public static final int SLOTS_OFFSET = HEADER_OFFSET + Long.BYTES;
    public static final int SLOT_BYTES = Long.BYTES;
    public static final int SLOTS_PER_BUCKET = 7;
    public static final int BUCKET_BYTES = SLOTS_OFFSET + SLOTS_PER_BUCKET * SLOT_BYTES;

    public static final int BUCKETS_PER_GROUP = 3;
    public static final int MAIN_0_OFFSET = 0;
    public static final int OVERFLOW_OFFSET = MAIN_0_OFFSET + BUCKET_BYTES;
    public static final int MAIN_1_OFFSET = OVERFLOW_OFFSET + BUCKET_BYTES;
    public static final int GROUP_BYTES = MAIN_1_OFFSET + BUCKET_BYTES;
    public static final int SLOTS_PER_GROUP = BUCKETS_PER_GROUP * SLOTS_PER_BUCKET;
    /** Length of a main bucket and its overflow. */
    public static final int COMBINED_BYTES = 2 * BUCKET_BYTES;

    public static final int FORMAT_BITS = 6;
    public static final int DEPTH_BITS = 6;
    public static final int SUFFIX_BITS = 20;
    public static final int TABLE_ID_BITS = 32;
    public static final int FORMAT_SHIFT = 0;
    public static final int DEPTH_SHIFT = FORMAT_SHIFT + FORMAT_BITS;
    public static final int SUFFIX_SHIFT = DEPTH_SHIFT + DEPTH_BITS;
    public static final int TABLE_ID_SHIFT = SUFFIX_SHIFT + SUFFIX_BITS;
    /** Deepest directory. */
    public static final int MAX_DEPTH = SUFFIX_BITS;

    static
    {
        if (BUCKET_BYTES != 64 || TABLE_ID_SHIFT + TABLE_ID_BITS != Long.SIZE)
        {
            throw new IllegalStateException("a bucket is one 64-byte line with a 64-bit header; is " + BUCKET_BYTES);
        }
    }

    private BucketDescriptor()
    {
    }

    /** @return the header word of every bucket of a subtable. */
    public static long header(final int tableId, final int suffix, final int depth)
    {
        return Integer.toUnsignedLong(tableId) << TABLE_ID_SHIFT | (long)suffix << SUFFIX_SHIFT |
            (long)depth << DEPTH_SHIFT | FORMAT_VERSION;
    }

    /** @return format version of a header word. */
    public static int formatVersion(final long header)
    {
        return (int)(header & (1 << FORMAT_BITS) - 1);
    }

    /** @return table id of a header word. */
    public static int tableId(final long header)
    {
        return (int)(header >>> TABLE_ID_SHIFT);
    }

    /** @return suffix of a header word. */
    public static int suffix(final long header)
    {
        return (int)(header >>> SUFFIX_SHIFT) & (1 << SUFFIX_BITS) - 1;
    }

    /** @return local depth of a header word. */
    public static int depth(final long header)
    {
        return (int)(header >>> DEPTH_SHIFT) & (1 << DEPTH_BITS) - 1;
    }

    /** @return where a slot is in buckets that stand one behind the other, and through which slots are numbered. */
    public static int slotPosition(final int slot)
    {
        return slot / SLOTS_PER_BUCKET * BUCKET_BYTES + SLOTS_OFFSET + slot % SLOTS_PER_BUCKET * SLOT_BYTES;
    }

    /** @return offset of a combined bucket in its group: side 0 or 1. */
    public static int combinedOffset(final int side)
    {
        return side * BUCKET_BYTES;
    }

    /** @return offset in its combined bucket of the main bucket, which is filled before the overflow. */
    public static int mainOffset(final int side)
    {
        return side * BUCKET_BYTES;
    }
}
