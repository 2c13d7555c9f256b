package io.verbena.table.scan;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.moving.SlotMove;

/**
 * The groups that one READ of a scan brought: the word of each slot that counts, and in which order their records are
 * met. Records are numbered in that order, by group and then by {@link Cursor#order}: as far as fingerprints tell it
 * before the blocks are read, see {@link #runEnd}. Owner thread only.
 */
public final class ScanGroups
{
    /** Groups in one READ. */
    static final int MOST = 320;
    /** Where the same groups of the subtable are that the words come from, while it is split. */
    static final int OLD_AT = MOST * BucketDescriptor.GROUP_BYTES;
    /** Memory that it needs, from the first byte on. */
    public static final int MEMORY_BYTES = 2 * OLD_AT;
    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;

    private final Cursor cursor;
    private final int[] slots = new int[MOST * SLOTS];
    private final long[] orders = new long[MOST * SLOTS];
    private Scratch scratch;
    private int first;
    private int groups;
    private boolean readsOld;
    private int records;

    ScanGroups(final Cursor cursor)
    {
        this.cursor = cursor;
    }

    void use(final Scratch memory)
    {
        scratch = memory;
    }

    /**
     * Stages the READs of the groups from the cursor's on, within its subtable.
     *
     * @return how many.
     */
    int read(final OneSidedPort port, final int groupCount)
    {
        first = cursor.group();
        groups = Math.min(MOST, groupCount - first);
        records = 0;
        readsOld = cursor.predecessor() != 0 && !cursor.isMerging();
        final long at = (long)first * BucketDescriptor.GROUP_BYTES;
        port.read(scratch.region, 0, groups * BucketDescriptor.GROUP_BYTES, cursor.groupsOffset() + at);
        if (readsOld)
        {
            port.read(
                scratch.region, OLD_AT, groups * BucketDescriptor.GROUP_BYTES, cursor.predecessor() + at);
        }
        return readsOld ? 2 : 1;
    }

    /** @return slots read. */
    int slotCount()
    {
        return groups * SLOTS;
    }

    /** @return the group of a slot read. */
    int group(final int slot)
    {
        return first + slot / SLOTS;
    }

    /** @return where a slot read is, in its memory node's region. */
    long offset(final int slot)
    {
        return cursor.groupsOffset() + (long)first * BucketDescriptor.GROUP_BYTES + BucketDescriptor.slotPosition(slot);
    }

    /**
     * @return the header that the subtable has, if no other was read; else the one that stands in place of it, as links
     *         do, or {@link SplitLink#NONE} if several do.
     */
    long strangeHeader()
    {
        long strange = cursor.bucketHeader();
        final int lengthBytes = groups * BucketDescriptor.GROUP_BYTES;
        for (int bucket = 0; bucket < lengthBytes; bucket += BucketDescriptor.BUCKET_BYTES)
        {
            final long header = scratch.word(bucket + BucketDescriptor.HEADER_OFFSET);
            if (header != cursor.bucketHeader() && header != strange)
            {
                if (strange != cursor.bucketHeader())
                {
                    return SplitLink.NONE;
                }
                strange = header;
            }
        }
        return strange;
    }

    /** @return the word that counts: where a split has not come to yet, what it will bring. */
    long word(final int slot)
    {
        final long word = newWord(slot);
        return word == SlotWord.UNINITIALISED && readsOld ?
            SlotMove.moved(SlotWord.frozen(oldWord(slot)), cursor.depth(), cursor.side(), false, 0) : word;
    }

    long newWord(final int slot)
    {
        return scratch.word(BucketDescriptor.slotPosition(slot));
    }

    long oldWord(final int slot)
    {
        return scratch.word(OLD_AT + BucketDescriptor.slotPosition(slot));
    }

    /** @return whether the words of the subtable that is split into this one were read, too. */
    boolean readsOld()
    {
        return readsOld;
    }

    /** Numbers the records that are not behind the cursor. */
    void order()
    {
        records = 0;
        for (int group = 0; group < groups; group++)
        {
            final int begin = records;
            for (int slot = group * SLOTS; slot < (group + 1) * SLOTS; slot++)
            {
                final long word = word(slot);
                if (SlotWord.isCommitted(word) && !cursor.isBehind(first + group, word))
                {
                    slots[records] = slot;
                    orders[records] = cursor.leastOrder(word);
                    sortIn(begin, records++);
                }
            }
        }
    }

    /** Puts the last one among those before it, behind equal ones: so those are in the order of their slots. */
    private void sortIn(final int begin, final int last)
    {
        final int slot = slots[last];
        final long order = orders[last];
        int at = last;
        for (; at > begin && orders[at - 1] > order; at--)
        {
            slots[at] = slots[at - 1];
            orders[at] = orders[at - 1];
        }
        slots[at] = slot;
        orders[at] = order;
    }

    /** @return how many records were numbered. */
    public int records()
    {
        return records;
    }

    /** @return slot of a record, among those read. */
    int slot(final int record)
    {
        return slots[record];
    }

    /** @return end of those in the group of a record which can have its order, for all that their words say. */
    int runEnd(final int record)
    {
        int end = record + 1;
        while (end < records && orders[end] == orders[record] && isSameGroup(end, record))
        {
            end++;
        }
        return end;
    }

    private boolean isSameGroup(final int record, final int other)
    {
        return slots[record] / SLOTS == slots[other] / SLOTS;
    }

    /**
     * Takes note of the order of a record, which may get another number of its run.
     *
     * @param runBegin first record of the run; those from there to this one are in order.
     * @param record   of which the order is known now.
     * @param keyHash  its hash.
     */
    void settle(final int runBegin, final int record, final long keyHash)
    {
        orders[record] = cursor.order(keyHash);
        sortIn(runBegin, record);
    }

    /** @return whether a record is yet to be met; of a run that is settled. */
    public boolean isAhead(final int record, final long keyHash)
    {
        return cursor.isAhead(group(slots[record]), slots[record] % SLOTS, keyHash);
    }

    /** @return position behind a record; its run is settled. */
    long behind(final int record)
    {
        final int next = record + 1;
        if (next == records)
        {
            return behind();
        }
        final int group = group(slots[next]);
        if (!isSameGroup(next, record))
        {
            return cursor.begin(group);
        }
        return cursor.position(group, orders[next], orders[next] == orders[record] ? slots[next] % SLOTS : 0);
    }

    /** @return position behind all groups read. */
    long behind()
    {
        return cursor.begin(first + groups);
    }

    /** @return position in front of a slot, for walks that count words as they lie. */
    long counted(final int slot)
    {
        return cursor.position(group(slot), 0, slot % SLOTS);
    }
}
