package io.verbena.table.format;

/**
 * One 8-byte entry of a table's directory: where the subtable of a hash suffix lies.
 *
 * <pre>
 *   63   60 59     54 53                38 37                              31 30                      0
 *  +-------+---------+--------------------+----------------------------------+------------------------+
 *  | state |  depth  |   memory node id   |            reserved              |  subtable offset / 64  |
 *  +-------+---------+--------------------+----------------------------------+------------------------+
 *      4        6             16                          7                             31
 * </pre>
 *
 * <p>State is {@link #STATE_STABLE} in this version; the others are reserved for a subtable that is being split, and an
 * engine that meets one refuses it by name. Stateless.
 */
public final class DirectoryEntry
{
    /** Name in messages. */
    public static final String NAME = "directory entry";
    /** The subtable is where the entry says, and whole. */
    public static final int STATE_STABLE = 1;

    public static final int OFFSET_BITS = SlotWord.OFFSET_BITS;
    public static final int RESERVED_BITS = 7;
    public static final int NODE_BITS = 16;
    public static final int DEPTH_BITS = BucketDescriptor.DEPTH_BITS;
    public static final int STATE_BITS = 4;
    public static final int OFFSET_SHIFT = 0;
    public static final int NODE_SHIFT = OFFSET_SHIFT + OFFSET_BITS + RESERVED_BITS;
    public static final int DEPTH_SHIFT = NODE_SHIFT + NODE_BITS;
    public static final int STATE_SHIFT = DEPTH_SHIFT + DEPTH_BITS;
    /** Subtables start at multiples of this. */
    public static final int SUBTABLE_ALIGNMENT_BYTES = 64;

    static
    {
        if (STATE_SHIFT + STATE_BITS != Long.SIZE)
        {
            throw new IllegalStateException("directory entry fields do not fill 64 bits");
        }
    }

    private DirectoryEntry()
    {
    }

    /**
     * Builds a stable entry.
     *
     * @param depth          local depth, 0 to {@link BucketDescriptor#MAX_DEPTH}.
     * @param memoryNodeId   1 to 65,535.
     * @param subtableOffset in the node's region, a multiple of 64.
     * @return the word.
     */
    public static long stable(final int depth, final int memoryNodeId, final long subtableOffset)
    {
        return (long)STATE_STABLE << STATE_SHIFT | (long)depth << DEPTH_SHIFT | (long)memoryNodeId << NODE_SHIFT |
            subtableOffset / SUBTABLE_ALIGNMENT_BYTES;
    }

    /** @return state. */
    public static int state(final long entry)
    {
        return (int)(entry >>> STATE_SHIFT);
    }

    /** @return local depth. */
    public static int depth(final long entry)
    {
        return (int)(entry >>> DEPTH_SHIFT) & (1 << DEPTH_BITS) - 1;
    }

    /** @return id of the memory node. */
    public static int memoryNodeId(final long entry)
    {
        return (int)(entry >>> NODE_SHIFT) & (1 << NODE_BITS) - 1;
    }

    /** @return offset of the subtable in the node's region, bytes. */
    public static long subtableOffset(final long entry)
    {
        return (entry & (1L << OFFSET_BITS) - 1) * SUBTABLE_ALIGNMENT_BYTES;
    }

    /**
     * Refuses an entry this release cannot use.
     *
     * @param entry word to check.
     * @throws FormatException when its state is unknown.
     */
    public static void check(final long entry)
    {
        if (state(entry) != STATE_STABLE)
        {
            throw FormatException.unknownVersion(NAME + " state", state(entry), STATE_STABLE);
        }
    }
}
