package io.verbena.memory.checkpoint;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Where the content of a subtable's slots is while it is split: a frozen word counts as long as the slot that takes its
 * place is not initialised; then that one's chunk is to be looked at from now on. One thread.
 */
final class SplitTrail
{
    private final RegionLoads loads;
    private final IndexChunks chunks;
    private final boolean losesFrozen;
    private final UnsafeBuffer wanted = new UnsafeBuffer(ByteBuffer.allocateDirect(SubtableDescriptor.HEADER_BYTES));
    private long subtable;
    private int tableId;
    private int suffix;
    private int depth;
    private int groupCount;
    private long hashSeed;
    private boolean isLeft;

    /** @param losesFrozen for mutation checks only. */
    SplitTrail(final RegionLoads loads, final IndexChunks chunks, final boolean losesFrozen)
    {
        this.loads = loads;
        this.chunks = chunks;
        this.losesFrozen = losesFrozen;
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
        isLeft = SplitLink.isComplete(SubtableDescriptor.split(line, 0));
    }

    /** Whether its split was complete before it was looked at: nothing counts there. */
    boolean isLeft()
    {
        return isLeft;
    }

    /** Whether a bucket with this header is one of the subtable, split or not. */
    boolean isOfSubtable(final long bucketHeader)
    {
        return bucketHeader == BucketDescriptor.header(tableId, suffix, depth) ||
            SplitLink.isLink(bucketHeader) && bucketHeader == SplitLink.underWay(split());
    }

    private long split()
    {
        return loads.word(subtable + SubtableDescriptor.SPLIT_OFFSET);
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
        if (!SlotWord.isFrozen(word) || !SlotWord.namesBlock(word) || losesFrozen)
        {
            return SlotWord.EMPTY;
        }
        final int side = SlotWord.side(word, depth);
        final long child = SplitLink.offset(split(), side);
        if (!chunks.isChunk(child) || !isChild(child, side))
        {
            // What is split here is none any more; the chunk shows that by another lease or header.
            return SlotWord.EMPTY;
        }
        final long childWord = loads.word(child + slot - subtable);
        if (childWord == SlotWord.UNINITIALISED &&
            loads.word(child + SubtableDescriptor.PREDECESSOR_OFFSET) == subtable)
        {
            return SlotWord.withKind(word, SlotWord.KIND_COMMITTED);
        }
        chunks.want(child);
        return SlotWord.EMPTY;
    }

    /** The first two words of its header say which subtable it is; they are written once. */
    private boolean isChild(final long child, final int side)
    {
        SubtableDescriptor.write(
            wanted, 0, tableId, suffix | side << depth, depth + 1, groupCount, hashSeed, subtable);
        return loads.word(child) == wanted.getLong(0, LITTLE_ENDIAN) &&
            loads.word(child + Long.BYTES) == wanted.getLong(Long.BYTES, LITTLE_ENDIAN);
    }
}
