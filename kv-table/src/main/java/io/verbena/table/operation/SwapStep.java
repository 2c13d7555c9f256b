package io.verbena.table.operation;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.format.SlotWord;

/** Update and delete: one compare-and-swap from the word of the key's block to the own block's word, or a tombstone. */
final class SwapStep
{
    private final OperationFlow flow;

    SwapStep(final OperationFlow flow)
    {
        this.flow = flow;
    }

    /**
     * WRITE before compare-and-swap on one connection: whoever sees the new word sees the whole block. An own tentative
     * word that lost to the target is taken back on the way, and a target that is frozen in the subtable that is split
     * is moved.
     */
    void stageSwap(final Operation op)
    {
        stageBlock(op);
        stageWords(op);
    }

    void stageBlock(final Operation op)
    {
        if (OperationKind.storesValue(op.request.kind) && !op.block.isWritten)
        {
            flow.batch.writeOwnBlock(op);
        }
    }

    void stageWords(final Operation op)
    {
        final boolean stores = OperationKind.storesValue(op.request.kind);
        if (op.claim.stands)
        {
            flow.batch.withdraw(1, op.claim);
        }
        if (op.target.isToMove)
        {
            // Whoever came first did the same; then this swap is lost, and the next one tells what has become of it.
            flow.batch.propose(2, op.target.offset, SlotWord.UNINITIALISED, op.target.word);
        }
        op.target.desiredWord = stores ? op.block.word : flow.records.tombstone(op.target.word);
        flow.batch.propose(0, op.target.offset, op.target.word, op.target.desiredWord);
        op.block.isProposed = stores && op.request.link.isMirrored;
        if (!stores)
        {
            flow.tombstones.stageClearing(op);
        }
    }

    void onSwap(final Operation op)
    {
        op.claim.stands = false;
        op.target.isToMove = false;
        if (swapped(op, OperationKind.storesValue(op.request.kind)))
        {
            if (op.target.isCached)
            {
                flow.learn(op, true);
            }
            op.answer.expiryMs = OperationKind.storesValue(op.request.kind) ? op.block.expiryMs : 0;
            op.answer.version = OperationKind.storesValue(op.request.kind) ? op.block.version : op.target.version;
            flow.end(op, OperationKind.storesValue(op.request.kind) ? OperationResult.STORED :
                OperationResult.DELETED);
            return;
        }
        flow.counters.lostSwaps++;
        if (op.target.isCached)
        {
            flow.counters.cacheStale++;
            flow.learn(op, false);
        }
        goOnFrom(op, op.swapResult(0));
    }

    /** The compare-and-swap was lost to the word that it returned. */
    private void goOnFrom(final Operation op, final long returned)
    {
        // A stale cached location is no contention: go on at once.
        final int doorstep = op.target.isCached ? 2 : 0;
        if (takesFreshBlock(op))
        {
            flow.retryAnew(op, doorstep);
        }
        else if (Lookups.mayName(op, returned))
        {
            // Never the next expected value as it is: another key may have moved in. Its block tells.
            op.target.isCached = false;
            op.target.word = returned;
            flow.retry(op, doorstep, Step.FOLLOW, Step.SLOT_READ);
        }
        else
        {
            flow.retry(op, doorstep);
        }
    }

    /** With several copies no word is proposed twice for a slot: that of a lost round may stand on one of them. */
    private static boolean takesFreshBlock(final Operation op)
    {
        return op.block.isProposed;
    }

    /** An attempt of unknown outcome that expected the same word did not take it away. */
    private void noteTaken(final Operation op)
    {
        flow.attempts.onReplaced(op.request.hash.low(), op.target.offset, op.target.word);
    }

    /** As {@link #onSwap} for an operation that was reported before. @return whether it took effect. */
    boolean settle(final Operation op)
    {
        op.claim.stands = false;
        return swapped(op, OperationKind.storesValue(op.request.kind));
    }

    /** A record is behind its deadline: a tombstone takes its place, as if it was deleted. */
    void stageRemove(final Operation op)
    {
        if (op.target.isToMove)
        {
            flow.batch.propose(2, op.target.offset, SlotWord.UNINITIALISED, op.target.word);
        }
        op.target.desiredWord = flow.records.tombstone(op.target.word);
        flow.batch.propose(0, op.target.offset, op.target.word, op.target.desiredWord);
        flow.tombstones.stageClearing(op);
    }

    /** The key is absent, for everybody, if nobody else changed it meanwhile. */
    void onRemove(final Operation op)
    {
        op.target.isToMove = false;
        if (removed(op))
        {
            flow.end(op, OperationResult.NOT_FOUND);
            return;
        }
        flow.counters.lostSwaps++;
        goOnFrom(op, op.swapResult(0));
    }

    /** As {@link #onRemove} for an operation that was reported before. @return false: the operation took no effect. */
    boolean settleRemove(final Operation op)
    {
        removed(op);
        return false;
    }

    private boolean removed(final Operation op)
    {
        final boolean isRemoved = swapped(op, false);
        flow.counters.expiredRemoved += isRemoved ? 1 : 0;
        return isRemoved;
    }

    private boolean swapped(final Operation op, final boolean stores)
    {
        op.block.isWritten = stores;
        if (op.swapResult(0) != op.target.word)
        {
            flow.cache.remove(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId,
                op.target.word);
            return false;
        }
        noteTaken(op);
        // Who removes a committed word retires its block, nobody else.
        op.request.link.allocator.retire(op.target.word);
        if (stores)
        {
            op.block.offset = BlockAllocator.NONE;
            flow.remember(op, op.target.offset, op.block.word, op.block.version, op.ownBlock());
        }
        else
        {
            flow.cache.remove(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId,
                op.target.word);
            flow.tombstones.add(op, op.target.offset, op.target.desiredWord);
        }
        return true;
    }
}
