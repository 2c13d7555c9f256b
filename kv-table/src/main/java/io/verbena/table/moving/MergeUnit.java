package io.verbena.table.moving;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

/**
 * One group of two subtables that are merged: puts the links into the bucket headers of both and freezes all their
 * slots, then initialises the slots of the merged group from what was frozen, which decides where each word goes. Used
 * by who merges and by operations that need the group; whoever comes second finds it done. Owner thread of the engine
 * only.
 */
public final class MergeUnit implements Freezing.Buckets
{
    private enum Step
    {
        READ, FREEZE, PLACE, DONE
    }

    /** Bytes of memory that it needs: the group of both old subtables, then that of the new one. */
    public static final int MEMORY_BYTES = 3 * BucketDescriptor.GROUP_BYTES;
    private static final int SLOTS = MergePlacement.SLOTS;
    private static final int BUCKETS = BucketDescriptor.BUCKETS_PER_GROUP;
    private static final int NEW = 2;

    private final int tableId;
    private final long[] offsets = new long[3];
    private final long[] headers = new long[3];
    private final long[] links = new long[2];
    private final long[] old = new long[2 * SLOTS];
    private final long[] placed = new long[SLOTS];
    private Step step = Step.DONE;
    private int newDepth;
    private int suffix;
    private int group;
    private int memoryAt;
    private int done;
    private int staged;
    private String failure;

    public MergeUnit(final int tableId)
    {
        this.tableId = tableId;
    }

    /**
     * Begins a group.
     *
     * @param mergedSuffix of the merged subtable.
     * @param mergedDepth  of it.
     * @param old0         offset of the old subtable with split bit 0.
     * @param old1         offset of the other one.
     * @param merged       offset of the new one.
     * @param index        of the group.
     * @param at           of {@link #MEMORY_BYTES} of memory.
     */
    public void begin(
        final int mergedSuffix,
        final int mergedDepth,
        final long old0,
        final long old1,
        final long merged,
        final int index,
        final int at)
    {
        suffix = mergedSuffix;
        newDepth = mergedDepth;
        group = index;
        memoryAt = at;
        offsets[0] = old0;
        offsets[1] = old1;
        offsets[NEW] = merged;
        links[0] = MergeLink.of(merged, old1);
        links[1] = MergeLink.of(merged, old0);
        for (int side = 0; side < 2; side++)
        {
            headers[side] = BucketDescriptor.header(tableId, suffix | side << newDepth, newDepth + 1);
        }
        headers[NEW] = BucketDescriptor.header(tableId, suffix, newDepth);
        failure = null;
        done = 0;
        step = Step.READ;
    }

    public int tableId()
    {
        return tableId;
    }

    public boolean isDone()
    {
        return step == Step.DONE;
    }

    /** @return why it cannot go on, or null. */
    public String failure()
    {
        return failure;
    }

    public void stage(final MoveRequests requests)
    {
        switch (step)
        {
            case READ -> stageRead(requests);
            case FREEZE -> Freezing.stage(requests, this);
            case PLACE -> stagePlace(requests);
            default -> throw new IllegalStateException("nothing to do: " + this);
        }
    }

    public void onComplete(final MoveRequests requests)
    {
        switch (step)
        {
            case READ -> onRead(requests);
            case FREEZE ->
            {
                Freezing.onComplete(requests, this);
                freezeOrPlace(requests);
            }
            case PLACE -> onPlace(requests);
            default -> throw new IllegalStateException("nothing was posted: " + this);
        }
    }

    private void stageRead(final MoveRequests requests)
    {
        for (int part = 0; part < offsets.length; part++)
        {
            requests.read(memoryAt + part * BucketDescriptor.GROUP_BYTES, BucketDescriptor.GROUP_BYTES,
                SubtableDescriptor.groupOffset(offsets[part], group));
        }
    }

    private void onRead(final MoveRequests requests)
    {
        if (nextPending(requests) == SLOTS || isSuperseded(requests))
        {
            step = Step.DONE;
            return;
        }
        for (int bucket = 0; bucket < offsets.length * BUCKETS; bucket++)
        {
            final int part = bucket / BUCKETS;
            final long header = requests.word(at(bucket) + BucketDescriptor.HEADER_OFFSET);
            if (header != headers[part] && (part == NEW || header != links[part]))
            {
                failure = "bucket of another subtable: group=" + group + " bucket=" + bucket;
                return;
            }
        }
        freezeOrPlace(requests);
    }

    /** The words of a line are read one after the other: it may have been complete, and split, in between. */
    private boolean isSuperseded(final MoveRequests requests)
    {
        boolean is = false;
        for (int bucket = NEW * BUCKETS; bucket < (NEW + 1) * BUCKETS; bucket++)
        {
            final long header = requests.word(at(bucket) + BucketDescriptor.HEADER_OFFSET);
            is |= SplitLink.isLink(header) || MergeLink.isLink(header);
        }
        return is;
    }

    private void freezeOrPlace(final MoveRequests requests)
    {
        for (int slot = 0; slot < 2 * SLOTS; slot++)
        {
            old[slot] = requests.word(wordAt(slot));
            if (isMissing(old[slot]))
            {
                failure = "a slot of a subtable that is merged is not initialised: group=" + group + " slot=" + slot;
                return;
            }
        }
        if (!isFrozen())
        {
            step = Step.FREEZE;
        }
        else if (!MergePlacement.place(old, newDepth, suffix, placed))
        {
            failure = "there is no room for the records of two groups: group=" + group;
        }
        else
        {
            done = 0;
            step = Step.PLACE;
        }
    }

    private static boolean isMissing(final long word)
    {
        return word == SlotWord.UNINITIALISED;
    }

    /** Whether all slots of both groups are. */
    private boolean isFrozen()
    {
        boolean isFrozen = true;
        for (final long word : old)
        {
            isFrozen &= SlotWord.isFrozen(word);
        }
        return isFrozen;
    }

    /** A lost swap was done by somebody else. */
    private void stagePlace(final MoveRequests requests)
    {
        for (staged = done; staged < SLOTS && requests.hasRoom(); staged++)
        {
            if (requests.word(wordAt(NEW * SLOTS + staged)) == SlotWord.UNINITIALISED)
            {
                requests.swap(staged, slotOffset(NEW * SLOTS + staged), SlotWord.UNINITIALISED, placed[staged]);
            }
        }
    }

    private void onPlace(final MoveRequests requests)
    {
        done = staged;
        step = nextPending(requests) < SLOTS ? Step.PLACE : Step.DONE;
    }

    private int nextPending(final MoveRequests requests)
    {
        int next = done;
        while (next < SLOTS && requests.word(wordAt(NEW * SLOTS + next)) != SlotWord.UNINITIALISED)
        {
            next++;
        }
        return next;
    }

    @Override
    public int count()
    {
        return 2 * BUCKETS;
    }

    /** Buckets and slots are numbered through the three groups. */
    @Override
    public int at(final int bucket)
    {
        return memoryAt + bucket * BucketDescriptor.BUCKET_BYTES;
    }

    @Override
    public long offset(final int bucket)
    {
        return SubtableDescriptor.groupOffset(offsets[bucket / BUCKETS], group) +
            (long)(bucket % BUCKETS) * BucketDescriptor.BUCKET_BYTES;
    }

    @Override
    public long link(final int bucket)
    {
        return links[bucket / BUCKETS];
    }

    private int wordAt(final int slot)
    {
        return memoryAt + BucketDescriptor.slotPosition(slot);
    }

    private long slotOffset(final int slot)
    {
        final int part = slot / SLOTS;
        return SubtableDescriptor.groupOffset(offsets[part], group) +
            wordAt(slot) - memoryAt - part * BucketDescriptor.GROUP_BYTES;
    }

    @Override
    public String toString()
    {
        return "MergeUnit{" + group + " step=" + step + " done=" + done + '}';
    }
}
