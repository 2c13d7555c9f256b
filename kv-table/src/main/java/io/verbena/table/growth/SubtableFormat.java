package io.verbena.table.growth;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;

/**
 * Writes a subtable that takes the place of others: the groups, some at a time, and the header line when all of them
 * are there. Owner thread of the engine only.
 */
public final class SubtableFormat
{
    /** Behind one doorbell. Longer ones would keep operations of the same connection waiting. */
    private static final int MOST_WRITES = 8;

    private final OpenTable table;
    private final GrowthBatch batch;
    private long offset;
    /** The next one that is written; and behind the last one of the batch under way. */
    private int group;
    private int groupsStaged;

    SubtableFormat(final OpenTable table, final GrowthBatch batch)
    {
        this.table = table;
        this.batch = batch;
    }

    /** One of two; the slots hold the word given. */
    void beginSplit(final int suffix, final int depth, final long at, final long old)
    {
        begin(suffix, depth, at);
        SubtableDescriptor.write(batch.scratch.buffer, GrowthBatch.HEADER_AT, table.tableId, suffix, depth,
            table.groupCount, table.descriptor().hashSeed(), old);
    }

    /** The one that takes the place of two, every slot uninitialised. */
    void beginMerged(
        final int suffix, final int depth, final long at, final long old0, final long old1, final long epoch)
    {
        begin(suffix, depth, at);
        SubtableDescriptor.write(batch.scratch.buffer, GrowthBatch.HEADER_AT, table.tableId, suffix, depth,
            table.groupCount, table.descriptor().hashSeed(), old0, old1, epoch);
    }

    private void begin(final int suffix, final int depth, final long at)
    {
        final long header = BucketDescriptor.header(table.tableId, suffix, depth);
        for (int line = GrowthBatch.FORMAT_AT; line < GrowthBatch.SCRATCH_BYTES; line += BucketDescriptor.BUCKET_BYTES)
        {
            formatBucket(batch, line, header);
        }
        offset = at;
        group = 0;
    }

    private static void formatBucket(final GrowthBatch batch, final int at, final long header)
    {
        batch.word(at + BucketDescriptor.HEADER_OFFSET, header);
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            batch.word(
                at + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES, SlotWord.UNINITIALISED);
        }
    }

    /** The groups are alike, and all come from the same memory. */
    void stage()
    {
        groupsStaged = group;
        if (group == table.groupCount)
        {
            batch.write(GrowthBatch.HEADER_AT, SubtableDescriptor.HEADER_BYTES, offset);
            groupsStaged++;
        }
        for (int write = 0; write < MOST_WRITES && groupsStaged < table.groupCount; write++)
        {
            final int groups = Math.min(GrowthBatch.GROUPS_PER_WRITE, table.groupCount - groupsStaged);
            batch.write(GrowthBatch.FORMAT_AT, groups * BucketDescriptor.GROUP_BYTES,
                SubtableDescriptor.groupOffset(offset, groupsStaged));
            groupsStaged += groups;
        }
    }

    /** @return whether all is written. */
    boolean onComplete()
    {
        group = groupsStaged;
        return group > table.groupCount;
    }

    @Override
    public String toString()
    {
        return "SubtableFormat{group=" + group + '}';
    }
}
