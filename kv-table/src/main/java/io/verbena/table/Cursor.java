package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Positions in a table that splits do not move, and merges only back. A subtable has the keys of one interval of
 * bit-reversed hashes, and those that take its place when it is split have the lower and the upper half of it: so a
 * position is an interval, and a slot. Whoever has walked some slots of a subtable that is split then goes on behind
 * them in the lower one, and walks the upper one from its first slot on: some is met again, nothing is left out. Who
 * finds a merged subtable walks it from its beginning, or, in the upper of the two, from the group on in which it was.
 *
 * <p>An interval is told by the bit in its middle, which also tells its length. Owner thread only.
 */
final class Cursor
{
    /** One more than the deepest subtable needs, so that the shortest interval has a middle. */
    private static final int INTERVAL_BITS = BucketDescriptor.MAX_DEPTH + 1;

    private final int droppedGuards;
    private long slots;
    private int interval;
    private int suffix;
    private int depth;
    private long groupsOffset;
    private long predecessor;
    private long splitLink;
    private int siblingSide;
    private long bucketHeader;

    /** @param droppedGuards of {@link MergeGuard}. */
    Cursor(final int droppedGuards)
    {
        this.droppedGuards = droppedGuards;
    }

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
     * @return the position; another one in that subtable, if it is not the one that the position was found in.
     */
    long resolve(final OpenTable table, final long position)
    {
        final TableDirectory directory = table.directory;
        slots = slotsPerSubtable(table);
        final int middle = position == 0 ? 1 : (int)(position / slots);
        final int half = Integer.lowestOneBit(middle);
        final int from = middle - half;
        final int entry = reversed(from) & (1 << directory.depth()) - 1;
        suffix = directory.suffix(entry);
        depth = directory.depth(entry);
        groupsOffset = directory.groupsOffset(entry);
        predecessor = directory.predecessor(entry);
        splitLink = directory.splitLink(entry);
        siblingSide = 1 - (entry >>> depth & 1);
        bucketHeader = directory.bucketHeader(entry);
        interval = reversed(suffix);
        return begin() + slotToGoOnFrom(from, half, position % slots);
    }

    /** In an interval that is longer than that of the position, not all before it was walked. */
    private long slotToGoOnFrom(final int from, final int half, final long slot)
    {
        if (half() <= half || (droppedGuards & MergeGuard.WALK_AGAIN) != 0)
        {
            return slot;
        }
        final boolean isLast = from + 2 * half == interval + 2 * half();
        return isLast ? slot - slot % BucketDescriptor.SLOTS_PER_GROUP : 0;
    }

    /** @return half the length of the subtable's interval. */
    private int half()
    {
        return 1 << INTERVAL_BITS - 1 - depth;
    }

    /** Takes note of a split or merge of the present subtable. */
    void follow(final OpenTable table, final long link)
    {
        table.learn(suffix, depth, groupsOffset, link);
    }

    /** @return first position of the subtable. */
    long begin()
    {
        return (interval + half()) * slots;
    }

    /** @return position behind the last one of the subtable. */
    long end()
    {
        return begin() + slots;
    }

    /** @return first position of the subtable behind, or {@link TableScan#END}. */
    long next()
    {
        // The shortest interval that begins there: which one it is will be found out.
        final int behind = interval + 2 * half();
        return behind == 1 << INTERVAL_BITS ? TableScan.END : (behind + 1) * slots;
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

    /** @return whether the subtable takes the place of two, and may wait for words. */
    boolean isMerging()
    {
        return predecessor != 0 && MergeLink.isLink(splitLink);
    }

    /** @return offset of one of the two, by its split bit. */
    long merged(final int side)
    {
        return side == siblingSide ? MergeLink.sibling(splitLink) : predecessor - SubtableDescriptor.GROUPS_OFFSET;
    }

    /** @return groups of the subtable that is split or merged into this one, or 0. */
    long predecessor()
    {
        return predecessor;
    }

    long bucketHeader()
    {
        return bucketHeader;
    }
}
