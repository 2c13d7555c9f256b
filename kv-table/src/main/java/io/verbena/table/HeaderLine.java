package io.verbena.table;

import io.verbena.table.format.FormatException;
import io.verbena.table.format.SubtableDescriptor;

/** The header line of a subtable as a batch has read it. Owner thread of the engine only. */
final class HeaderLine
{
    private final SplitBatch batch;

    HeaderLine(final SplitBatch batch)
    {
        this.batch = batch;
    }

    void stageRead(final long subtableOffset)
    {
        batch.read(SplitBatch.HEADER_AT, SubtableDescriptor.HEADER_BYTES, subtableOffset);
    }

    /** @return whether it is that of the subtable meant, whole. */
    boolean isOf(final int tableId, final int suffix, final int depth)
    {
        try
        {
            SubtableDescriptor.check(batch.scratch.buffer, SplitBatch.HEADER_AT);
        }
        catch (final FormatException ex)
        {
            return false;
        }
        return SubtableDescriptor.tableId(batch.scratch.buffer, SplitBatch.HEADER_AT) == tableId &&
            SubtableDescriptor.suffix(batch.scratch.buffer, SplitBatch.HEADER_AT) == suffix &&
            SubtableDescriptor.depth(batch.scratch.buffer, SplitBatch.HEADER_AT) == depth;
    }

    long link()
    {
        return SubtableDescriptor.split(batch.scratch.buffer, SplitBatch.HEADER_AT);
    }

    long predecessor()
    {
        return SubtableDescriptor.predecessor(batch.scratch.buffer, SplitBatch.HEADER_AT);
    }

    long secondPredecessor()
    {
        return SubtableDescriptor.secondPredecessor(batch.scratch.buffer, SplitBatch.HEADER_AT);
    }

    @Override
    public String toString()
    {
        return String.format("HeaderLine{link=%016x predecessor=%x}", link(), predecessor());
    }
}
