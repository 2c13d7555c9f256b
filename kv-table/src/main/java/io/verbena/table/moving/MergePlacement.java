package io.verbena.table.moving;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;

/**
 * Where the words of two groups go that become one: nothing but the frozen words decides, so that all who merge the
 * group do the same. A word keeps its slot if it can. Of two with one slot that of the subtable with split bit 1 moves
 * to a free slot of its bucket, or of the overflow bucket, where the key of any word of its bucket may lie. Stateless.
 *
 * <p>Words are given as those of the first group, then of the second.
 */
public final class MergePlacement
{
    /** Slots of a group. */
    public static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    private static final int PER_BUCKET = BucketDescriptor.SLOTS_PER_BUCKET;
    private static final int BUCKETS = BucketDescriptor.BUCKETS_PER_GROUP;
    private static final int OVERFLOW = BucketDescriptor.OVERFLOW_OFFSET / BucketDescriptor.BUCKET_BYTES;
    private static final int OVERFLOW_SLOT = OVERFLOW * PER_BUCKET;
    /** Order in which slots are reserved; see {@link #isChoice}. */
    private static final int CHOICES = 4;

    private MergePlacement()
    {
    }

    /**
     * Places the words of a group.
     *
     * @param old      words, frozen; others are taken as what they become when they are frozen now.
     * @param newDepth of the merged subtable.
     * @param suffix   of the merged subtable.
     * @param placed   what each slot of the merged group becomes.
     * @return whether there is room for all; always, if slots were reserved.
     */
    public static boolean place(final long[] old, final int newDepth, final int suffix, final long[] placed)
    {
        for (int slot = 0; slot < SLOTS; slot++)
        {
            final int side = SlotWord.namesBlock(old[slot]) ? 0 : 1;
            placed[slot] = merged(old[side * SLOTS + slot], side, newDepth, suffix);
        }
        boolean fits = true;
        for (int slot = 0; slot < SLOTS; slot++)
        {
            if (SlotWord.namesBlock(old[slot]) && SlotWord.namesBlock(old[SLOTS + slot]))
            {
                final int to = freeSlot(placed, slot);
                fits &= to >= 0;
                if (to >= 0)
                {
                    placed[to] = merged(old[SLOTS + slot], 1, newDepth, suffix);
                }
            }
        }
        return fits;
    }

    /**
     * Where the record of a frozen word goes.
     *
     * @param old  words of both groups, all frozen: {@link #SLOTS} of the one with split bit 0, then of the other.
     * @param from number of one of them, which names a block.
     * @return the slot of the merged group, 0 to {@link #SLOTS} - 1; -1 if there is no room, which never is.
     */
    public static int target(final long[] old, final int from)
    {
        final int slot = from % SLOTS;
        if (from < SLOTS || !SlotWord.namesBlock(old[slot]))
        {
            return slot;
        }
        final long[] placed = new long[SLOTS];
        // At this depth words keep their windows.
        place(old, 0, 0, placed);
        for (int to = 0; to < SLOTS; to++)
        {
            if (placed[to] == SlotWord.withKind(old[from], SlotWord.KIND_COMMITTED))
            {
                return to;
            }
        }
        return -1;
    }

    /** @return what a word becomes in the merged subtable. */
    static long merged(final long old, final int side, final int newDepth, final int suffix)
    {
        if (!SlotWord.namesBlock(old))
        {
            return SlotWord.EMPTY;
        }
        final long word = SlotWord.withKind(old, SlotWord.KIND_COMMITTED);
        if (!SlotWord.beginsWindow(newDepth + 1))
        {
            return word;
        }
        // The bits of a window that ends with this depth are the highest ones of the old suffix.
        final int oldSuffix = suffix | side << newDepth;
        return SlotWord.withWindow(word,
            oldSuffix >>> newDepth + 1 - SlotWord.WINDOW_BITS & (1 << SlotWord.WINDOW_BITS) - 1);
    }

    private static int freeSlot(final long[] placed, final int slot)
    {
        final int free = freeOf(placed, slot / PER_BUCKET * PER_BUCKET, PER_BUCKET);
        return free < 0 ? freeOf(placed, OVERFLOW_SLOT, PER_BUCKET) : free;
    }

    private static int freeOf(final long[] placed, final int from, final int count)
    {
        for (int slot = from; slot < from + count; slot++)
        {
            if (placed[slot] == SlotWord.EMPTY)
            {
                return slot;
            }
        }
        return -1;
    }

    /** @return whether the records in two groups fit one, as far as nothing is added. */
    public static boolean fits(final long[] old)
    {
        return limit(old, OVERFLOW) >= committed(old, OVERFLOW);
    }

    /**
     * Chooses a slot to be reserved, so that the two groups fit one whatever comes into those that are left.
     *
     * @param old words as they are.
     * @return the number of a word, or -1: enough are reserved, or, where {@link #fits} says no, there are too many
     *     records.
     */
    public static int toReserve(final long[] old)
    {
        for (int bucket = 0; bucket < BUCKETS; bucket++)
        {
            if (open(old, bucket) > limit(old, bucket))
            {
                for (int choice = 0; choice < CHOICES; choice++)
                {
                    final int slot = choose(old, bucket, choice);
                    if (slot >= 0)
                    {
                        return slot;
                    }
                }
            }
        }
        return -1;
    }

    private static int choose(final long[] old, final int bucket, final int choice)
    {
        for (int side = 0; side < 2; side++)
        {
            for (int i = 0; i < PER_BUCKET; i++)
            {
                final int inGroup = bucket * PER_BUCKET + i;
                if (isChoice(old[side * SLOTS + inGroup], old[(1 - side) * SLOTS + inGroup], side, i, choice))
                {
                    return side * SLOTS + inGroup;
                }
            }
        }
        return -1;
    }

    /** Empty slots before undecided ones; those of which the other one is taken first, then from both sides in turn. */
    private static boolean isChoice(
        final long word, final long other, final int side, final int slot, final int choice)
    {
        final boolean isEmpty = SlotWord.isEmpty(word);
        return switch (choice)
        {
            case 0 -> isEmpty && !SlotWord.isEmpty(other) && other != SlotWord.RESERVED;
            case 1 -> isEmpty && SlotWord.isEmpty(other) && slot % 2 == side;
            case 2 -> isEmpty;
            default -> SlotWord.isTentative(word);
        };
    }

    /** Most slots of a bucket of both groups that may be taken in the end. */
    private static int limit(final long[] old, final int bucket)
    {
        if (bucket != OVERFLOW)
        {
            return Math.max(PER_BUCKET, committed(old, bucket));
        }
        int limit = PER_BUCKET;
        for (int main = 0; main < BUCKETS; main++)
        {
            limit -= main == OVERFLOW ? 0 : limit(old, main) - PER_BUCKET;
        }
        return limit;
    }

    private static int open(final long[] old, final int bucket)
    {
        return count(old, bucket, false);
    }

    private static int committed(final long[] old, final int bucket)
    {
        return count(old, bucket, true);
    }

    private static int count(final long[] old, final int bucket, final boolean committedOnly)
    {
        int count = 0;
        for (int slot = bucket * PER_BUCKET; slot < (bucket + 1) * PER_BUCKET; slot++)
        {
            for (int side = 0; side < 2; side++)
            {
                final long word = old[side * SLOTS + slot];
                count += committedOnly ? SlotWord.namesBlock(word) ? 1 : 0 : word != SlotWord.RESERVED ? 1 : 0;
            }
        }
        return count;
    }
}
