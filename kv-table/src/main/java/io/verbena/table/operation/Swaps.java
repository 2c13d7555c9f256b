package io.verbena.table.operation;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.format.SlotWord;

/** Update and delete: one compare-and-swap from the word of the key's block to the own block's word, or a tombstone. */
final class Swaps
{
    private final OperationRunner runner;

    Swaps(final OperationRunner runner)
    {
        this.runner = runner;
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
        if (OperationKind.storesValue(op.kind) && !op.blockWritten)
        {
            runner.lookups().writeOwnBlock(op);
        }
    }

    void stageWords(final Operation op)
    {
        final boolean stores = OperationKind.storesValue(op.kind);
        if (op.claimStands)
        {
            runner.batch.swap(1, op.claimOffset, op.claimWord, SlotWord.EMPTY);
        }
        if (op.movesTarget)
        {
            // Whoever came first did the same; then this swap is lost, and the next one tells what has become of it.
            runner.batch.swap(2, op.targetOffset, SlotWord.UNINITIALISED, op.targetWord);
        }
        op.desiredWord = stores ? op.ownWord : runner.records.tombstone(op.targetWord);
        runner.batch.swap(0, op.targetOffset, op.targetWord, op.desiredWord);
        if (!stores)
        {
            runner.tombstones().stageClearing(op);
        }
    }

    void onSwap(final Operation op)
    {
        op.claimStands = false;
        op.movesTarget = false;
        if (swapped(op))
        {
            if (op.targetIsCached)
            {
                runner.learn(op, true);
            }
            op.version = OperationKind.storesValue(op.kind) ? op.ownVersion : op.targetVersion;
            runner.end(op, OperationKind.storesValue(op.kind) ? OperationResult.STORED : OperationResult.DELETED);
            return;
        }
        runner.counters.lostSwaps++;
        if (op.targetIsCached)
        {
            runner.counters.cacheStale++;
            runner.learn(op, false);
        }
        goOnFrom(op, op.swapResult(0));
    }

    /** The compare-and-swap was lost to the word that it returned. */
    private void goOnFrom(final Operation op, final long returned)
    {
        // A stale cached location is no contention: go on at once.
        final int doorstep = op.targetIsCached ? 2 : 0;
        if (Lookups.mayName(op, returned))
        {
            // Never the next expected value as it is: another key may have moved in. Its block tells.
            op.targetIsCached = false;
            op.targetWord = returned;
            runner.retry(op, doorstep, Step.FOLLOW, Step.SLOT_READ);
        }
        else
        {
            runner.retry(op, doorstep);
        }
    }

    /** An attempt of unknown outcome that expected the same word did not take it away. */
    private void noteTaken(final Operation op)
    {
        runner.attempts.onReplaced(op.hash.low(), op.targetOffset, op.targetWord);
    }

    /** As {@link #onSwap} for an operation that was reported before. @return whether it took effect. */
    boolean settle(final Operation op)
    {
        op.claimStands = false;
        return swapped(op);
    }

    private boolean swapped(final Operation op)
    {
        final boolean stores = OperationKind.storesValue(op.kind);
        op.blockWritten = stores;
        if (op.swapResult(0) != op.targetWord)
        {
            runner.cache.remove(op.hash.low(), op.hash.high(), op.table.tableId, op.targetWord);
            return false;
        }
        noteTaken(op);
        // Who removes a committed word retires its block, nobody else.
        op.link.allocator.retire(op.targetWord);
        if (stores)
        {
            op.blockOffset = BlockAllocator.NONE;
            runner.remember(op, op.targetOffset, op.ownWord, op.ownVersion, op.ownBlock());
        }
        else
        {
            runner.cache.remove(op.hash.low(), op.hash.high(), op.table.tableId, op.targetWord);
            runner.tombstones().add(op, op.targetOffset, op.desiredWord);
        }
        return true;
    }
}
