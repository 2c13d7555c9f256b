package io.verbena.embedded;

import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.RegionLoads;

import org.agrona.MutableDirectBuffer;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/** Loads of a checkpoint that meets each block while it is being written: the first copy of it is torn. */
final class TornLoads implements RegionLoads
{
    /** The last byte of a block's header, and of a chunk's. */
    private static final int TORN_BYTE = 63;

    private final RegionLoads loads;
    private final Set<Long> copied = new HashSet<>();

    TornLoads(final MemorySegment region)
    {
        loads = new MappedLoads(region);
    }

    @Override
    public long word(final long offset)
    {
        return loads.word(offset);
    }

    @Override
    public void copy(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        loads.copy(offset, target, lengthBytes);
        if (copied.add(offset))
        {
            target.putByte(TORN_BYTE, (byte)~target.getByte(TORN_BYTE));
        }
    }
}
