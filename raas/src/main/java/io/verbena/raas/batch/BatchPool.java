package io.verbena.raas.batch;

import io.verbena.raas.limit.RaasLimit;

/**
 * The batches of a context, lent to virtual queue pairs between {@code VirtualQp.begin()} and the end of a batch, so
 * that an idle virtual queue pair has none. A batch is made when more are open at once than ever before, up to the
 * limit. The one given back last is lent first: its requests lie in the processor's caches still. Batches are known by
 * number, because storing a reference may cost a fence of the garbage collector and storing a number does not.
 */
public final class BatchPool
{
    /** Number of no batch. */
    public static final int NONE = -1;

    private final StagedBatch[] batches;
    private final int[] free;
    private final int maxRequests;
    private int madeCount;
    private int freeCount;

    /**
     * @param maxOpen     most batches lent at once.
     * @param maxRequests of a batch.
     */
    public BatchPool(final int maxOpen, final int maxRequests)
    {
        batches = new StagedBatch[maxOpen];
        free = new int[maxOpen];
        this.maxRequests = maxRequests;
    }

    /** Lends an empty batch; {@link #NONE} when all are lent. */
    public int lend()
    {
        if (freeCount > 0)
        {
            return free[--freeCount];
        }
        if (madeCount == batches.length)
        {
            return NONE;
        }
        batches[madeCount] = new StagedBatch(maxRequests);
        return madeCount++;
    }

    public StagedBatch batch(final int number)
    {
        return batches[number];
    }

    /** Empties a batch; it is nobody's from now on. */
    public void giveBack(final int number)
    {
        batches[number].clear();
        free[freeCount++] = number;
    }

    public boolean hasFree()
    {
        return freeCount > 0 || madeCount < batches.length;
    }

    public int lentCount()
    {
        return madeCount - freeCount;
    }

    public RaasLimit limit()
    {
        return new RaasLimit("open batches", lentCount(), batches.length, "RaasConfiguration.maxOpenBatches");
    }

    /** Most requests of a batch. */
    public int maxRequests()
    {
        return maxRequests;
    }
}
