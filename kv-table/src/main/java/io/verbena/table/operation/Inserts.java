package io.verbena.table.operation;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;

/**
 * Inserting a key: place a tentative word, read both combined buckets again, judge what stands there, commit.
 * Section "Insert" of {@code docs/protocol/point-operations.md}; the letters in comments are its cases.
 */
final class Inserts
{
    /** Kills in one batch; more rivals than this are killed in further ones. */
    private static final int MAX_KILLS = 8;
    /** Results of the swaps that move slots in the batch of a claim stand behind those of claim and kill. */
    private static final int FIRST_MOVE = 2;
    /** Before the first look whether another node has split a full subtable, and twice that before each other one. */
    private static final long FULL_PAUSE_NS = 200_000;
    private static final int MOST_DOUBLED = 5;

    private final OperationRunner runner;
    private final GrowthSource splitSource;

    Inserts(final OperationRunner runner, final GrowthSource splitSource)
    {
        this.runner = runner;
        this.splitSource = splitSource;
    }

    /** A look found the key absent: choose a slot. */
    void insert(final Operation op)
    {
        forgetRivalThatLeft(op);
        noteFill(op);
        final int slot = chooseSlot(op);
        if (slot >= 0)
        {
            if (!prepareBlock(op))
            {
                return;
            }
            op.claimOffset = op.slotOffset(slot);
            runner.go(op, Step.CLAIM);
            return;
        }
        final int tentative = tentativeSlot(op);
        if (tentative >= 0)
        {
            op.victimCount = 1;
            op.victims[0] = op.slotWord(tentative);
            op.victimOffsets[0] = op.slotOffset(tentative);
            runner.go(op, Step.MAKE_ROOM);
            return;
        }
        if (splitSource.requestSplit(op.table, op.subtable()))
        {
            // As one that has not begun: whoever makes room may wait for epochs. Other writers go on meanwhile.
            op.awaitSplit(runner.nowNs + (FULL_PAUSE_NS << Math.min(op.fullWaits, MOST_DOUBLED)));
            runner.combiner.standAside(op);
            runner.starts.restart(op);
        }
        else
        {
            runner.end(op, OperationResult.TABLE_FULL);
        }
    }

    /**
     * What an insert sees of its subtable is a sample of how full that one is. Only records count: the marks of deletes
     * make room for inserts, and where one key comes and goes they are all that there is.
     */
    private void noteFill(final Operation op)
    {
        if (splitSource != GrowthSource.NONE)
        {
            int records = 0;
            for (int slot = op.slotsRead() - 1; slot >= 0; slot--)
            {
                records += SlotWord.isCommitted(op.slotWord(slot)) ? 1 : 0;
            }
            if (op.table.directory.noteFill(op.subtableSuffix, records, op.slotsRead()))
            {
                splitSource.requestSplit(op.table, op.subtable());
            }
        }
    }

    /** A block sealed for an insert before is as good as it was, unless its value is another one now. */
    private boolean prepareBlock(final Operation op)
    {
        boolean isSealed = op.blockWritten && op.sealedOver == SlotWord.EMPTY;
        if (OperationKind.computesValue(op.kind))
        {
            final long before = runner.computedValues().lastMade(op);
            final int made = runner.computedValues().makeFromNothing(op);
            if (made != ComputedValues.OK)
            {
                runner.endUnmade(op, made);
                return false;
            }
            // The same always, but for the members of its batch; those get fewer, never more.
            isSealed &= op.blockWritten && before == runner.computedValues().lastMade(op);
        }
        if (!isSealed)
        {
            runner.records.seal(op, 0, SlotWord.EMPTY);
        }
        // Sealed for another subtable, perhaps; a block is bound to its word without the window.
        op.ownWord = SlotWord.withWindow(op.ownWord, op.window);
        return true;
    }

    /** @return the first slot with a tentative word, or -1. */
    private static int tentativeSlot(final Operation op)
    {
        for (int slot = 0, slots = op.slotsRead(); slot < slots; slot++)
        {
            if (SlotWord.isTentative(op.slotWord(slot)))
            {
                return slot;
            }
        }
        return -1;
    }

    /** Keeps the tentative word that this operation lost to only if it is still there: then it is killed on the way. */
    private static void forgetRivalThatLeft(final Operation op)
    {
        if (!rivalStands(op))
        {
            op.rivalOffset = 0;
        }
    }

    private static boolean rivalStands(final Operation op)
    {
        boolean stands = false;
        for (int slot = 0, slots = op.slotsRead(); slot < slots && op.rivalOffset != 0; slot++)
        {
            stands |= op.slotOffset(slot) == op.rivalOffset && op.slotWord(slot) == op.rivalWord;
        }
        return stands;
    }

    /** First empty slot, main bucket before overflow, of the pair with more of them. */
    private static int chooseSlot(final Operation op)
    {
        final int perPair = 2 * BucketDescriptor.SLOTS_PER_BUCKET;
        final int empty0 = emptySlots(op, 0);
        final int empty1 = op.pairCount == 2 ? emptySlots(op, perPair) : 0;
        if (empty0 == 0 && empty1 == 0)
        {
            return -1;
        }
        final int pair = empty1 > empty0 ? 1 : 0;
        final int main = op.mainBuckets[pair] * BucketDescriptor.SLOTS_PER_BUCKET;
        for (int i = 0; i < perPair; i++)
        {
            final int slot = pair * perPair + (main + i) % perPair;
            if (op.slotWord(slot) == SlotWord.EMPTY)
            {
                return slot;
            }
        }
        throw new IllegalStateException("no empty slot in a pair that has one");
    }

    /** @return whether an insert finds an empty slot among the words of its look. */
    static boolean hasRoom(final Operation op)
    {
        return chooseSlot(op) >= 0;
    }

    private static int emptySlots(final Operation op, final int from)
    {
        int count = 0;
        for (int slot = from; slot < from + 2 * BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            count += op.slotWord(slot) == SlotWord.EMPTY ? 1 : 0;
        }
        return count;
    }

    /**
     * The block is written, long before the commit names it. The READs execute after the own compare-and-swap: of two
     * inserts, the one whose word came second sees the first.
     * Killing a rival seen again goes ahead in the same chain, as does the move of slots that are frozen in the
     * subtable that is split: whatever comes of it, the re-read tells.
     */
    void stageClaim(final Operation op)
    {
        op.peeked = false;
        if (!op.blockWritten)
        {
            runner.lookups().writeOwnBlock(op);
        }
        if (op.rivalOffset != 0)
        {
            runner.batch.swap(1, op.rivalOffset, op.rivalWord, SlotWord.EMPTY);
            runner.counters.kills++;
        }
        runner.lookups().slotMoves().stageMoves(op, FIRST_MOVE);
        op.claimWord = claimWord(op);
        runner.batch.swap(0, op.claimOffset, SlotWord.EMPTY, op.claimWord);
        runner.batch.readsFollowAtomics();
        runner.lookups().stageBuckets(op);
    }

    /** What readers take for absent until the operation has looked for rivals. */
    private static long claimWord(final Operation op)
    {
        return SlotWord.withKind(op.ownWord, SlotWord.KIND_TENTATIVE);
    }

    boolean claimTook(final Operation op)
    {
        op.blockWritten = true;
        return op.swapResult(0) == SlotWord.EMPTY;
    }

    void onClaim(final Operation op)
    {
        op.rivalOffset = 0;
        op.slotsPending = 0;
        op.claimStands = claimTook(op);
        if (op.claimStands)
        {
            judgeReRead(op);
        }
        else
        {
            lookAtReRead(op);
        }
    }

    /** Whether nobody else inserts the key: what was read behind the own tentative word tells. */
    private void judgeReRead(final Operation op)
    {
        if (!ownWordStands(op))
        {
            // a: killed, and never visible.
            op.claimStands = false;
            lookAtReRead(op);
        }
        else if (!runner.lookups().headersFit(op))
        {
            runner.end(op, OperationResult.TABLE_CHANGED);
        }
        else if (runner.lookups().seesSplit(op))
        {
            // b: what is frozen may be of this key, and go on elsewhere.
            withdraw(op);
        }
        else
        {
            runner.lookups().collectCandidates(op);
            op.judgesClaim = true;
            runner.lookups().resolveCandidates(op);
        }
    }

    private void lookAtReRead(final Operation op)
    {
        runner.counters.retries++;
        op.retries++;
        op.contentions++;
        runner.lookups().scan(op);
    }

    private static boolean ownWordStands(final Operation op)
    {
        for (int slot = 0, slots = op.slotsRead(); slot < slots; slot++)
        {
            if (op.slotOffset(slot) == op.claimOffset && op.slotCounts(slot))
            {
                return op.slotWord(slot) == op.claimWord;
            }
        }
        throw new IllegalStateException("own slot outside the pair: " + op);
    }

    /** c: the key is there already. PUT goes on as an update, put-if-absent says so; both take the own word back. */
    void onCommittedRival(final Operation op, final long slotOffset, final long word, final int block)
    {
        if (op.kind == OperationKind.APPEND)
        {
            // It may need another block than the one that the own word names.
            withdraw(op);
            return;
        }
        runner.counters.withdrawals++;
        runner.records.answerWith(op, block);
        if (op.kind == OperationKind.PUT_IF_ABSENT)
        {
            runner.end(op, OperationResult.EXISTS);
        }
        else
        {
            runner.lookups().change(op, slotOffset, word, block);
        }
    }

    /** Every committed word with the fingerprint is another key's: tentative rivals decide. */
    void judge(final Operation op)
    {
        if (op.unresolvedSeen)
        {
            withdraw(op);
            return;
        }
        op.victimCount = 0;
        for (int slot = 0, slots = op.slotsRead(); slot < slots; slot++)
        {
            final long word = op.slotWord(slot);
            final long offset = op.slotOffset(slot);
            if (SlotWord.isTentative(word) && SlotWord.fingerprint(word) == op.fingerprint && op.slotCounts(slot) &&
                offset != op.claimOffset)
            {
                if (offset < op.claimOffset)
                {
                    // d
                    op.rivalOffset = offset;
                    op.rivalWord = word;
                    withdraw(op);
                    return;
                }
                op.victims[op.victimCount] = word;
                op.victimOffsets[op.victimCount++] = offset;
            }
        }
        // e
        killOrCommit(op);
    }

    private void withdraw(final Operation op)
    {
        runner.counters.withdrawals++;
        runner.go(op, Step.WITHDRAW);
    }

    void stageKill(final Operation op)
    {
        for (int i = 0, kills = Math.min(MAX_KILLS, op.victimCount); i < kills; i++)
        {
            runner.batch.swap(i, op.victimOffsets[op.victimCount - 1 - i], op.victims[op.victimCount - 1 - i],
                SlotWord.EMPTY);
        }
    }

    void onKill(final Operation op)
    {
        final int kills = Math.min(MAX_KILLS, op.victimCount);
        boolean allDead = true;
        for (int i = 0; i < kills; i++)
        {
            final long found = op.swapResult(i);
            final long victim = op.victims[op.victimCount - 1 - i];
            runner.counters.kills += found == victim ? 1 : 0;
            allDead &= isDead(victim, found);
        }
        op.victimCount -= kills;
        if (allDead)
        {
            killOrCommit(op);
        }
        else
        {
            withdraw(op);
        }
    }

    private void killOrCommit(final Operation op)
    {
        runner.go(op, hasVictims(op) ? Step.KILL : Step.COMMIT);
    }

    private static boolean hasVictims(final Operation op)
    {
        return op.victimCount > 0;
    }

    /** @param found by the compare-and-swap that was to take the victim away. */
    private static boolean isDead(final long victim, final long found)
    {
        return found == victim || found == SlotWord.EMPTY;
    }

    void stageCommit(final Operation op)
    {
        assert op.blockWritten : "commit of a block that was not written: " + op;
        runner.batch.swap(0, op.claimOffset, op.claimWord, op.ownWord);
    }

    /** Only the success of this compare-and-swap is the answer. */
    void onCommit(final Operation op)
    {
        if (committed(op))
        {
            op.version = op.ownVersion;
            runner.end(op, OperationResult.STORED);
        }
        else
        {
            runner.retry(op, 1);
        }
    }

    boolean settleCommit(final Operation op)
    {
        return committed(op);
    }

    private boolean committed(final Operation op)
    {
        op.claimStands = false;
        if (op.swapResult(0) != op.claimWord)
        {
            return false;
        }
        op.blockOffset = BlockAllocator.NONE;
        runner.remember(op, op.claimOffset, op.ownWord, op.ownVersion, op.ownBlock());
        return true;
    }

    void stageWithdraw(final Operation op)
    {
        runner.batch.swap(0, op.claimOffset, op.claimWord, SlotWord.EMPTY);
    }

    /** Found its word gone: done as well. */
    void onWithdraw(final Operation op)
    {
        op.claimStands = false;
        runner.retry(op, 0);
    }

    void stageMakeRoom(final Operation op)
    {
        runner.batch.swap(0, op.victimOffsets[0], op.victims[0], SlotWord.EMPTY);
    }

    void onMakeRoom(final Operation op)
    {
        runner.counters.kills += op.swapResult(0) == op.victims[0] ? 1 : 0;
        runner.retry(op, 1);
    }
}
