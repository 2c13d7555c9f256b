package io.verbena.embedded;

import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.table.format.SlotWord;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Loads of a checkpoint, between any two of which the world goes on: whoever writes one-sidedly, writes. */
final class SteppedLoads implements RegionLoads
{
    private static final int LINE_BYTES = 64;
    private static final int WORDS_PER_STOP = 20;
    private static final long LONG_STOP_NS = 40_000;
    private static final long SHORT_STOP_NS = 4_000;
    /** Long enough for epochs to pass and blocks to be used again. */
    private static final long STALL_NS = 8_000_000;
    private static final long STALL_STEP_NS = 50_000;
    private static final int LINES_PER_STALL = 20;
    private static final int LINES_PER_STALL_OF_MANY = 2_000;

    private final SimWorld world;
    private final RegionLoads loads;
    private final int linesPerStall;
    private final UnsafeBuffer line = new UnsafeBuffer(ByteBuffer.allocateDirect(LINE_BYTES));

    SteppedLoads(final SimWorld world, final MemorySegment region)
    {
        this(world, region, false);
    }

    /** @param hasMany records, most of which never change. */
    SteppedLoads(final SimWorld world, final MemorySegment region, final boolean hasMany)
    {
        linesPerStall = hasMany ? LINES_PER_STALL_OF_MANY : LINES_PER_STALL;
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
            if (lengthBytes > LINE_BYTES && world.random().nextInt(linesPerStall) == 0)
            {
                stallUntilChanged(offset + at, length);
            }
        }
    }

    /** The worst moment to stand still: the rest is of another block. */
    private void stallUntilChanged(final long offset, final int length)
    {
        final byte[] copied = new byte[LINE_BYTES];
        final byte[] now = new byte[LINE_BYTES];
        line.getBytes(0, copied, 0, length);
        for (long stalledNs = 0; stalledNs < STALL_NS; stalledNs += STALL_STEP_NS)
        {
            world.runFor(STALL_STEP_NS);
            loads.copy(offset, line, length);
            line.getBytes(0, now, 0, length);
            if (!Arrays.equals(copied, now))
            {
                return;
            }
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
