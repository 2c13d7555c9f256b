package io.verbena.table;

import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import org.agrona.collections.LongArrayQueue;

/**
 * Blocks of one memory node: slabs cut from leased chunks, first-in-first-out free lists by size class, and the
 * quarantine of retired blocks. Whoever removes a committed word owns its block from then on, whoever allocated it.
 * Memory once leased stays with the engine. Single owner thread.
 */
public final class BlockAllocator
{
    /** No block. */
    static final long NONE = 0;
    private static final int SLAB_BYTES = 16 * 1024;
    private static final int LOW_WATER_BYTES = 2 * SizeClasses.MAX_BLOCK_BYTES;

    private final EpochTracker epochs;
    private final long maxQuarantineBytes;
    private final boolean quarantines;
    private final LongArrayQueue[] free = new LongArrayQueue[SizeClasses.COUNT];
    private final long[] slabNext = new long[SizeClasses.COUNT];
    private final long[] slabEnd = new long[SizeClasses.COUNT];
    private final LongArrayQueue retiredWords = new LongArrayQueue(1024, Long.MIN_VALUE);
    private final LongArrayQueue retiredEpochs = new LongArrayQueue(1024, Long.MIN_VALUE);
    private final LongArrayQueue regions = new LongArrayQueue(Long.MIN_VALUE);
    private long regionBytes;
    private long largestChunkBytes;
    private long leasedBytes;
    private long quarantinedBytes;
    private long freeBytes;
    private long blocksInUse;
    private long refusals;
    private boolean requested;
    private boolean refusedLately;

    BlockAllocator(final EpochTracker epochs, final long maxQuarantineBytes, final boolean quarantines)
    {
        this.epochs = epochs;
        this.maxQuarantineBytes = maxQuarantineBytes;
        this.quarantines = quarantines;
        for (int i = 0; i < free.length; i++)
        {
            free[i] = new LongArrayQueue(Long.MIN_VALUE);
        }
    }

    /** @return bytes of all chunks leased so far. */
    public long leasedBytes()
    {
        return leasedBytes;
    }

    /** @return bytes of retired blocks that wait for the epoch. */
    public long quarantinedBytes()
    {
        return quarantinedBytes;
    }

    /** @return bytes of blocks that can be used at once, without those of chunks not cut yet. */
    public long freeBytes()
    {
        return freeBytes;
    }

    /** @return bytes of chunks and slabs that were not cut into blocks yet. */
    public long uncutBytes()
    {
        long bytes = regionBytes;
        for (int i = 0; i < slabEnd.length; i++)
        {
            bytes += slabEnd[i] - slabNext[i];
        }
        return bytes;
    }

    /** @return blocks handed out, less those that came back: those retired elsewhere count against this figure. */
    public long blocksInUse()
    {
        return blocksInUse;
    }

    /** @return how often a lease was refused. */
    public long refusals()
    {
        return refusals;
    }

    /** @return offset of a block of this class, or {@link #NONE} when there is none now. */
    long allocate(final int sizeClass)
    {
        if (quarantinedBytes > maxQuarantineBytes)
        {
            return NONE;
        }
        final int length = SizeClasses.lengthBytes(sizeClass);
        final long offset;
        if (!free[sizeClass].isEmpty())
        {
            offset = free[sizeClass].pollLong();
            freeBytes -= length;
        }
        else if (slabEnd[sizeClass] - slabNext[sizeClass] >= length || cutSlab(sizeClass, length))
        {
            offset = slabNext[sizeClass];
            slabNext[sizeClass] += length;
        }
        else
        {
            return NONE;
        }
        blocksInUse++;
        return offset;
    }

    /** Takes back a block that was never published. */
    void free(final long offset, final int sizeClass)
    {
        blocksInUse--;
        addFree(offset, sizeClass);
    }

    /** Takes the block of a committed word that this engine removed: usable again when no one can hold the word. */
    void retire(final long word)
    {
        final int sizeClass = SlotWord.sizeClass(word);
        blocksInUse--;
        if (!quarantines)
        {
            addFree(SlotWord.blockOffset(word), sizeClass);
            return;
        }
        retiredWords.addLong(word);
        retiredEpochs.addLong(epochs.epoch());
        quarantinedBytes += SizeClasses.lengthBytes(sizeClass);
    }

    /** Epochs of the queue ascend, so the first that must wait ends the walk. */
    private void releaseQuarantine()
    {
        while (!retiredEpochs.isEmpty() && epochs.isReusable(retiredEpochs.peekLong()))
        {
            retiredEpochs.pollLong();
            final long word = retiredWords.pollLong();
            final int sizeClass = SlotWord.sizeClass(word);
            quarantinedBytes -= SizeClasses.lengthBytes(sizeClass);
            addFree(SlotWord.blockOffset(word), sizeClass);
        }
    }

    /** @return whether a chunk should be asked for now; says so once until it is answered. */
    boolean request()
    {
        if (requested)
        {
            return false;
        }
        requested = true;
        return true;
    }

    /** @return whether so little is left that the next chunk should be asked for before it is needed. */
    boolean isLow()
    {
        return !requested && !refusedLately && regionBytes < Math.min(LOW_WATER_BYTES, largestChunkBytes / 4);
    }

    boolean wasRefusedLately()
    {
        return refusedLately;
    }

    void chunkLeased(final long offset, final long lengthBytes)
    {
        requested = false;
        leasedBytes += lengthBytes;
        largestChunkBytes = Math.max(largestChunkBytes, lengthBytes);
        addRegion(offset, offset + lengthBytes);
    }

    /** @return whether chunks are known to be too short for blocks of this class: then no lease will help. */
    boolean isTooLarge(final int sizeClass)
    {
        return largestChunkBytes > 0 && SizeClasses.lengthBytes(sizeClass) > largestChunkBytes;
    }

    void chunkRefused()
    {
        requested = false;
        refusals++;
        refusedLately = true;
    }

    /** An epoch has passed: blocks may have become free, here or at the node that leases chunks. */
    void onEpoch()
    {
        refusedLately = false;
        releaseQuarantine();
    }

    /** Takes a slab from the first stretch that is long enough; what is left of a stretch stays for smaller blocks. */
    private boolean cutSlab(final int sizeClass, final int length)
    {
        for (int i = regions.size(); i > 0; i -= 2)
        {
            final long start = regions.pollLong();
            final long end = regions.pollLong();
            regionBytes -= end - start;
            if (end - start >= length)
            {
                final long slab = Math.max(length, Math.min(SLAB_BYTES, end - start) / length * length);
                slabNext[sizeClass] = start;
                slabEnd[sizeClass] = start + slab;
                addRegion(start + slab, end);
                return true;
            }
            addRegion(start, end);
        }
        return false;
    }

    private void addRegion(final long start, final long end)
    {
        if (end > start)
        {
            regions.addLong(start);
            regions.addLong(end);
            regionBytes += end - start;
        }
    }

    private void addFree(final long offset, final int sizeClass)
    {
        free[sizeClass].addLong(offset);
        freeBytes += SizeClasses.lengthBytes(sizeClass);
    }
}
