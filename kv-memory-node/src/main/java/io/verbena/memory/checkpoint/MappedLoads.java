package io.verbena.memory.checkpoint;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Loads from a region that is mapped here. */
public final class MappedLoads implements RegionLoads
{
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(LITTLE_ENDIAN);

    private final MemorySegment region;
    private final UnsafeBuffer source = new UnsafeBuffer();

    /** @param region from its first byte; mapped as long as this is used. */
    public MappedLoads(final MemorySegment region)
    {
        this.region = region;
    }

    @Override
    public long word(final long offset)
    {
        return (long)WORD.varHandle().getVolatile(region, offset);
    }

    @Override
    public void copy(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        source.wrap(region.address() + offset, lengthBytes);
        target.putBytes(0, source, 0, lengthBytes);
    }
}
