package io.verbena.table;

/** The first step: gets a block where one is needed, then goes by the cached location or without one. */
final class Starts
{
    private final OperationRunner runner;
    private final ChunkSource chunkSource;

    Starts(final OperationRunner runner, final ChunkSource chunkSource)
    {
        this.runner = runner;
        this.chunkSource = chunkSource;
    }

    void start(final Operation op)
    {
        final BlockAllocator allocator = op.link.allocator;
        if (!op.wantsMemory || !runner.isDropped(Guard.WAIT_OUTSIDE_EPOCH))
        {
            op.beginEpoch = runner.epochs.epoch();
        }
        if (OperationKind.storesValue(op.kind))
        {
            op.blockOffset = allocator.allocate(op.blockClass);
            if (op.blockOffset == BlockAllocator.NONE)
            {
                awaitMemory(op, allocator);
                return;
            }
            op.wantsMemory = false;
            if (allocator.isLow() && allocator.request())
            {
                chunkSource.requestChunk(op.link.memoryNodeId);
            }
        }
        final int entry = runner.cache.find(op.hash.low(), op.hash.high(), op.table.tableId);
        if (entry == LocationCache.NONE ||
            !runner.epochs.isCacheTagCurrent(runner.cache.tag(entry)) && !runner.isDropped(Guard.CACHE_EPOCH))
        {
            startCold(op);
        }
        else
        {
            runner.counters.cacheHits++;
            op.targetOffset = runner.cache.slotOffset(entry);
            op.targetWord = runner.cache.word(entry);
            op.targetVersion = runner.cache.version(entry);
            startCached(op);
        }
    }

    private void startCached(final Operation op)
    {
        if (OperationKind.isByVersion(op.kind) && op.targetVersion != op.expectedVersion)
        {
            // A mismatch is answered from a look, never from the cache.
            startCold(op);
            return;
        }
        op.targetIsCached = true;
        if (OperationKind.storesValue(op.kind))
        {
            runner.records.seal(op, op.targetVersion);
        }
        final boolean changes = op.kind != OperationKind.GET && op.kind != OperationKind.EXISTS &&
            op.kind != OperationKind.PUT_IF_ABSENT;
        runner.go(op, changes ? Step.SWAP : Step.CACHED_READ);
    }

    private void startCold(final Operation op)
    {
        if (OperationKind.storesValue(op.kind))
        {
            runner.records.seal(op, 0);
        }
        runner.go(op, Step.LOOK);
    }

    private void awaitMemory(final Operation op, final BlockAllocator allocator)
    {
        final boolean isFirst = !op.wantsMemory;
        if (isFirst)
        {
            op.wantsMemory = true;
            op.refusalsSeen = allocator.refusals();
        }
        if (allocator.refusals() > op.refusalsSeen && allocator.quarantinedBytes() == 0 ||
            allocator.isTooLarge(op.blockClass))
        {
            runner.end(op, OperationResult.NO_MEMORY);
            return;
        }
        final long leasedBefore = allocator.leasedBytes();
        if ((isFirst || !allocator.wasRefusedLately()) && allocator.request())
        {
            chunkSource.requestChunk(op.link.memoryNodeId);
        }
        if (allocator.leasedBytes() > leasedBefore)
        {
            // Answered at once.
            start(op);
        }
        else
        {
            runner.park(op);
        }
    }
}
