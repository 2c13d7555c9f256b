package io.verbena.table.growth;

import io.verbena.table.format.FormatException;
import io.verbena.table.format.SubtableDescriptor;

/** The header line of a subtable as a batch has read it. Owner thread of the engine only. */
final class HeaderLine
{
    private final GrowthBatch batch;
    private final int at;

    /** @param at in the memory of the batch, {@link GrowthBatch#HEADER_AT} or {@link GrowthBatch#SECOND_HEADER_AT}. */
    HeaderLine(final GrowthBatch batch, final int at)
    {
        this.batch = batch;
        this.at = at;
    }

    void stageRead(final long subtableOffset)
    {
        batch.read(at, SubtableDescriptor.HEADER_BYTES, subtableOffset);
    }

    /** @return whether it is that of the subtable meant, whole. */
    boolean isOf(final int tableId, final int suffix, final int depth)
    {
        try
        {
            SubtableDescriptor.check(batch.scratch.buffer, at);
        }
        catch (final FormatException ex)
        {
            return false;
        }
        return SubtableDescriptor.tableId(batch.scratch.buffer, at) == tableId &&
            SubtableDescriptor.suffix(batch.scratch.buffer, at) == suffix &&
            SubtableDescriptor.depth(batch.scratch.buffer, at) == depth;
    }

    long link()
    {
        return SubtableDescriptor.split(batch.scratch.buffer, at);
    }

    /** @return the word in the place of the link, which is that of a proposal taken back where there is no link. */
    long linkWord()
    {
        return SubtableDescriptor.splitWord(batch.scratch.buffer, at);
    }

    long predecessor()
    {
        return SubtableDescriptor.predecessor(batch.scratch.buffer, at);
    }

    long secondPredecessor()
    {
        return SubtableDescriptor.secondPredecessor(batch.scratch.buffer, at);
    }

    /** @return whether it is being made of two others. */
    boolean isBeingMerged()
    {
        return predecessor() != 0 && secondPredecessor() != 0;
    }

    /** @return the epoch in which the merge began that makes it. */
    long epoch(final long present)
    {
        return SubtableDescriptor.epoch(batch.scratch.buffer, at, present);
    }

    @Override
    public String toString()
    {
        return String.format("HeaderLine{link=%016x predecessor=%x}", link(), predecessor());
    }
}
