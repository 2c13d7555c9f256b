package io.verbena.table.format;

/**
 * The word that locates the two subtables which take the place of a subtable that is split. It stands in the
 * header line of that subtable, and in the header of each of its buckets whose slots are being moved: whoever reads
 * such a bucket learns free of charge where to go on.
 *
 * <pre>
 *   63                            33 32                             2 1   0
 *  +--------------------------------+--------------------------------+-----+
 *  |  offset / 64, split bit 1      |  offset / 64, split bit 0      | tag |
 *  +--------------------------------+--------------------------------+-----+
 *                 31                               31                   2
 * </pre>
 *
 * <p>All three subtables lie on one memory node, because blocks do not move and lie on the node of their slot. The tag
 * distinguishes a link from a bucket header, whose format versions never have both low bits set. Stateless.
 */
public final class SplitLink
{
    /** Name in messages. */
    public static final String NAME = "split link";
    /** No split has begun. */
    public static final long NONE = 0L;
    /** Slots are being moved: those of the new subtables may not be initialised. */
    public static final int TAG_UNDER_WAY = 3;
    /** Every slot of the new subtables is initialised. In the header line only. */
    public static final int TAG_COMPLETE = 1;

    public static final int TAG_BITS = 2;
    public static final int OFFSET_BITS = SlotWord.OFFSET_BITS;
    public static final int TAG_SHIFT = 0;
    public static final int OFFSET_0_SHIFT = TAG_SHIFT + TAG_BITS;
    public static final int OFFSET_1_SHIFT = OFFSET_0_SHIFT + OFFSET_BITS;

    static
    {
        if (OFFSET_1_SHIFT + OFFSET_BITS != Long.SIZE)
        {
            throw new IllegalStateException("split link fields do not fill 64 bits");
        }
        if ((BucketDescriptor.FORMAT_VERSION & TAG_UNDER_WAY) == TAG_UNDER_WAY)
        {
            throw new IllegalStateException("a bucket header of this format version looks like a split link");
        }
    }

    private SplitLink()
    {
    }

    /**
     * Builds the link of a split that is under way.
     *
     * @param offset0 of the subtable whose keys have split bit 0, in the node's region, a multiple of 64, not 0.
     * @param offset1 of the other one.
     * @return the word.
     */
    public static long of(final long offset0, final long offset1)
    {
        return offset1 / DirectoryEntry.SUBTABLE_ALIGNMENT_BYTES << OFFSET_1_SHIFT |
            offset0 / DirectoryEntry.SUBTABLE_ALIGNMENT_BYTES << OFFSET_0_SHIFT | TAG_UNDER_WAY;
    }

    /** @return whether a word in the place of a bucket header is a link. */
    public static boolean isLink(final long word)
    {
        return (word & TAG_UNDER_WAY) == TAG_UNDER_WAY;
    }

    /** @return the link when every slot has been moved. */
    public static long complete(final long link)
    {
        return link & ~(long)TAG_UNDER_WAY | TAG_COMPLETE;
    }

    /** @return whether every slot has been moved. */
    public static boolean isComplete(final long link)
    {
        return (link & TAG_UNDER_WAY) == TAG_COMPLETE;
    }

    /** @return the link as it stands in bucket headers, whether the split is complete or not. */
    public static long underWay(final long link)
    {
        return link | TAG_UNDER_WAY;
    }

    /** @return offset of the new subtable of a side, 0 or 1, bytes. */
    public static long offset(final long link, final int side)
    {
        final long units = side == 0 ? link >>> OFFSET_0_SHIFT : link >>> OFFSET_1_SHIFT;
        return (units & (1L << OFFSET_BITS) - 1) * DirectoryEntry.SUBTABLE_ALIGNMENT_BYTES;
    }
}
