package io.verbena.memory.checkpoint;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergePlacement;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Where the content of a subtable's slots is while it is split or merged: a frozen word counts as long as the slot that
 * takes its place is not initialised; then that one's chunk is to be looked at from now on. One thread.
 */
final class SplitTrail
{
    private final RegionLoads loads;
    private final IndexChunks chunks;
    private final UnsafeBuffer wanted = new UnsafeBuffer(ByteBuffer.allocateDirect(SubtableDescriptor.HEADER_BYTES));
    private long subtable;
    private int tableId;
    private int suffix;
    private int depth;
    private int groupCount;
    private long hashSeed;
    private boolean isLeft;
    private final long[] old = new long[2 * MergePlacement.SLOTS];

    SplitTrail(final RegionLoads loads, final IndexChunks chunks)
    {
        this.loads = loads;
        this.chunks = chunks;
    }

    /** Begins with a subtable: where it lies, and its header line. */
    void begin(final long offset, final DirectBuffer line)
    {
        subtable = offset;
        tableId = SubtableDescriptor.tableId(line, 0);
        suffix = SubtableDescriptor.suffix(line, 0);
        depth = SubtableDescriptor.depth(line, 0);
        groupCount = SubtableDescriptor.groupCount(line, 0);
        hashSeed = SubtableDescriptor.hashSeed(line, 0);
        final long link = SubtableDescriptor.split(line, 0);
        isLeft = MergeLink.isLink(link) ? isMerged(link) && predecessor(MergeLink.merged(link)) == 0 :
            SplitLink.isComplete(link);
    }

    /** Whether its split or merge was complete before it was looked at: nothing counts there. */
    boolean isLeft()
    {
        return isLeft;
    }

    /** Whether a bucket with this header is one of the subtable, split or not. */
    boolean isOfSubtable(final long bucketHeader)
    {
        return bucketHeader == BucketDescriptor.header(tableId, suffix, depth) ||
            SplitLink.isLink(bucketHeader) && bucketHeader == SplitLink.underWay(split()) ||
            MergeLink.isLink(bucketHeader) && bucketHeader == split();
    }

    private long split()
    {
        return MergeLink.linkOf(loads.word(subtable + SubtableDescriptor.SPLIT_OFFSET));
    }

    /** Whether the record of a word counts where a split or merge moves it. */
    private static boolean isMoved(final long word)
    {
        return SlotWord.isFrozen(word) && SlotWord.namesBlock(word);
    }

    /**
     * What counts of a slot.
     *
     * @param slot its offset in the region.
     * @param word it holds.
     * @return the committed word whose record is the content of the slot; 0 when it has none, or that is elsewhere.
     */
    long counting(final long slot, final long word)
    {
        if (SlotWord.isCommitted(word))
        {
            return word;
        }
        if (!isMoved(word))
        {
            return SlotWord.EMPTY;
        }
        final long link = split();
        if (MergeLink.isLink(link))
        {
            return countingMerged(slot, word, link);
        }
        final int side = SlotWord.side(word, depth);
        final long child = SplitLink.offset(link, side);
        if (!chunks.isChunk(child) || !isChild(child, side))
        {
            // What is split here is none any more; the chunk shows that by another lease or header.
            return SlotWord.EMPTY;
        }
        final long childWord = loads.word(child + slot - subtable);
        if (childWord == SlotWord.UNINITIALISED && predecessor(child) == subtable)
        {
            return SlotWord.withKind(word, SlotWord.KIND_COMMITTED);
        }
        chunks.want(child);
        return SlotWord.EMPTY;
    }

    /**
     * Of two with one slot one gets another slot of the group, so that a word counts until that one is initialised.
     * Nothing is, before all of both groups are frozen; from then on they say where each goes, and stay as they are
     * until the merge is complete: which is looked at last.
     */
    private long countingMerged(final long slot, final long word, final long link)
    {
        if (!isMerged(link))
        {
            return SlotWord.EMPTY;
        }
        final long merged = MergeLink.merged(link);
        final long inSubtable = slot - subtable - SubtableDescriptor.GROUPS_OFFSET;
        final long group = inSubtable / BucketDescriptor.GROUP_BYTES * BucketDescriptor.GROUP_BYTES +
            SubtableDescriptor.GROUPS_OFFSET;
        final boolean isFrozen = loadGroups(first(link) + group, second(link) + group);
        final int target = isFrozen ? MergePlacement.target(old,
            side() * MergePlacement.SLOTS + slotAt(slot - subtable - group)) : -1;
        final boolean isLeftToMove =
            target < 0 || loads.word(merged + group + placeOf(target)) == SlotWord.UNINITIALISED;
        if (isLeftToMove && predecessor(merged) == first(link))
        {
            return SlotWord.withKind(word, SlotWord.KIND_COMMITTED);
        }
        chunks.want(merged);
        return SlotWord.EMPTY;
    }

    private int side()
    {
        return suffix >>> depth - 1;
    }

    private long first(final long link)
    {
        return side() == 0 ? subtable : MergeLink.sibling(link);
    }

    private long second(final long link)
    {
        return side() == 0 ? MergeLink.sibling(link) : subtable;
    }

    private boolean loadGroups(final long group0, final long group1)
    {
        boolean isFrozen = true;
        for (int i = 0; i < old.length; i++)
        {
            old[i] = loads.word((i < MergePlacement.SLOTS ? group0 : group1) + placeOf(i % MergePlacement.SLOTS));
            isFrozen &= SlotWord.isFrozen(old[i]);
        }
        return isFrozen;
    }

    /** Where a slot of a group is, in bytes. */
    private static int placeOf(final int slot)
    {
        return slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    private static int slotAt(final long place)
    {
        return (int)(place / BucketDescriptor.BUCKET_BYTES * BucketDescriptor.SLOTS_PER_BUCKET +
            (place % BucketDescriptor.BUCKET_BYTES - BucketDescriptor.SLOTS_OFFSET) / BucketDescriptor.SLOT_BYTES);
    }

    private long predecessor(final long of)
    {
        return loads.word(of + SubtableDescriptor.PREDECESSOR_OFFSET);
    }

    /** Whether the one that a link leads to, decided or proposed, is that of this one and its sibling. */
    private boolean isMerged(final long link)
    {
        final long merged = MergeLink.merged(link);
        if (depth == 0 || !chunks.isChunk(merged) || !chunks.isChunk(MergeLink.sibling(link)))
        {
            return false;
        }
        return isHeader(merged, suffix & (1 << depth - 1) - 1, depth - 1) &&
            loads.word(merged + SubtableDescriptor.SECOND_PREDECESSOR_OFFSET) == second(link);
    }

    private boolean isChild(final long child, final int side)
    {
        return isHeader(child, suffix | side << depth, depth + 1);
    }

    /** The first two words of a header say which subtable it is; they are written once. */
    private boolean isHeader(final long offset, final int ofSuffix, final int ofDepth)
    {
        SubtableDescriptor.write(wanted, 0, tableId, ofSuffix, ofDepth, groupCount, hashSeed, 0);
        return loads.word(offset) == wanted.getLong(0, LITTLE_ENDIAN) &&
            loads.word(offset + Long.BYTES) == wanted.getLong(Long.BYTES, LITTLE_ENDIAN);
    }
}
