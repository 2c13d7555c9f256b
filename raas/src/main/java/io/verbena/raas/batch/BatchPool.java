package io.verbena.raas.batch;

import io.verbena.raas.limit.RaasLimit;

import java.util.Arrays;

/**
 * The batches of a context, lent to virtual queue pairs between {@code VirtualQp.begin()} and the end of a batch, so
 * that an idle virtual queue pair has none. A batch that was posted may be kept until it has completed, so that it can
 * be posted again. A batch is made when more are in use at once than ever before. The one given back last is lent
 * first: its requests lie in the processor's caches still. Batches are known by number, because storing a reference may
 * cost a fence of the garbage collector and storing a number does not.
 */
public final class BatchPool
{
    /** Number of no batch. */
    public static final int NONE = -1;

    private final int maxOpen;
    private final int maxRequests;
    private StagedBatch[] batches;
    private int[] free;
    private int madeCount;
    private int freeCount;
    private int openCount;

    /**
     * @param maxOpen     most batches lent at once; those kept after they were posted do not count.
     * @param maxRequests of a batch.
     */
    public BatchPool(final int maxOpen, final int maxRequests)
    {
        this.maxOpen = maxOpen;
        this.maxRequests = maxRequests;
        batches = new StagedBatch[maxOpen];
        free = new int[maxOpen];
    }

    /** Lends an empty batch; {@link #NONE} when as many are open as may be. */
    public int lend()
    {
        if (openCount == maxOpen)
        {
            return NONE;
        }
        openCount++;
        return freeCount > 0 ? free[--freeCount] : make();
    }

    private int make()
    {
        if (madeCount == batches.length)
        {
            batches = Arrays.copyOf(batches, 2 * madeCount);
            free = Arrays.copyOf(free, 2 * madeCount);
        }
        batches[madeCount] = new StagedBatch(maxRequests);
        return madeCount++;
    }

    public StagedBatch batch(final int number)
    {
        return batches[number];
    }

    /** An open batch was posted: it is kept, with its requests, until {@link #release}. */
    public void keep(final int number)
    {
        assert batches[number].count() > 0;
        openCount--;
    }

    /** Empties a batch that was kept; it is nobody's from now on. */
    public void release(final int number)
    {
        batches[number].clear();
        free[freeCount++] = number;
    }

    /** Empties an open batch; it is nobody's from now on. */
    public void giveBack(final int number)
    {
        openCount--;
        release(number);
    }

    public boolean hasFree()
    {
        return openCount < maxOpen;
    }

    /** Batches that are open. */
    public int lentCount()
    {
        return openCount;
    }

    /** Batches that were posted and are kept. */
    public int keptCount()
    {
        return madeCount - freeCount - openCount;
    }

    public RaasLimit limit()
    {
        return new RaasLimit("open batches", openCount, maxOpen, "RaasConfiguration.maxOpenBatches");
    }

    /** Most requests of a batch. */
    public int maxRequests()
    {
        return maxRequests;
    }
}
