package io.verbena.table.format;

/**
 * The word that locates the subtable which takes the place of two siblings that are merged. It stands where a
 * {@link SplitLink} stands: in the header line of each of the two, and in the header of each of their buckets whose
 * slots are being moved. The header line of the one with split bit 0 has it as a proposal first; that of the other one
 * decides.
 *
 * <pre>
 *   63                            33 32                             2 1   0
 *  +--------------------------------+--------------------------------+-----+
 *  |  offset / 64, sibling          |  offset / 64, merged           |  0  |
 *  +--------------------------------+--------------------------------+-----+
 *                 31                               31                   2
 * </pre>
 *
 * <p>The low bits tell it from a split link, and from a bucket header, whose format versions never have both low bits
 * clear. All three subtables lie on one memory node. Stateless.
 */
public final class MergeLink
{
    /** Name in messages. */
    public static final String NAME = "merge link";

    public static final int TAG = 0;
    public static final int TAG_BITS = SplitLink.TAG_BITS;
    public static final int OFFSET_BITS = SplitLink.OFFSET_BITS;
    public static final int TAG_SHIFT = SplitLink.TAG_SHIFT;
    public static final int MERGED_SHIFT = SplitLink.OFFSET_0_SHIFT;
    public static final int SIBLING_SHIFT = SplitLink.OFFSET_1_SHIFT;

    static
    {
        if ((BucketDescriptor.FORMAT_VERSION & (1 << TAG_BITS) - 1) == TAG)
        {
            throw new IllegalStateException("a bucket header of this format version looks like a merge link");
        }
    }

    /**
     * Of a word that stands in the place of a proposal that was taken back, in a table with several copies: an emptied
     * word with this tag, which neither links nor bucket headers in that place have.
     */
    public static final int WITHDRAWN_TAG = 2;

    private MergeLink()
    {
    }

    /**
     * Builds the link of one of two subtables that are merged.
     *
     * @param merged  offset of the subtable that takes their place, in the node's region, a multiple of 64, not 0.
     * @param sibling offset of the other one of the two.
     * @return the word.
     */
    public static long of(final long merged, final long sibling)
    {
        return sibling / DirectoryEntry.SUBTABLE_ALIGNMENT_BYTES << SIBLING_SHIFT |
            merged / DirectoryEntry.SUBTABLE_ALIGNMENT_BYTES << MERGED_SHIFT | TAG;
    }

    /** @return whether a word in the place of a split link or of a bucket header is a merge link. */
    public static boolean isLink(final long word)
    {
        return word != SplitLink.NONE && (word & (1 << TAG_BITS) - 1) == TAG;
    }

    /** @param emptied word of a slot, which is never used again. @return what is left of a proposal. */
    public static long withdrawn(final long emptied)
    {
        return emptied | WITHDRAWN_TAG;
    }

    /** @return whether a word in the place of a link in a header line is what is left of a proposal. */
    public static boolean isWithdrawn(final long word)
    {
        return (word & (1 << TAG_BITS) - 1) == WITHDRAWN_TAG;
    }

    /** @return the link that a word in the place of one in a header line is; {@link SplitLink#NONE} if it is none. */
    public static long linkOf(final long word)
    {
        return isWithdrawn(word) ? SplitLink.NONE : word;
    }

    /** @return offset of the subtable that takes the place of the two, bytes. */
    public static long merged(final long link)
    {
        return SplitLink.offset(link, 0);
    }

    /** @return offset of the other one of the two, bytes. */
    public static long sibling(final long link)
    {
        return SplitLink.offset(link, 1);
    }
}
