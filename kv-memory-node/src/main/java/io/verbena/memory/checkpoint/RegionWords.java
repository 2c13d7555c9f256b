package io.verbena.memory.checkpoint;

import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** A region that nobody else uses, as words and bytes at their offsets. One thread. */
final class RegionWords
{
    private final MemorySegment region;
    private final UnsafeBuffer memory = new UnsafeBuffer();

    RegionWords(final MemorySegment region)
    {
        this.region = region;
    }

    long get(final long offset)
    {
        return at(offset, Long.BYTES).getLong(0, LITTLE_ENDIAN);
    }

    void put(final long offset, final long word)
    {
        at(offset, Long.BYTES).putLong(0, word, LITTLE_ENDIAN);
    }

    void clear(final long offset, final int lengthBytes)
    {
        at(offset, lengthBytes).setMemory(0, lengthBytes, (byte)0);
    }

    /** The bytes of the region from an offset on, until the next call. */
    UnsafeBuffer at(final long offset, final int lengthBytes)
    {
        memory.wrap(region.asSlice(offset, lengthBytes).address(), lengthBytes);
        return memory;
    }
}
