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
            op.claim.offset = op.location.slotOffset(slot);
            runner.go(op, Step.CLAIM);
            return;
        }
        final int tentative = tentativeSlot(op);
        if (tentative >= 0)
        {
            op.claim.victimCount = 1;
            op.claim.victims[0] = op.slotWord(tentative);
            op.claim.victimOffsets[0] = op.location.slotOffset(tentative);
            runner.go(op, Step.MAKE_ROOM);
            return;
        }
        if (splitSource.requestSplit(op.request.table, op.subtable()))
        {
            // As one that has not begun: whoever makes room may wait for epochs. Other writers go on meanwhile.
            op.pause.awaitSplit(op.location.groupsOffset, runner.nowNs +
                (FULL_PAUSE_NS << Math.min(op.pause.fullWaits, MOST_DOUBLED)));
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
            for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
            {
                records += SlotWord.isCommitted(op.slotWord(slot)) ? 1 : 0;
            }
            if (op.request.table.directory.noteFill(op.location.subtableSuffix, records, op.location.slotsRead()))
            {
                splitSource.requestSplit(op.request.table, op.subtable());
            }
        }
    }

    /** A block sealed for an insert before is as good as it was, unless its value is another one now. */
    private boolean prepareBlock(final Operation op)
    {
        boolean isSealed = op.block.isWritten && op.block.sealedOver == SlotWord.EMPTY;
        if (OperationKind.computesValue(op.request.kind))
        {
            final long before = runner.computedValues().lastMade(op);
            final int made = runner.computedValues().makeFromNothing(op);
            if (made != ComputedValues.OK)
            {
                runner.endUnmade(op, made);
                return false;
            }
            // The same always, but for the members of its batch; those get fewer, never more.
            isSealed &= op.block.isWritten && before == runner.computedValues().lastMade(op);
        }
        if (!isSealed)
        {
            runner.records.seal(op, 0, SlotWord.EMPTY);
        }
        // Sealed for another subtable, perhaps; a block is bound to its word without the window.
        op.block.word = SlotWord.withWindow(op.block.word, op.location.window);
        return true;
    }

    /** @return the first slot with a tentative word, or -1. */
    private static int tentativeSlot(final Operation op)
    {
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
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
            op.claim.rivalOffset = 0;
        }
    }

    private static boolean rivalStands(final Operation op)
    {
        boolean stands = false;
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots && op.claim.rivalOffset != 0; slot++)
        {
            stands |= op.location.slotOffset(slot) == op.claim.rivalOffset && op.slotWord(slot) == op.claim.rivalWord;
        }
        return stands;
    }

    /** First empty slot, main bucket before overflow, of the pair with more of them. */
    private static int chooseSlot(final Operation op)
    {
        final int perPair = 2 * BucketDescriptor.SLOTS_PER_BUCKET;
        final int empty0 = emptySlots(op, 0);
        final int empty1 = op.location.pairCount == 2 ? emptySlots(op, perPair) : 0;
        if (empty0 == 0 && empty1 == 0)
        {
            return -1;
        }
        final int pair = empty1 > empty0 ? 1 : 0;
        final int main = op.location.mainBuckets[pair] * BucketDescriptor.SLOTS_PER_BUCKET;
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
        op.location.peeked = false;
        if (!op.block.isWritten)
        {
            runner.lookups().writeOwnBlock(op);
        }
        if (op.claim.rivalOffset != 0)
        {
            runner.batch.swap(1, op.claim.rivalOffset, op.claim.rivalWord, SlotWord.EMPTY);
            runner.counters.kills++;
        }
        runner.lookups().slotMoves().stageMoves(op, FIRST_MOVE);
        op.claim.word = claimWord(op);
        runner.batch.swap(0, op.claim.offset, SlotWord.EMPTY, op.claim.word);
        runner.batch.readsFollowAtomics();
        runner.lookups().stageBuckets(op);
    }

    /** What readers take for absent until the operation has looked for rivals. */
    private static long claimWord(final Operation op)
    {
        return SlotWord.withKind(op.block.word, SlotWord.KIND_TENTATIVE);
    }

    boolean claimTook(final Operation op)
    {
        op.block.isWritten = true;
        return op.swapResult(0) == SlotWord.EMPTY;
    }

    void onClaim(final Operation op)
    {
        op.claim.rivalOffset = 0;
        op.moving.pending = 0;
        op.claim.stands = claimTook(op);
        if (op.claim.stands)
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
            op.claim.stands = false;
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
            op.claim.isJudged = true;
            runner.lookups().resolveCandidates(op);
        }
    }

    private void lookAtReRead(final Operation op)
    {
        runner.counters.retries++;
        op.cost.retries++;
        op.cost.contentions++;
        runner.lookups().scan(op);
    }

    private static boolean ownWordStands(final Operation op)
    {
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
        {
            if (op.location.slotOffset(slot) == op.claim.offset && op.location.slotCounts(slot))
            {
                return op.slotWord(slot) == op.claim.word;
            }
        }
        throw new IllegalStateException("own slot outside the pair: " + op);
    }

    /** c: the key is there already. PUT goes on as an update, put-if-absent says so; both take the own word back. */
    void onCommittedRival(final Operation op, final long slotOffset, final long word, final int block)
    {
        if (op.request.kind == OperationKind.APPEND)
        {
            // It may need another block than the one that the own word names.
            withdraw(op);
            return;
        }
        runner.counters.withdrawals++;
        runner.records.answerWith(op, block);
        if (op.request.kind == OperationKind.PUT_IF_ABSENT)
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
        if (op.candidates.unresolvedSeen)
        {
            withdraw(op);
            return;
        }
        op.claim.victimCount = 0;
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
        {
            final long word = op.slotWord(slot);
            final long offset = op.location.slotOffset(slot);
            if (SlotWord.isTentative(word) && SlotWord.fingerprint(word) == op.location.fingerprint &&
                op.location.slotCounts(slot) &&
                offset != op.claim.offset)
            {
                if (offset < op.claim.offset)
                {
                    // d
                    op.claim.rivalOffset = offset;
                    op.claim.rivalWord = word;
                    withdraw(op);
                    return;
                }
                op.claim.victims[op.claim.victimCount] = word;
                op.claim.victimOffsets[op.claim.victimCount++] = offset;
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
        for (int i = 0, kills = Math.min(MAX_KILLS, op.claim.victimCount); i < kills; i++)
        {
            runner.batch.swap(i, op.claim.victimOffsets[op.claim.victimCount - 1 - i],
                op.claim.victims[op.claim.victimCount - 1 - i],
                SlotWord.EMPTY);
        }
    }

    void onKill(final Operation op)
    {
        final int kills = Math.min(MAX_KILLS, op.claim.victimCount);
        boolean allDead = true;
        for (int i = 0; i < kills; i++)
        {
            final long found = op.swapResult(i);
            final long victim = op.claim.victims[op.claim.victimCount - 1 - i];
            runner.counters.kills += found == victim ? 1 : 0;
            allDead &= isDead(victim, found);
        }
        op.claim.victimCount -= kills;
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
        return op.claim.victimCount > 0;
    }

    /** @param found by the compare-and-swap that was to take the victim away. */
    private static boolean isDead(final long victim, final long found)
    {
        return found == victim || found == SlotWord.EMPTY;
    }

    void stageCommit(final Operation op)
    {
        assert op.block.isWritten : "commit of a block that was not written: " + op;
        runner.batch.swap(0, op.claim.offset, op.claim.word, op.block.word);
    }

    /** Only the success of this compare-and-swap is the answer. */
    void onCommit(final Operation op)
    {
        if (committed(op))
        {
            op.answer.version = op.block.version;
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
        op.claim.stands = false;
        if (op.swapResult(0) != op.claim.word)
        {
            return false;
        }
        op.block.offset = BlockAllocator.NONE;
        runner.remember(op, op.claim.offset, op.block.word, op.block.version, op.ownBlock());
        return true;
    }

    void stageWithdraw(final Operation op)
    {
        runner.batch.swap(0, op.claim.offset, op.claim.word, SlotWord.EMPTY);
    }

    /** Found its word gone: done as well. */
    void onWithdraw(final Operation op)
    {
        op.claim.stands = false;
        runner.retry(op, 0);
    }

    void stageMakeRoom(final Operation op)
    {
        runner.batch.swap(0, op.claim.victimOffsets[0], op.claim.victims[0], SlotWord.EMPTY);
    }

    void onMakeRoom(final Operation op)
    {
        runner.counters.kills += op.swapResult(0) == op.claim.victims[0] ? 1 : 0;
        runner.retry(op, 1);
    }
}
