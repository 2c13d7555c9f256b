package io.verbena.table.scan;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.moving.MergeUnit;

/** The requests of a scan that completes a group of subtables that are merged. Owner thread of the engine only. */
public final class ScanRequests implements MergeUnit.Requests
{
    private static final int MAX_SWAPS = 64;

    private final Scratch scratch;
    private final int swapsAt;
    private final int[] items = new int[MAX_SWAPS];
    private OneSidedPort port;
    private int reads;
    private int posted;

    /** @param swapsAt of 512 bytes for results. */
    ScanRequests(final Scratch scratch, final int swapsAt)
    {
        this.scratch = scratch;
        this.swapsAt = swapsAt;
    }

    /** Those of a new batch. */
    ScanRequests begin(final OneSidedPort onPort)
    {
        port = onPort;
        reads = 0;
        posted = 0;
        return this;
    }

    /** @return how many were staged. */
    int count()
    {
        return reads + posted;
    }

    @Override
    public boolean hasRoom()
    {
        return posted < MAX_SWAPS && port.space() > 0;
    }

    @Override
    public void read(final int at, final int lengthBytes, final long offset)
    {
        port.read(scratch.region, at, lengthBytes, offset);
        reads++;
    }

    @Override
    public void swap(final int item, final long offset, final long expected, final long desired)
    {
        port.compareSwap(scratch.region, swapsAt + posted * Long.BYTES, offset, expected, desired);
        items[posted++] = item;
    }

    @Override
    public int posted()
    {
        return posted;
    }

    @Override
    public int item(final int number)
    {
        return items[number];
    }

    @Override
    public long result(final int number)
    {
        return scratch.word(swapsAt + number * Long.BYTES);
    }

    @Override
    public long word(final int at)
    {
        return scratch.word(at);
    }

    @Override
    public void word(final int at, final long word)
    {
        scratch.word(at, word);
    }
}
