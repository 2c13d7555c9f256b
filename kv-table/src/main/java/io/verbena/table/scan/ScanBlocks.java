package io.verbena.table.scan;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;

/**
 * The blocks of records of {@link ScanGroups} that one doorbell of a scan brought. A run of them, see {@link
 * ScanGroups#runEnd}, comes as a whole: only its blocks tell their order. Owner thread only.
 */
public final class ScanBlocks
{
    /** Requests that there must be room for: one for each slot of a group, which can be one run. */
    static final int LEAST_SPACE = BucketDescriptor.SLOTS_PER_GROUP;
    /** Memory that it needs: for a run of the longest ones. */
    static final int MEMORY_BYTES = LEAST_SPACE * SizeClasses.MAX_BLOCK_BYTES;
    private static final int MOST = 64;
    /** No more at a time, but for a run that is longer. */
    private static final int TARGET_BYTES = 4 * SizeClasses.MAX_BLOCK_BYTES;

    private final ScanGroups groups;
    private final int memoryAt;
    private final ExpiryClock expiryClock;
    private final int[] blockAt = new int[ScanGroups.MOST * BucketDescriptor.SLOTS_PER_GROUP];
    private Scratch scratch;
    private int end;

    /** @param memoryAt where {@link #MEMORY_BYTES} are in the scratch. */
    ScanBlocks(final ScanGroups groups, final int memoryAt, final ExpiryClock expiryClock)
    {
        this.expiryClock = expiryClock;
        this.groups = groups;
        this.memoryAt = memoryAt;
    }

    void use(final Scratch memory)
    {
        scratch = memory;
    }

    /**
     * Stages a READ of the block of each record from one on, as many as there is room for, at least its run.
     *
     * @return how many.
     */
    int read(final OneSidedPort port, final int from)
    {
        final int most = from + Math.min(MOST, Math.max(LEAST_SPACE, port.space() / 2));
        int used = 0;
        end = from;
        while (end < groups.records())
        {
            final int runEnd = groups.runEnd(end);
            if (end > from && (runEnd > most || used + bytes(end, runEnd) > TARGET_BYTES))
            {
                break;
            }
            for (; end < runEnd; end++)
            {
                blockAt[groups.slot(end)] = memoryAt + used;
                port.read(scratch.region, memoryAt + used, length(end), SlotWord.blockOffset(word(end)));
                used += length(end);
            }
        }
        return end - from;
    }

    private int bytes(final int begin, final int behind)
    {
        int bytes = 0;
        for (int record = begin; record < behind; record++)
        {
            bytes += length(record);
        }
        return bytes;
    }

    private long word(final int record)
    {
        return groups.word(groups.slot(record));
    }

    /** @return the record behind the last one whose block was read. */
    int end()
    {
        return end;
    }

    /** @return where the block of a record begins in the scratch. */
    int at(final int record)
    {
        return blockAt[groups.slot(record)];
    }

    /** @return bytes of it. */
    int length(final int record)
    {
        return SizeClasses.lengthBytes(SlotWord.sizeClass(word(record)));
    }

    /** @return half of the key's hash that the block has. */
    public long keyHash(final int record)
    {
        return BlockDescriptor.keyHash(scratch.buffer, at(record));
    }

    /** @return whether the deadline of a record has passed. */
    boolean isExpired(final int record)
    {
        return expiryClock.isPast(BlockDescriptor.expiryMs(scratch.buffer, at(record)));
    }

    /** Brings the records of a run into their order; their blocks are valid. */
    void settle(final int begin, final int behind)
    {
        for (int record = begin; record < behind; record++)
        {
            groups.settle(begin, record, keyHash(record));
        }
    }

    /** @return whether the block is what the word published. */
    public boolean isValid(final int record, final int tableId)
    {
        return BlockDescriptor.isValid(scratch.buffer, at(record), length(record), word(record)) &&
            BlockDescriptor.tableId(scratch.buffer, at(record)) == tableId;
    }
}
