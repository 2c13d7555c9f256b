package io.verbena.table.allocation;

import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import org.agrona.collections.IntHashSet;
import org.agrona.collections.LongArrayQueue;

/**
 * Blocks of one memory node: slabs cut from leased chunks, first-in-first-out free lists by size class, and the
 * quarantine of retired blocks. Whoever removes a committed word owns its block from then on, whoever allocated it,
 * unless the block lies in a <em>closed</em> chunk: what is there belongs to the chunk's reaper, and this lets go of
 * it. No block reaches over the end of a chunk. Single owner thread.
 */
public final class BlockAllocator
{
    /** No block. */
    public static final long NONE = 0;
    private static final int SLAB_BYTES = 16 * 1024;
    /** Retired blocks of so many bytes wait for an epoch that comes by itself, and ask for none. */
    static final long PATIENT_BYTES = 4 << 20;
    private static final int LOW_WATER_BYTES = 2 * SizeClasses.MAX_BLOCK_BYTES;

    private final EpochTracker epochs;
    private final long maxQuarantineBytes;
    private final LongArrayQueue[] free = new LongArrayQueue[SizeClasses.COUNT];
    private final long[] slabNext = new long[SizeClasses.COUNT];
    private final long[] slabEnd = new long[SizeClasses.COUNT];
    private final LongArrayQueue retiredWords = new LongArrayQueue(1024, Long.MIN_VALUE);
    private final LongArrayQueue retiredEpochs = new LongArrayQueue(1024, Long.MIN_VALUE);
    /** Uncut ranges by the largest class that fits them. */
    private final LongArrayQueue[] regions = new LongArrayQueue[SizeClasses.COUNT];
    private final LongArrayQueue waitingRegions = new LongArrayQueue(Long.MIN_VALUE);
    private final IntHashSet openedSinceLook = new IntHashSet();
    private ChunkView view;
    private boolean suspended;
    private long leftBytes;
    private long waitingRegionBytes;
    private long regionBytes;
    private long largestChunkBytes;
    private long leasedBytes;
    private long quarantinedBytes;
    private long freeBytes;
    private long blocksInUse;
    private long refusals;
    private boolean requested;
    private boolean refusedLately;

    public BlockAllocator(final EpochTracker epochs, final long maxQuarantineBytes)
    {
        this.epochs = epochs;
        this.maxQuarantineBytes = maxQuarantineBytes;
        for (int i = 0; i < free.length; i++)
        {
            free[i] = new LongArrayQueue(Long.MIN_VALUE);
            regions[i] = new LongArrayQueue(Long.MIN_VALUE);
        }
    }

    /** @return bytes of all chunks leased so far. */
    public long leasedBytes()
    {
        return leasedBytes;
    }

    /** @return bytes of blocks let go of, because they lie in closed chunks: their reapers find them. */
    public long leftBytes()
    {
        return leftBytes;
    }

    /** @return bytes taken over from closed chunks that wait for the epoch. */
    public long waitingRegionBytes()
    {
        return waitingRegionBytes;
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

    /** @return bytes of all that {@link #forEachHeld} gives; counted on the way, so that to ask costs little. */
    public long heldBytes()
    {
        return freeBytes + uncutBytes() + quarantinedBytes + waitingRegionBytes;
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
    public long allocate(final int sizeClass)
    {
        if (suspended || isAtBound())
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
    public void free(final long offset, final int sizeClass)
    {
        blocksInUse--;
        addFree(offset, sizeClass);
    }

    /** Takes the block of a committed word that this engine removed: usable again when no one can hold the word. */
    public void retire(final long word)
    {
        final int sizeClass = SlotWord.sizeClass(word);
        blocksInUse--;
        if (isClosed(SlotWord.blockOffset(word)))
        {
            leftBytes += SizeClasses.lengthBytes(sizeClass);
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
        while (!waitingRegions.isEmpty() && epochs.isReusable(waitingRegions.peekLong()))
        {
            waitingRegions.pollLong();
            final long start = waitingRegions.pollLong();
            final long end = waitingRegions.pollLong();
            waitingRegionBytes -= end - start;
            addRegion(start, end);
        }
    }

    /**
     * Not at the bound of the quarantine: there no chunk helps, only the epoch, and whoever asked again each time that
     * he got one would take all there are.
     *
     * @return whether a chunk should be asked for now; says so once until it is answered.
     */
    public boolean request()
    {
        if (requested || isAtBound())
        {
            return false;
        }
        requested = true;
        return true;
    }

    /** @return whether as much waits for epochs as may: nothing is given out until one has passed. */
    public boolean isAtBound()
    {
        return quarantinedBytes > maxQuarantineBytes;
    }

    /** @return whether so little is left that the next chunk should be asked for before it is needed. */
    public boolean isLow()
    {
        return !requested && !refusedLately && regionBytes < Math.min(LOW_WATER_BYTES, largestChunkBytes / 4);
    }

    public boolean wasRefusedLately()
    {
        return refusedLately;
    }

    public void chunkLeased(final long offset, final long lengthBytes)
    {
        requested = false;
        leasedBytes += lengthBytes;
        opened(offset, lengthBytes);
        largestChunkBytes = Math.max(largestChunkBytes, lengthBytes);
        addRegion(offset, offset + lengthBytes);
    }

    /** @return whether chunks are known to be too short for blocks of this class: then no lease will help. */
    public boolean isTooLarge(final int sizeClass)
    {
        return largestChunkBytes > 0 && SizeClasses.lengthBytes(sizeClass) > largestChunkBytes;
    }

    public void chunkRefused()
    {
        requested = false;
        refusals++;
        refusedLately = true;
    }

    /**
     * Asked before each heartbeat. An epoch lets nodes forget where keys were, so a little in quarantine is not worth
     * one.
     *
     * @return whether memory is short, or enough of it waits for epochs.
     */
    public boolean wantsEpochs()
    {
        return refusedLately || waitingRegionBytes > 0 ||
            quarantinedBytes > Math.min(PATIENT_BYTES, maxQuarantineBytes / 4);
    }

    /** An epoch has passed: blocks may have become free, here or at the node that leases chunks. */
    public void onEpoch()
    {
        refusedLately = false;
        releaseQuarantine();
    }

    /**
     * Stops or goes on giving out blocks. Stopped while the memory node cannot be reached: which chunks were closed
     * meanwhile is not known, and an operation must not wait for the connection with a block of one of them.
     */
    public void suspend(final boolean isSuspended)
    {
        suspended = isSuspended;
    }

    public boolean isSuspended()
    {
        return suspended;
    }

    /** A look at the chunk headers begins: what is leased or taken over from now on, it may show as it was before. */
    void onLook()
    {
        openedSinceLook.clear();
    }

    /** Takes note of which chunks are closed, and lets go of everything in them. */
    void onView(final ChunkView newView)
    {
        view = newView;
        openedSinceLook.forEach((chunk) -> newView.open(chunk));
        if (!newView.hasClosed())
        {
            return;
        }
        for (int i = 0; i < SizeClasses.COUNT; i++)
        {
            freeBytes -= AllocatorPurge.offsets(free[i], newView, SizeClasses.lengthBytes(i), this::leave);
            regionBytes -= AllocatorPurge.ranges(regions[i], false, newView, this::leave);
            if (slabEnd[i] > slabNext[i] && newView.isClosed(slabNext[i]))
            {
                leftBytes += slabEnd[i] - slabNext[i];
                slabNext[i] = slabEnd[i];
            }
        }
        quarantinedBytes -= AllocatorPurge.words(retiredWords, retiredEpochs, newView, this::leave);
        waitingRegionBytes -= AllocatorPurge.ranges(waitingRegions, true, newView, this::leave);
    }

    private void leave(final long lengthBytes)
    {
        leftBytes += lengthBytes;
    }

    /** Takes a range over that no word names: usable again when no one can hold a word that did. */
    public void takeOver(final long start, final long end)
    {
        opened(start, end - start);
        waitingRegions.addLong(epochs.epoch());
        waitingRegions.addLong(start);
        waitingRegions.addLong(end);
        waitingRegionBytes += end - start;
        largestChunkBytes = Math.max(largestChunkBytes, end - start);
    }

    /** Gives each range that is held here, and not by an operation, to a consumer. */
    public void forEachHeld(final HeldConsumer consumer)
    {
        for (int i = 0; i < SizeClasses.COUNT; i++)
        {
            final int length = SizeClasses.lengthBytes(i);
            free[i].forEachLong((offset) -> consumer.accept(HeldConsumer.FREE, offset, length));
            AllocatorPurge.forEachRange(regions[i], false, HeldConsumer.UNCUT, consumer);
            if (slabEnd[i] > slabNext[i])
            {
                consumer.accept(HeldConsumer.UNCUT, slabNext[i], slabEnd[i] - slabNext[i]);
            }
        }
        retiredWords.forEachLong((word) -> consumer.accept(
            HeldConsumer.QUARANTINED,
            SlotWord.blockOffset(word),
            SizeClasses.lengthBytes(SlotWord.sizeClass(word))));
        AllocatorPurge.forEachRange(waitingRegions, true, HeldConsumer.QUARANTINED, consumer);
    }

    /** What was just leased or adopted is open, whatever an older look said. */
    private void opened(final long offset, final long lengthBytes)
    {
        if (view == null)
        {
            return;
        }
        for (int chunk = view.index(offset); chunk <= view.index(offset + lengthBytes - 1); chunk++)
        {
            view.open(chunk);
            openedSinceLook.add(chunk);
        }
    }

    private boolean isClosed(final long offset)
    {
        return view != null && view.isClosed(offset);
    }

    /** Takes a slab from a range that is long enough; what is left of it stays for other blocks. */
    private boolean cutSlab(final int sizeClass, final int length)
    {
        for (int i = sizeClass; i < SizeClasses.COUNT; i++)
        {
            if (!regions[i].isEmpty())
            {
                final long start = regions[i].pollLong();
                final long end = regions[i].pollLong();
                regionBytes -= end - start;
                final long slab = Math.max(length, Math.min(SLAB_BYTES, end - start) / length * length);
                slabNext[sizeClass] = start;
                slabEnd[sizeClass] = start + slab;
                addRegion(start + slab, end);
                return true;
            }
        }
        return false;
    }

    private void addRegion(final long start, final long end)
    {
        if (end > start)
        {
            final LongArrayQueue region = regions[SizeClasses.floorClass(end - start)];
            region.addLong(start);
            region.addLong(end);
            regionBytes += end - start;
        }
    }

    private void addFree(final long offset, final int sizeClass)
    {
        if (isClosed(offset))
        {
            leftBytes += SizeClasses.lengthBytes(sizeClass);
            return;
        }
        free[sizeClass].addLong(offset);
        freeBytes += SizeClasses.lengthBytes(sizeClass);
    }
}
