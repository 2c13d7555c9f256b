package io.verbena.table.scan;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Where a walk over a table stands, in words that neither splits nor merges change. A subtable has the keys of one
 * interval of bit-reversed hashes; those it is split into have the halves of it. A key keeps its group as long as it is
 * there, and in its group a place in the {@link KeyHash#order} of the keys there. So a position is an interval, a
 * group, as many bits of that order as there is room for, and, for the case that several records of the group have
 * equal ones, a number of slots: all before it was met, of the interval and of those below.
 *
 * <pre>
 *   63  62  61       57 56                                                  5 4       0
 *  +---+---+-----------+----------------+------------------+------------------+--------+
 *  | 0 | 1 |   depth   |    interval    |      group       |      order       | slots  |
 *  +---+---+-----------+----------------+------------------+------------------+--------+
 *    1   1       5       depth many bits   of groupCount     all that is left     5
 * </pre>
 *
 * <p>Whoever finds the subtable of an interval split goes on in the lower half, behind the same place of the same
 * group, and walks what is above it from its beginning: some is visited again. Who finds it merged into a longer one
 * goes on there, and passes by what is not of the interval; then it walks that one again for the interval behind.
 *
 * <p>0 is the beginning. A position with bit 63 and without bit 62 is a place to begin at: 20 bits from bit 42 on
 * choose an interval, 31 bits from bit 0 on a group; the subtable there is walked from that group on. No walk comes to
 * such a position by itself. Positions without bits 62 and 63 are of earlier versions, the middle of an interval times
 * its slots, and a slot: they are understood as the beginning of that slot's group. Owner thread only.
 */
public final class Cursor
{
    private static final int MAX_DEPTH = BucketDescriptor.MAX_DEPTH;
    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    private static final int SLOTS_BITS = 5;
    private static final int DEPTH_BITS = 5;
    /** Bits of interval, group and order together. */
    private static final int PLACE_BITS = 52;
    private static final int DEPTH_SHIFT = SLOTS_BITS + PLACE_BITS;
    private static final long MARK = 1L << DEPTH_SHIFT + DEPTH_BITS;
    private static final int PLACE_INTERVAL_SHIFT = Long.SIZE - 2 - MAX_DEPTH;
    private static final int PLACE_GROUP_BITS = 31;
    private static final int FINGERPRINT_SHIFT = Long.SIZE - SlotWord.FINGERPRINT_BITS;

    private int groupCount;
    private int from;
    private int intervalDepth;
    private int group;
    private long doneOrder;
    private int doneBits;
    private int doneSlots;
    private int suffix;
    private int depth;
    private long groupsOffset;
    private long predecessor;
    private long splitLink;
    private int siblingSide;
    private long bucketHeader;

    static long slotsPerSubtable(final OpenTable table)
    {
        return (long)table.groupCount * SLOTS;
    }

    /** Between a directory suffix and the lower end of its interval, in 2^20ths of all; both ways. */
    private static int reversed(final int bits)
    {
        return Integer.reverse(bits) >>> Integer.SIZE - MAX_DEPTH;
    }

    private static int groupBits(final int groupCount)
    {
        return Integer.SIZE - Integer.numberOfLeadingZeros(groupCount - 1);
    }

    private int orderBits(final int atDepth)
    {
        return PLACE_BITS - atDepth - groupBits(groupCount);
    }

    private static long prefix(final long order, final int bits)
    {
        return bits == 0 ? 0 : order >>> Long.SIZE - bits;
    }

    /** @return whether a table can have this position. */
    boolean isPosition(final OpenTable table, final long position)
    {
        groupCount = table.groupCount;
        if (position < 0)
        {
            return position < Long.MIN_VALUE + MARK;
        }
        if (position < MARK)
        {
            final long middle = position / slotsPerSubtable(table);
            return position == 0 || middle > 0 && middle < 2L << MAX_DEPTH;
        }
        final int atDepth = (int)(position - MARK >>> DEPTH_SHIFT);
        return atDepth <= MAX_DEPTH && (position & (1 << SLOTS_BITS) - 1) <= SLOTS &&
            groupOf(position, atDepth) < groupCount;
    }

    private int groupOf(final long position, final int atDepth)
    {
        return (int)(position >>> SLOTS_BITS + orderBits(atDepth) & (1L << groupBits(groupCount)) - 1);
    }

    private void decode(final long position)
    {
        if (position < 0)
        {
            intervalDepth = MAX_DEPTH;
            from = (int)(position >>> PLACE_INTERVAL_SHIFT) & (1 << MAX_DEPTH) - 1;
            group = (int)((position & (1L << PLACE_GROUP_BITS) - 1) * groupCount >>> PLACE_GROUP_BITS);
            doneBits = 0;
            doneOrder = 0;
            doneSlots = 0;
        }
        else if (position < MARK)
        {
            decodeEarlier(position);
        }
        else
        {
            intervalDepth = (int)(position - MARK >>> DEPTH_SHIFT);
            doneBits = orderBits(intervalDepth);
            from = (int)(position >>> SLOTS_BITS + doneBits + groupBits(groupCount) & (1L << intervalDepth) - 1) <<
                MAX_DEPTH - intervalDepth;
            group = groupOf(position, intervalDepth);
            doneOrder = position >>> SLOTS_BITS & (1L << doneBits) - 1;
            doneSlots = (int)position & (1 << SLOTS_BITS) - 1;
        }
    }

    private void decodeEarlier(final long position)
    {
        final long slots = (long)groupCount * SLOTS;
        final int middle = position == 0 ? 1 : (int)(position / slots);
        final int half = Integer.lowestOneBit(middle);
        intervalDepth = MAX_DEPTH - Integer.numberOfTrailingZeros(half);
        from = middle - half >>> 1;
        group = (int)(position % slots / SLOTS);
        doneBits = 0;
        doneOrder = 0;
        doneSlots = 0;
    }

    /**
     * Finds the subtable of a position, as far as the engine knows, and the interval that is walked in it.
     *
     * @param table         that is walked.
     * @param position      of which {@link #isPosition} says yes.
     * @param takesAllOfIt  whether all of the subtable is walked that is behind the place in it, for walks that count.
     */
    void resolve(final OpenTable table, final long position, final boolean takesAllOfIt)
    {
        final TableDirectory directory = table.directory;
        groupCount = table.groupCount;
        decode(position);
        final int entry = reversed(from) & (1 << directory.depth()) - 1;
        suffix = directory.suffix(entry);
        depth = directory.depth(entry);
        groupsOffset = directory.groupsOffset(entry);
        predecessor = directory.predecessor(entry);
        splitLink = directory.splitLink(entry);
        siblingSide = 1 - (entry >>> depth & 1);
        bucketHeader = directory.bucketHeader(entry);
        if (takesAllOfIt || position < 0 || !isMerged())
        {
            from = reversed(suffix);
            intervalDepth = depth;
        }
        else if (group == 0 && doneOrder == 0 && doneSlots == 0)
        {
            // Nothing of it was met: the longest of the subtable that begins there.
            intervalDepth = Math.max(depth, MAX_DEPTH - Integer.numberOfTrailingZeros(from));
        }
    }

    /** Whether the interval is only a part of the present subtable, which is walked again for what is behind it. */
    private boolean isMerged()
    {
        return depth < intervalDepth;
    }

    /** Takes note of a split or merge of the present subtable. */
    void follow(final OpenTable table, final long link)
    {
        table.learn(suffix, depth, groupsOffset, link);
    }

    /** @return the group in which the walk stands, 0 to one less than the subtable has. */
    int group()
    {
        return group;
    }

    /** @return slots of that group that a walk which counts has behind it. */
    int slotsCounted()
    {
        return doneSlots;
    }

    /** @return the least order that the record of a word can have, as far as positions tell. */
    long leastOrder(final long word)
    {
        return prefix((long)SlotWord.fingerprint(word) << FINGERPRINT_SHIFT, orderBits(intervalDepth));
    }

    /** @return order of a record, as far as positions tell. */
    long order(final long keyHash)
    {
        return prefix(KeyHash.order(keyHash), orderBits(intervalDepth));
    }

    /** @return whether the record of a word was met already, whatever its order is. */
    boolean isBehind(final int ofGroup, final long word)
    {
        final long most = ((long)SlotWord.fingerprint(word) + 1 << FINGERPRINT_SHIFT) - 1;
        return ofGroup == group && prefix(most, doneBits) < doneOrder;
    }

    /** @return whether a record is yet to be met. */
    boolean isAhead(final int ofGroup, final int slot, final long keyHash)
    {
        if (KeyHash.suffix(keyHash, intervalDepth) != reversed(from))
        {
            return false;
        }
        final long order = prefix(KeyHash.order(keyHash), doneBits);
        return ofGroup != group || order > doneOrder || order == doneOrder && slot >= doneSlots;
    }

    /**
     * @param inGroup where records are yet to be met.
     * @param order   of the first of them, as far as positions tell.
     * @param slots   of those with this order, how many slots of the group are behind.
     * @return the position in the interval.
     */
    long position(final int inGroup, final long order, final int slots)
    {
        return position(from, intervalDepth, inGroup, order, slots);
    }

    private long position(
        final int begin, final int atDepth, final int inGroup, final long order, final int slots)
    {
        final long place = (begin >>> MAX_DEPTH - atDepth) * (1L << groupBits(groupCount)) + inGroup;
        return MARK | (long)atDepth << DEPTH_SHIFT | (place << orderBits(atDepth) | order) << SLOTS_BITS | slots;
    }

    /** @return where a group begins; behind the last one where the interval behind does, or {@link TableScan#END}. */
    long begin(final int ofGroup)
    {
        if (ofGroup < groupCount)
        {
            return position(ofGroup, 0, 0);
        }
        final int behind = from + (1 << MAX_DEPTH - intervalDepth);
        return behind == 1 << MAX_DEPTH ? TableScan.END : position(behind, MAX_DEPTH, 0, 0, 0);
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
