package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Writes the subtable that takes the place of two, every slot uninitialised: the groups, some at a time, and the header
 * line when all of them are there. Owner thread of the engine only.
 */
final class MergedFormat
{
    private final OpenTable table;
    private final SplitBatch batch;
    private long offset;
    private int group;
    private boolean hasGroups;

    MergedFormat(final OpenTable table, final SplitBatch batch)
    {
        this.table = table;
        this.batch = batch;
    }

    void begin(final int suffix, final int depth, final long at, final long old0, final long old1)
    {
        final long header = BucketDescriptor.header(table.tableId, suffix, depth);
        for (int line = SplitBatch.FORMAT_AT; line < SplitBatch.SCRATCH_BYTES; line += BucketDescriptor.BUCKET_BYTES)
        {
            batch.word(line + BucketDescriptor.HEADER_OFFSET, header);
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                batch.word(
                    line + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES, SlotWord.UNINITIALISED);
            }
        }
        SubtableDescriptor.write(batch.scratch.buffer, SplitBatch.HEADER_AT, table.tableId, suffix, depth,
            table.groupCount, table.descriptor().hashSeed(), old0, old1);
        offset = at;
        group = 0;
        hasGroups = false;
    }

    private int groupsToWrite()
    {
        return Math.min(SplitBatch.GROUPS_PER_WRITE, table.groupCount - group);
    }

    void stage()
    {
        if (hasGroups)
        {
            batch.write(SplitBatch.HEADER_AT, SubtableDescriptor.HEADER_BYTES, offset);
        }
        else
        {
            batch.write(SplitBatch.FORMAT_AT, groupsToWrite() * BucketDescriptor.GROUP_BYTES,
                SplitGroup.groupOffset(offset, group));
        }
    }

    /** @return whether all is written. */
    boolean onComplete()
    {
        final boolean isWritten = hasGroups;
        group += groupsToWrite();
        hasGroups = group == table.groupCount;
        return isWritten;
    }

    @Override
    public String toString()
    {
        return "MergedFormat{group=" + group + " hasGroups=" + hasGroups + '}';
    }
}
