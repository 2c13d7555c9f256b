package io.verbena.embedded;

import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.table.format.SlotWord;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Loads of a checkpoint, between any two of which the world goes on: whoever writes one-sidedly, writes. */
final class SteppedLoads implements RegionLoads
{
    private static final int LINE_BYTES = 64;
    private static final int WORDS_PER_STOP = 200;
    private static final long LONG_STOP_NS = 40_000;
    private static final long SHORT_STOP_NS = 4_000;

    private final SimWorld world;
    private final RegionLoads loads;
    private final UnsafeBuffer line = new UnsafeBuffer(ByteBuffer.allocateDirect(LINE_BYTES));

    SteppedLoads(final SimWorld world, final MemorySegment region)
    {
        this.world = world;
        loads = new MappedLoads(region);
    }

    @Override
    public long word(final long offset)
    {
        if (world.random().nextInt(WORDS_PER_STOP) == 0)
        {
            world.runFor(world.random().nextLong(LONG_STOP_NS));
        }
        final long word = loads.word(offset);
        if (SlotWord.isCommitted(word))
        {
            stop(2);
        }
        return word;
    }

    @Override
    public void copy(final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        for (int at = 0; at < lengthBytes; at += LINE_BYTES)
        {
            final int length = Math.min(LINE_BYTES, lengthBytes - at);
            loads.copy(offset + at, line, length);
            target.putBytes(at, line, 0, length);
            stop(4);
        }
    }

    private void stop(final int oneIn)
    {
        if (world.random().nextInt(oneIn) == 0)
        {
            world.runFor(world.random().nextLong(SHORT_STOP_NS));
        }
    }
}
