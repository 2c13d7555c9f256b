package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.moving.MergeUnit;

/** Requests of an operation that completes a group of subtables that are merged. Owner thread of the engine only. */
final class UnitRequests implements MergeUnit.Requests
{
    private final Batch batch;
    private Operation op;

    UnitRequests(final Batch batch)
    {
        this.batch = batch;
    }

    /** Those of a new batch. */
    UnitRequests begin(final Operation operation)
    {
        op = operation;
        op.claim.victimCount = 0;
        return this;
    }

    /** Those of a batch that is answered. */
    UnitRequests of(final Operation operation)
    {
        op = operation;
        return this;
    }

    @Override
    public boolean hasRoom()
    {
        return op.claim.victimCount < Scratch.MAX_SWAPS && op.request.link.port.space() > 0;
    }

    @Override
    public void read(final int at, final int lengthBytes, final long offset)
    {
        batch.read(at, lengthBytes, offset);
    }

    @Override
    public void swap(final int item, final long offset, final long expected, final long desired)
    {
        batch.swap(op.claim.victimCount, offset, expected, desired);
        op.claim.victims[op.claim.victimCount++] = item;
    }

    @Override
    public int posted()
    {
        return op.claim.victimCount;
    }

    @Override
    public int item(final int number)
    {
        return (int)op.claim.victims[number];
    }

    @Override
    public long result(final int number)
    {
        return op.swapResult(number);
    }

    @Override
    public long word(final int at)
    {
        return op.scratch.word(at);
    }

    @Override
    public void word(final int at, final long word)
    {
        op.scratch.word(at, word);
    }
}
