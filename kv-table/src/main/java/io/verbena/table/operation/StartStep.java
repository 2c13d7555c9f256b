package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.ChunkSource;
import io.verbena.table.format.BucketDescriptor;

/** The first step: gets a block where one is needed, then goes by the cached location or without one. */
final class StartStep
{
    /** After so many operations in a row without a current location, the next is taken to have none either. */
    private static final int COLD_STREAK = 4;

    private final OperationRunner runner;
    private final ChunkSource chunkSource;
    private int coldInARow;

    StartStep(final OperationRunner runner, final ChunkSource chunkSource)
    {
        this.runner = runner;
        this.chunkSource = chunkSource;
    }

    /**
     * Brings near what says where a key is; and its buckets too, where that was not known of the keys of late. Close
     * together: the processor looks ahead from one miss to the next only if little is between.
     */
    void preload(final Operation op)
    {
        op.location.touched = runner.cache.touch(op.request.hash.high());
        final OneSidedPort port = op.request.link.port;
        if (coldInARow == COLD_STREAK && port != null)
        {
            op.locate();
            for (int pair = 0; pair < op.location.pairCount; pair++)
            {
                port.preload(op.location.pairOffsets[pair], BucketDescriptor.COMBINED_BYTES);
            }
        }
    }

    void start(final Operation op)
    {
        if (op.request.table.isClosed())
        {
            // It may have waited here for epochs: the memory of the table may be somebody else's.
            runner.end(op, op.repeats ? OperationResult.OUTCOME_UNKNOWN : OperationResult.TABLE_CHANGED);
            return;
        }
        if (op.repeats)
        {
            op.locate();
            runner.repeats.start(op);
            return;
        }
        if (!runner.mayWrite(op))
        {
            return;
        }
        op.beginEpoch = runner.epochs.epoch();
        // An append knows only from the value there is which block it needs.
        final boolean needsBlock =
            OperationKind.storesValue(op.request.kind) &&
            (op.request.kind != OperationKind.APPEND || op.block.isNeeded);
        if (needsBlock && op.block.offset == BlockAllocator.NONE)
        {
            if (!takeBlock(op))
            {
                awaitMemory(op, op.request.link.allocator);
                return;
            }
            op.block.wantsMemory = false;
        }
        final long entry = runner.cache.find(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId);
        // The buckets are looked for before they are read. A cached location needs none of them.
        op.location.locateFingerprint(op.request.hash);
        if (entry == LocationCache.NONE)
        {
            startCold(op);
        }
        else if (!runner.epochs.isCacheTagCurrent(runner.cache.tag(entry)))
        {
            startExpired(op, entry);
        }
        else if (runner.cache.isWriteHot(entry))
        {
            runner.counters.cacheBypasses++;
            op.target.bypassedWord = runner.cache.word(entry);
            op.target.offset = runner.cache.slotOffset(entry);
            runner.go(op, Step.SLOT_READ);
        }
        else
        {
            runner.counters.cacheHits++;
            op.target.offset = runner.cache.slotOffset(entry);
            op.target.word = runner.cache.word(entry);
            op.target.version = runner.cache.version(entry);
            op.target.cacheEntry = entry;
            startCached(op, entry);
        }
    }

    private void startCached(final Operation op, final long entry)
    {
        coldInARow = 0;
        if (OperationKind.isByVersion(op.request.kind) && op.target.version != op.request.expectedVersion)
        {
            // A mismatch is answered from a look, never from the cache.
            startCold(op);
            return;
        }
        op.target.isCached = true;
        final boolean changes = switch (op.request.kind)
        {
            case OperationKind.GET, OperationKind.EXISTS, OperationKind.PUT_IF_ABSENT, OperationKind.APPEND -> false;
            // An overflow is answered from a read, never from the cache.
            case OperationKind.INCREMENT -> runner.cache.hasCounter(entry) &&
                runner.computedValues().addToCached(op, runner.cache.counter(entry));
            default -> true;
        };
        if (changes && OperationKind.storesValue(op.request.kind))
        {
            runner.records.seal(op, op.target.version, op.target.word);
        }
        runner.go(op, changes ? Step.SWAP : Step.CACHED_READ);
    }

    /** What was known some epochs ago proves nothing, but mostly leads there, unless its subtable was split since. */
    private void startExpired(final Operation op, final long entry)
    {
        if (runner.cache.isWriteHot(entry) || !runner.epochs.isHint(runner.cache.tag(entry)) ||
            !op.request.isInPresentSubtable(runner.cache.slotOffset(entry)))
        {
            startCold(op);
            return;
        }
        runner.counters.cacheHints++;
        op.locate();
        op.target.offset = runner.cache.slotOffset(entry);
        op.target.word = runner.cache.word(entry);
        runner.go(op, Step.HINTED_READ);
    }

    private void startCold(final Operation op)
    {
        coldInARow = Math.min(COLD_STREAK, coldInARow + 1);
        runner.go(op, Step.LOOK);
    }

    /** Sees to it that the operation has a block of the class that its record needs. @return false if there is none. */
    boolean fitBlock(final Operation op)
    {
        final int needed = ComputedValues.neededClass(op);
        if (op.block.sizeClass != needed)
        {
            giveBack(op);
        }
        op.block.sizeClass = needed;
        return op.block.offset != BlockAllocator.NONE || takeBlock(op);
    }

    private boolean takeBlock(final Operation op)
    {
        final BlockAllocator allocator = op.request.link.allocator;
        op.block.offset = allocator.allocate(op.block.sizeClass);
        if (op.block.offset == BlockAllocator.NONE)
        {
            return false;
        }
        if (allocator.isLow() && allocator.request())
        {
            chunkSource.requestChunk(op.request.link.memoryNodeId);
        }
        return true;
    }

    /** Gives the block that an operation has taken and not published back, if there is one. */
    static void giveBack(final Operation op)
    {
        if (op.block.offset != BlockAllocator.NONE)
        {
            op.request.link.allocator.free(op.block.offset, op.block.sizeClass);
            op.block.offset = BlockAllocator.NONE;
            op.block.isWritten = false;
        }
    }

    /**
     * Begins again, as an operation that has not begun: it keeps neither what it read nor a block. In the first step an
     * operation does not delay epochs, so that the block's chunk may be reclaimed while it waits.
     */
    void restart(final Operation op)
    {
        giveBack(op);
        op.forget();
        runner.go(op, Step.START);
    }

    private void awaitMemory(final Operation op, final BlockAllocator allocator)
    {
        if (allocator.isSuspended() && op.request.link.isLost())
        {
            runner.end(op, OperationResult.NODE_UNAVAILABLE);
            return;
        }
        final boolean isFirst = !op.block.wantsMemory;
        if (isFirst)
        {
            op.block.wantsMemory = true;
            op.block.refusalsSeen = allocator.refusals();
        }
        if (allocator.isTooLarge(op.block.sizeClass) || allocator.refusals() > op.block.refusalsSeen &&
            allocator.quarantinedBytes() == 0 && !chunkSource.mayFindMemory(op.request.link.memoryNodeId))
        {
            runner.end(op, OperationResult.NO_MEMORY);
            return;
        }
        final long leasedBefore = allocator.leasedBytes();
        if ((isFirst || !allocator.wasRefusedLately()) && allocator.request())
        {
            chunkSource.requestChunk(op.request.link.memoryNodeId);
        }
        if (allocator.leasedBytes() > leasedBefore)
        {
            // Answered at once.
            start(op);
        }
        else
        {
            runner.combiner.standAside(op);
            runner.park(op);
        }
    }
}
