package io.verbena.memory;

import io.verbena.memory.checkpoint.RegionLoads;
import org.agrona.MutableDirectBuffer;

/**
 * Does something behind each copy of a block.
 *
 * @param loads       from the region.
 * @param from        where such blocks begin.
 * @param blockLength of them.
 * @param change      what is done.
 */
record ChangingLoads(RegionLoads loads, long from, int blockLength, Runnable change) implements RegionLoads
{
    @Override
    public long word(final long offset)
    {
        return loads.word(offset);
    }

    @Override
    public void copy(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        loads.copy(offset, target, lengthBytes);
        if (blockLength == lengthBytes && offset >= from)
        {
            change.run();
        }
    }
}
