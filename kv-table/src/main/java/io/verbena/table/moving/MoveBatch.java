package io.verbena.table.moving;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;

/** Requests that go to a port in one batch, and what all batches have cost. Owner thread of the engine only. */
public class MoveBatch implements MoveRequests
{
    /** Results that there is room for. */
    public static final int MAX_SWAPS = 64;

    public final Scratch scratch;
    protected OneSidedPort port;
    private final int swapsAt;
    private final int[] items = new int[MAX_SWAPS];
    private int posted;
    private long verbs;
    private long payloadBytes;

    /** @param swapsAt of {@link #MAX_SWAPS} words of the scratch memory for results. */
    public MoveBatch(final Scratch scratch, final int swapsAt)
    {
        this.scratch = scratch;
        this.swapsAt = swapsAt;
    }

    /** Begins to stage a batch. */
    public void begin(final OneSidedPort onPort)
    {
        port = onPort;
        posted = 0;
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
        count(lengthBytes);
    }

    /** Stages a WRITE. */
    public void write(final int at, final int lengthBytes, final long offset)
    {
        port.write(scratch.region, at, lengthBytes, offset);
        count(lengthBytes);
    }

    @Override
    public void swap(final int item, final long offset, final long expected, final long desired)
    {
        SlotRound.propose(port, scratch.region, swapsAt + posted * Long.BYTES, offset, expected, desired);
        countSwap(item);
    }

    @Override
    public void swapLink(final int item, final long offset, final long expected, final long desired)
    {
        SlotRound.proposeLink(port, scratch.region, swapsAt + posted * Long.BYTES, offset, expected, desired);
        countSwap(item);
    }

    private void countSwap(final int item)
    {
        items[posted++] = item;
        count(Long.BYTES);
    }

    private void count(final int bytes)
    {
        verbs++;
        payloadBytes += bytes;
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
        return word(swapsAt + number * Long.BYTES);
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

    /** @return requests staged so far. */
    public long verbs()
    {
        return verbs;
    }

    /** @return bytes that they carry. */
    public long payloadBytes()
    {
        return payloadBytes;
    }
}
