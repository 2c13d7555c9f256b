package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.moving.Freezing;
import io.verbena.table.moving.MoveRequests;

/**
 * The buckets of an operation in the subtable that is split, and the requests by which it moves slots. Owner thread of
 * the engine only.
 */
final class OldBuckets implements MoveRequests, Freezing.Buckets
{
    private static final int ALL = -1;

    private final Batch batch;
    private Operation op;
    /** The slot that is to be frozen, or {@link #ALL} that are not moved yet. */
    private int only;

    OldBuckets(final Batch batch)
    {
        this.batch = batch;
    }

    /** For a new batch. */
    OldBuckets begin(final Operation operation)
    {
        of(operation).op.claim.victimCount = 0;
        return this;
    }

    /** For a new batch that freezes one slot. */
    OldBuckets begin(final Operation operation, final int slot)
    {
        begin(operation).only = slot;
        return this;
    }

    /** For a batch that is answered. */
    OldBuckets of(final Operation operation)
    {
        op = operation;
        only = ALL;
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
        batch.propose(op.claim.victimCount, offset, expected, desired);
        op.claim.victims[op.claim.victimCount++] = item;
    }

    @Override
    public void swapLink(final int item, final long offset, final long expected, final long desired)
    {
        batch.proposeLink(op.claim.victimCount, offset, expected, desired);
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

    @Override
    public int count()
    {
        return 2 * op.location.pairCount;
    }

    @Override
    public boolean counts(final int bucket)
    {
        return only == ALL ? bucket != op.location.skippedBucket :
            bucket == only / BucketDescriptor.SLOTS_PER_BUCKET;
    }

    @Override
    public boolean isNeeded(final int slot)
    {
        return only == ALL ? op.isPending(slot) : slot == only;
    }

    @Override
    public int at(final int bucket)
    {
        return op.base + Scratch.OLD_BUCKETS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES;
    }

    @Override
    public long offset(final int bucket)
    {
        return op.location.oldBucketOffset(bucket);
    }

    @Override
    public long link(final int bucket)
    {
        return op.location.splitLink;
    }
}
