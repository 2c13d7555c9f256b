package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.ChunkSource;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.format.BucketDescriptor;

/** The first step: gets a block where one is needed, then goes by the cached location or without one. */
final class StartStep
{
    /** After so many operations in a row without a current location, the next is taken to have none either. */
    private static final int COLD_STREAK = 4;

    /**
     * Whoever waits for memory until its deadline is refused before it, so that the refusal reaches a caller whose own
     * clock ends then: this long before, ...
     */
    private static final long MAX_ANSWER_NS = 200_000_000;
    /** ... and at most this part of the time that it had. */
    private static final long ANSWER_SHARE = 8;

    private final OperationFlow flow;
    private final RepeatStep repeats;
    private final Combiner combiner;
    private final ChunkSource chunkSource;
    private int coldInARow;

    StartStep(
        final OperationFlow flow, final RepeatStep repeats, final Combiner combiner, final ChunkSource chunkSource)
    {
        this.flow = flow;
        this.repeats = repeats;
        this.combiner = combiner;
        this.chunkSource = chunkSource;
    }

    /**
     * Brings near what says where a key is; and its buckets too, where that was not known of the keys of late. Close
     * together: the processor looks ahead from one miss to the next only if little is between.
     */
    void preload(final Operation op)
    {
        op.location.touched = flow.cache.touch(op.request.hash.high());
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
            flow.end(op, op.repeats ? OperationResult.OUTCOME_UNKNOWN : OperationResult.TABLE_CHANGED);
            return;
        }
        if (op.repeats)
        {
            op.locate();
            repeats.start(op);
            return;
        }
        if (!mayWrite(op))
        {
            return;
        }
        op.beginEpoch = flow.epochs.epoch();
        // An append knows only from the value there is which block it needs.
        final boolean needsBlock =
            OperationKind.storesValue(op.request.kind) &&
            (!OperationKind.takesOldValue(op.request.kind) || op.block.isNeeded);
        if (needsBlock && op.block.offset == BlockAllocator.NONE)
        {
            if (!flow.blocks.take(op))
            {
                awaitMemory(op, op.request.link.allocator);
                return;
            }
            op.block.wantsMemory = false;
        }
        final long entry = flow.cache.find(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId);
        // The buckets are looked for before they are read. A cached location needs none of them.
        op.location.locateFingerprint(op.request.hash);
        if (entry == LocationCache.NONE)
        {
            startCold(op);
        }
        else if (!flow.epochs.isCacheTagCurrent(flow.cache.tag(entry)))
        {
            startExpired(op, entry);
        }
        else if (flow.cache.isWriteHot(entry))
        {
            flow.counters.cacheBypasses++;
            op.target.bypassedWord = flow.cache.word(entry);
            op.target.offset = flow.cache.slotOffset(entry);
            flow.go(op, Step.SLOT_READ);
        }
        else
        {
            flow.counters.cacheHits++;
            op.target.offset = flow.cache.slotOffset(entry);
            op.target.word = flow.cache.word(entry);
            op.target.version = flow.cache.version(entry);
            op.target.cacheEntry = entry;
            startCached(op, entry);
        }
    }

    /** Whether a writer may go on from its first step now; if not it waits, and begins that step again. */
    private boolean mayWrite(final Operation op)
    {
        if (!flow.controlsContention || !OperationKind.writes(op.request.kind))
        {
            return true;
        }
        if (combiner.join(op))
        {
            return false;
        }
        if (!op.pause.isAdmitted && !flow.contention.admit())
        {
            flow.park(op);
            return false;
        }
        op.pause.isAdmitted = true;
        return true;
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
            case OperationKind.GET, OperationKind.EXISTS, OperationKind.PUT_IF_ABSENT, OperationKind.APPEND,
                OperationKind.EXPIRE -> false;
            // An overflow is answered from a read, never from the cache.
            case OperationKind.INCREMENT ->
                flow.computedValues.addToCached(op, flow.cache.counter(entry), flow.cache.counterForm(entry));
            // What is found behind its deadline is taken for absent from a read, never from the cache.
            default -> replacesWhateverIsThere(op) || !flow.expiryClock.isPast(flow.cache.deadline(entry));
        };
        if (changes && OperationKind.storesValue(op.request.kind))
        {
            op.block.expiryMs = Expiry.deadline(op.request.expiry, flow.cache.deadline(entry));
            flow.records.seal(op, op.target.version, op.target.word);
        }
        flow.go(op, changes ? Step.SWAP : Step.CACHED_READ);
    }

    /** Whether the operation stores the same whether there is a record or not. */
    private static boolean replacesWhateverIsThere(final Operation op)
    {
        return op.request.kind == OperationKind.PUT && op.request.expiry != Expiry.KEEP;
    }

    /** What was known some epochs ago proves nothing, but mostly leads there, unless its subtable was split since. */
    private void startExpired(final Operation op, final long entry)
    {
        if (flow.cache.isWriteHot(entry) || !flow.epochs.isHint(flow.cache.tag(entry)) ||
            !op.request.isInPresentSubtable(flow.cache.slotOffset(entry)))
        {
            startCold(op);
            return;
        }
        flow.counters.cacheHints++;
        op.locate();
        op.target.offset = flow.cache.slotOffset(entry);
        op.target.word = flow.cache.word(entry);
        flow.go(op, Step.HINTED_READ);
    }

    private void startCold(final Operation op)
    {
        coldInARow = Math.min(COLD_STREAK, coldInARow + 1);
        flow.go(op, Step.LOOK);
    }

    private void awaitMemory(final Operation op, final BlockAllocator allocator)
    {
        if (allocator.isSuspended() && op.request.link.isLost())
        {
            flow.end(op, OperationResult.NODE_UNAVAILABLE);
            return;
        }
        final boolean isFirst = !op.block.wantsMemory;
        if (isFirst)
        {
            op.block.wantsMemory = true;
            op.block.refusalsSeen = allocator.refusals();
            op.block.refusedAtNs = op.request.deadlineNs -
                Math.min(MAX_ANSWER_NS, (op.request.deadlineNs - flow.nowNs) / ANSWER_SHARE);
        }
        if (allocator.isTooLarge(op.block.sizeClass) || allocator.refusals() > op.block.refusalsSeen &&
            allocator.quarantinedBytes() == 0 && !chunkSource.mayFindMemory(op.request.link.memoryNodeId))
        {
            flow.end(op, OperationResult.NO_MEMORY);
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
            combiner.standAside(op);
            flow.park(op);
        }
    }
}
