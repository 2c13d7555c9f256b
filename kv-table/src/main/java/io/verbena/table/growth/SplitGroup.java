package io.verbena.table.growth;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.Freezing;
import io.verbena.table.moving.MoveRequests;
import io.verbena.table.moving.SlotMove;

/**
 * One group of a subtable that is split: reads it, puts the link into its bucket headers and freezes its slots, then
 * initialises the slots of both new subtables. Owner thread of the engine only.
 */
public final class SplitGroup implements Freezing.Buckets
{
    private enum Step
    {
        READ, FREEZE, READ_HASHES, MOVE, DONE
    }

    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    private static final int HASHES_AT = BucketDescriptor.GROUP_BYTES;
    /** The same group of both new subtables, read where somebody else has begun. */
    private static final int NEW_GROUPS_AT = HASHES_AT + SLOTS * Long.BYTES;
    /** What it needs of the memory of its requests, in whole lines. */
    static final int MEMORY_BYTES = (NEW_GROUPS_AT + 2 * BucketDescriptor.GROUP_BYTES + 63) / 64 * 64;

    private final MoveRequests requests;
    private final int memoryAt;
    private final int tableId;
    private Step step = Step.DONE;
    private long oldOffset;
    private long oldHeader;
    private int newDepth;
    private long link;
    private boolean isLinkOurs;
    private int group;
    private int done;
    private int doneBefore;
    private String failure;

    /** @param memoryAt where its part of the memory of the requests begins. */
    SplitGroup(final MoveRequests requests, final int memoryAt, final int tableId)
    {
        this.requests = requests;
        this.memoryAt = memoryAt;
        this.tableId = tableId;
    }

    /** @param isFresh whether nobody else can have moved slots of it but operations that needed them. */
    void begin(
        final long offset, final int suffix, final int depth, final long splitLink, final boolean isFresh,
        final int index)
    {
        oldOffset = offset;
        oldHeader = BucketDescriptor.header(tableId, suffix, depth);
        newDepth = depth + 1;
        link = splitLink;
        isLinkOurs = isFresh;
        group = index;
        done = 0;
        failure = null;
        step = Step.READ;
    }

    /** @return which one of the subtable. */
    int index()
    {
        return group;
    }

    boolean isDone()
    {
        return step == Step.DONE;
    }

    /** @return why it cannot go on, or null. */
    String failure()
    {
        return failure;
    }

    /** @return records in its slots. */
    int records()
    {
        int records = 0;
        for (int slot = 0; slot < SLOTS; slot++)
        {
            records += SlotWord.namesBlock(oldWord(slot)) ? 1 : 0;
        }
        return records;
    }

    void stage()
    {
        doneBefore = done;
        switch (step)
        {
            case READ -> stageRead();
            case FREEZE -> Freezing.stage(requests, this);
            case READ_HASHES -> stageReadHashes();
            case MOVE -> stageMove();
            default -> throw new IllegalStateException("nothing to do: " + this);
        }
    }

    /** What was staged was not posted. */
    void unstage()
    {
        done = doneBefore;
    }

    void onComplete()
    {
        switch (step)
        {
            case READ -> onRead();
            case FREEZE ->
            {
                Freezing.onComplete(requests, this);
                freezeOrMove();
            }
            case READ_HASHES -> onReadHashes();
            case MOVE -> step = nextMove() < 2 * SLOTS ? Step.MOVE : Step.DONE;
            default -> throw new IllegalStateException("nothing was posted: " + this);
        }
    }

    private void stageRead()
    {
        requests.read(memoryAt, BucketDescriptor.GROUP_BYTES, SubtableDescriptor.groupOffset(oldOffset, group));
        for (int side = 0; side < 2 && !isLinkOurs; side++)
        {
            requests.read(newGroupAt(side), BucketDescriptor.GROUP_BYTES,
                SubtableDescriptor.groupOffset(SplitLink.offset(link, side), group));
        }
    }

    /** Whether a slot may have to be moved; what others did since the group was read costs a lost swap only. */
    private boolean isPending(final int slot, final int side)
    {
        return isLinkOurs ||
            requests.word(newGroupAt(side) + BucketDescriptor.slotPosition(slot)) == SlotWord.UNINITIALISED;
    }

    private void onRead()
    {
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            final long header = requests.word(at(bucket) + BucketDescriptor.HEADER_OFFSET);
            if (header != link && header != oldHeader)
            {
                failure = "bucket of another subtable: group=" + group + " bucket=" + bucket;
                return;
            }
        }
        freezeOrMove();
    }

    private void freezeOrMove()
    {
        boolean isFrozen = true;
        for (int slot = 0; slot < SLOTS; slot++)
        {
            final long word = oldWord(slot);
            if (isMissing(word))
            {
                failure = "a slot of the subtable that is split is not initialised: group=" + group + " slot=" + slot;
                return;
            }
            isFrozen &= SlotMove.isFrozen(word);
        }
        done = 0;
        if (!isFrozen)
        {
            step = Step.FREEZE;
        }
        else if (nextMove() == 2 * SLOTS)
        {
            step = Step.DONE;
        }
        else
        {
            step = nextHash() < SLOTS ? Step.READ_HASHES : Step.MOVE;
        }
    }

    private static boolean isMissing(final long word)
    {
        return word == SlotWord.UNINITIALISED;
    }

    @Override
    public int count()
    {
        return BucketDescriptor.BUCKETS_PER_GROUP;
    }

    @Override
    public int at(final int bucket)
    {
        return memoryAt + bucket * BucketDescriptor.BUCKET_BYTES;
    }

    @Override
    public long offset(final int bucket)
    {
        return SubtableDescriptor.groupOffset(oldOffset, group) + (long)bucket * BucketDescriptor.BUCKET_BYTES;
    }

    @Override
    public long link(final int bucket)
    {
        return link;
    }

    private boolean renews()
    {
        return SlotWord.beginsWindow(newDepth);
    }

    /** @return the next slot from {@link #done} on whose hash is needed, or all slots. */
    private int nextHash()
    {
        int slot = done;
        while (slot < SLOTS && !(renews() && SlotWord.namesBlock(oldWord(slot))))
        {
            slot++;
        }
        return slot;
    }

    private void stageReadHashes()
    {
        for (int slot = nextHash(); slot < SLOTS && requests.hasRoom(); slot = nextHash())
        {
            requests.read(hashAt(slot) + SlotMove.DIRECTORY_BITS_AT, Long.BYTES - SlotMove.DIRECTORY_BITS_AT,
                SlotWord.blockOffset(oldWord(slot)) + BlockDescriptor.KEY_HASH_OFFSET + SlotMove.DIRECTORY_BITS_AT);
            done = slot + 1;
        }
    }

    private void onReadHashes()
    {
        if (nextHash() == SLOTS)
        {
            done = 0;
            step = Step.MOVE;
        }
    }

    /** Both sides of a slot, slot after slot. */
    private void stageMove()
    {
        for (; done < 2 * SLOTS && requests.hasRoom(); done++)
        {
            final int slot = done / 2;
            final int side = done % 2;
            if (isPending(slot, side))
            {
                final int window = renews() ?
                    KeyHash.window(requests.word(hashAt(slot)), newDepth) : 0;
                requests.swap(slot, slotOffset(SplitLink.offset(link, side), slot), SlotWord.UNINITIALISED,
                    SlotMove.moved(oldWord(slot), newDepth, side, renews(), window));
            }
        }
    }

    private int nextMove()
    {
        int next = done;
        while (next < 2 * SLOTS && !isPending(next / 2, next % 2))
        {
            next++;
        }
        return next;
    }

    private long slotOffset(final long subtable, final int slot)
    {
        return SubtableDescriptor.groupOffset(subtable, group) + BucketDescriptor.slotPosition(slot);
    }

    private int wordAt(final int slot)
    {
        return memoryAt + BucketDescriptor.slotPosition(slot);
    }

    private int hashAt(final int slot)
    {
        return memoryAt + HASHES_AT + slot * Long.BYTES;
    }

    private int newGroupAt(final int side)
    {
        return memoryAt + NEW_GROUPS_AT + side * BucketDescriptor.GROUP_BYTES;
    }

    private long oldWord(final int slot)
    {
        return requests.word(wordAt(slot));
    }

    @Override
    public String toString()
    {
        return "SplitGroup{" + group + " step=" + step + " done=" + done + '}';
    }
}
