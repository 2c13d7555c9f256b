package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;

/**
 * Positions in a table that splits do not move. A subtable has the keys of one interval of bit-reversed hashes, and
 * those that take its place have the lower and the upper half of it: so a position is the lower end of an interval, and
 * a slot. Whoever has walked some slots of a subtable that is split then goes on behind them in the lower one, and
 * walks the upper one from its first slot on: some is met again, nothing is left out. Owner thread only.
 */
final class Cursor
{
    private static final int INTERVAL_BITS = BucketDescriptor.MAX_DEPTH;

    private long slots;
    private int interval;
    private int suffix;
    private int depth;
    private long groupsOffset;
    private long predecessor;
    private long bucketHeader;

    static long slotsPerSubtable(final OpenTable table)
    {
        return (long)table.groupCount * BucketDescriptor.SLOTS_PER_GROUP;
    }

    static long positions(final OpenTable table)
    {
        return slotsPerSubtable(table) << INTERVAL_BITS;
    }

    private static int reversed(final int bits)
    {
        return Integer.reverse(bits) >>> Integer.SIZE - INTERVAL_BITS;
    }

    /**
     * Finds the subtable of a position, as far as the engine knows.
     *
     * @return the position; a smaller one, if the subtable has not been split as far as that of the position.
     */
    long resolve(final OpenTable table, final long position)
    {
        final TableDirectory directory = table.directory;
        slots = slotsPerSubtable(table);
        final int entry = reversed((int)(position / slots)) & (1 << directory.depth()) - 1;
        suffix = directory.suffix(entry);
        depth = directory.depth(entry);
        groupsOffset = directory.groupsOffset(entry);
        predecessor = directory.predecessor(entry);
        bucketHeader = directory.bucketHeader(entry);
        interval = reversed(suffix);
        return interval == position / slots ? position : begin();
    }

    /** Takes note of a split of the present subtable. */
    void follow(final OpenTable table, final long link)
    {
        table.learn(suffix, depth, groupsOffset, link);
    }

    /** @return first position of the subtable. */
    long begin()
    {
        return interval * slots;
    }

    /** @return position behind the last one of the subtable. */
    long end()
    {
        return begin() + slots;
    }

    /** @return first position of the subtable behind, or {@link TableScan#END}. */
    long next()
    {
        final int behind = interval + (1 << INTERVAL_BITS - depth);
        return behind == 1 << INTERVAL_BITS ? TableScan.END : behind * slots;
    }

    int slot(final long position)
    {
        return (int)(position - begin());
    }

    int suffix()
    {
        return suffix;
    }

    int depth()
    {
        return depth;
    }

    int side()
    {
        return depth == 0 ? 0 : suffix >>> depth - 1;
    }

    long groupsOffset()
    {
        return groupsOffset;
    }

    /** @return groups of the subtable that is split into this one, or 0. */
    long predecessor()
    {
        return predecessor;
    }

    long bucketHeader()
    {
        return bucketHeader;
    }
}
