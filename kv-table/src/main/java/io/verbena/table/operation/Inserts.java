package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.expiry.Expiry;
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

    private final OperationFlow flow;
    private final Lookups lookups;
    private final SlotMoves slotMoves;
    private final Combiner combiner;
    private final GrowthSource growthSource;
    final MirroredInserts mirrored;

    Inserts(
        final OperationFlow flow,
        final Lookups lookups,
        final SlotMoves slotMoves,
        final Combiner combiner,
        final GrowthSource growthSource)
    {
        this.flow = flow;
        this.lookups = lookups;
        this.slotMoves = slotMoves;
        this.combiner = combiner;
        this.growthSource = growthSource;
        mirrored = new MirroredInserts(flow);
    }

    /** A look found the key absent: choose a slot. */
    void insert(final Operation op)
    {
        if (op.request.link.isMirrored)
        {
            mirrored.rememberLook(op);
        }
        else
        {
            forgetRivalThatLeft(op);
        }
        noteFill(op);
        final int slot = op.emptySlot();
        if (slot >= 0)
        {
            if (!prepareBlock(op))
            {
                return;
            }
            op.claim.offset = op.location.slotOffset(slot);
            op.claim.base = op.slotWord(slot);
            flow.go(op, Step.CLAIM);
            return;
        }
        final int tentative = tentativeSlot(op);
        if (tentative >= 0)
        {
            op.claim.victimCount = 1;
            op.claim.victims[0] = op.slotWord(tentative);
            op.claim.victimOffsets[0] = op.location.slotOffset(tentative);
            flow.go(op, Step.MAKE_ROOM);
            return;
        }
        if (growthSource.requestSplit(op.request.table, op.subtable()))
        {
            // As one that has not begun: whoever makes room may wait for epochs. Other writers go on meanwhile.
            op.pause.awaitSplit(op.location.groupsOffset, flow.nowNs +
                (FULL_PAUSE_NS << Math.min(op.pause.fullWaits, MOST_DOUBLED)));
            combiner.standAside(op);
            flow.restart(op);
        }
        else
        {
            flow.end(op, OperationResult.TABLE_FULL);
        }
    }

    /**
     * What an insert sees of its subtable is a sample of how full that one is. Only records count: the marks of deletes
     * make room for inserts, and where one key comes and goes they are all that there is.
     */
    private void noteFill(final Operation op)
    {
        if (growthSource != GrowthSource.NONE)
        {
            int records = 0;
            for (int slot = op.location.slotsRead() - 1; slot >= 0; slot--)
            {
                records += SlotWord.isCommitted(op.slotWord(slot)) ? 1 : 0;
            }
            if (op.request.table.directory.noteFill(op.location.subtableSuffix, records, op.location.slotsRead()))
            {
                growthSource.requestSplit(op.request.table, op.subtable());
            }
        }
    }

    /** A block sealed for an insert before is as good as it was, unless its value is another one now. */
    private boolean prepareBlock(final Operation op)
    {
        boolean isSealed = op.block.isWritten && op.block.sealedOver == SlotWord.EMPTY;
        if (OperationKind.computesValue(op.request.kind))
        {
            final long before = flow.computedValues.lastMade(op);
            final int made = flow.computedValues.makeFromNothing(op);
            if (made != ComputedValues.OK)
            {
                flow.endUnmade(op, made);
                return false;
            }
            // The same always, but for the members of its batch; those get fewer, never more.
            isSealed &= op.block.isWritten && before == flow.computedValues.lastMade(op);
        }
        if (!isSealed)
        {
            op.block.expiryMs = Expiry.deadline(op.request.expiry, 0);
            flow.records.seal(op, 0, SlotWord.EMPTY);
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

    /**
     * The block is written, long before the commit names it. The READs execute after the own compare-and-swap: of two
     * inserts, the one whose word came second sees the first.
     * Killing a rival seen again goes ahead in the same chain, as does the move of slots that are frozen in the
     * subtable that is split: whatever comes of it, the re-read shows it.
     */
    void stageClaim(final Operation op)
    {
        op.location.peeked = false;
        op.claim.unsettledCount = 0;
        if (!op.block.isWritten)
        {
            flow.batch.writeOwnBlock(op);
        }
        if (op.claim.rivalOffset != 0 && !op.request.link.isMirrored)
        {
            flow.batch.kill(1, op.claim.rivalOffset, op.claim.rivalWord, flow.records.emptied());
            flow.counters.kills++;
        }
        slotMoves.stageMoves(op, FIRST_MOVE);
        op.claim.word = claimWord(op);
        flow.batch.claim(0, op.claim);
        op.block.isProposed = op.request.link.isMirrored;
        flow.batch.readsFollowAtomics();
        stageBucketsBesideClaims(op);
    }

    /** As {@link Lookups#stageBuckets}, where the own claim stands, and those of others. */
    private void stageBucketsBesideClaims(final Operation op)
    {
        for (int pair = 0; pair < op.location.pairCount; pair++)
        {
            flow.batch.readBesideClaims(op.base + Scratch.BUCKETS_OFFSET + pair * BucketDescriptor.COMBINED_BYTES,
                BucketDescriptor.COMBINED_BYTES, op.location.pairOffsets[pair]);
        }
    }

    /** What readers take for absent until the operation has looked for rivals. */
    private static long claimWord(final Operation op)
    {
        return SlotWord.withKind(op.block.word, SlotWord.KIND_TENTATIVE);
    }

    private static boolean claimTook(final Operation op)
    {
        op.block.isWritten = true;
        return op.swapResult(0) == op.claim.base;
    }

    /** As {@link #onClaim} for an operation that was reported before. @return false: it took no effect. */
    static boolean settleClaim(final Operation op)
    {
        op.claim.stands = claimTook(op);
        return false;
    }

    void onClaim(final Operation op)
    {
        op.moving.pending = 0;
        op.claim.stands = claimTook(op);
        if (op.request.link.isMirrored)
        {
            goOn(op, mirrored.onClaim(op));
            return;
        }
        op.claim.rivalOffset = 0;
        if (op.claim.stands)
        {
            judgeReRead(op);
        }
        else
        {
            lookAtReRead(op);
        }
    }

    private void goOn(final Operation op, final int next)
    {
        if (next == MirroredInserts.JUDGE)
        {
            judgeRivals(op);
        }
        else if (next == MirroredInserts.WITHDRAW)
        {
            withdraw(op);
        }
    }

    void onSettledBesideClaim(final Operation op)
    {
        goOn(op, mirrored.onSettledBesideClaim(op));
    }

    /** Whether nobody else inserts the key: what was read behind the own tentative word shows it. */
    private void judgeReRead(final Operation op)
    {
        if (!op.seesOwnClaim())
        {
            // a: killed, and never visible.
            op.claim.stands = false;
            lookAtReRead(op);
        }
        else if (!lookups.headersFit(op))
        {
            flow.end(op, OperationResult.TABLE_CHANGED);
        }
        else if (lookups.seesSplit(op))
        {
            // b: what is frozen may be of this key, and go on elsewhere.
            withdraw(op);
        }
        else
        {
            lookups.collectCandidates(op);
            op.claim.isJudged = true;
            lookups.resolveCandidates(op);
        }
    }

    private void lookAtReRead(final Operation op)
    {
        flow.counters.retries++;
        op.cost.retries++;
        op.cost.contentions++;
        lookups.scan(op);
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
        flow.counters.withdrawals++;
        flow.records.answerWith(op, block);
        final boolean isExpired = flow.isExpired(block);
        if (op.request.kind == OperationKind.PUT_IF_ABSENT && !isExpired)
        {
            flow.end(op, OperationResult.EXISTS);
        }
        else
        {
            lookups.change(op, slotOffset, word, block, isExpired);
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
        judgeRivals(op);
    }

    /** Of two inserts of a key the one at the lower slot kills the other, which withdraws if it sees it first. */
    private void judgeRivals(final Operation op)
    {
        boolean hasMet = false;
        op.claim.victimCount = 0;
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
        {
            final long word = op.slotWord(slot);
            final long offset = op.location.slotOffset(slot);
            if (SlotWord.isTentative(word) && SlotWord.fingerprint(word) == op.location.fingerprint &&
                op.location.slotCounts(slot) &&
                offset != op.claim.offset)
            {
                final boolean isSeenAgain = MirroredInserts.isSeenAgain(op, offset, word);
                if (offset < op.claim.offset && !isSeenAgain)
                {
                    // d
                    giveWay(op, offset, word, hasMet);
                    return;
                }
                hasMet |= isSeenAgain;
                op.claim.victims[op.claim.victimCount] = word;
                op.claim.victimOffsets[op.claim.victimCount++] = offset;
            }
        }
        // e
        killOrCommit(op);
    }

    /**
     * To a rival, for once.
     *
     * @param hasMet whether the one before it stands still: it is killed first, or the marks of several deletes that
     *               stay would have the insert give way to each of them in turn, for ever.
     */
    private void giveWay(final Operation op, final long slotOffset, final long word, final boolean hasMet)
    {
        if (hasMet)
        {
            op.claim.victimCount = 1;
            op.claim.victims[0] = op.claim.rivalWord;
            op.claim.victimOffsets[0] = op.claim.rivalOffset;
        }
        op.claim.rivalOffset = slotOffset;
        op.claim.rivalWord = word;
        op.claim.givesWay = hasMet;
        if (hasMet)
        {
            flow.go(op, Step.KILL);
        }
        else
        {
            withdraw(op);
        }
    }

    private void withdraw(final Operation op)
    {
        flow.counters.withdrawals++;
        flow.go(op, Step.WITHDRAW);
    }

    void stageKill(final Operation op)
    {
        for (int i = 0, kills = Math.min(MAX_KILLS, op.claim.victimCount); i < kills; i++)
        {
            flow.batch.kill(i, op.claim.victimOffsets[op.claim.victimCount - 1 - i],
                op.claim.victims[op.claim.victimCount - 1 - i],
                flow.records.emptied());
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
            flow.counters.kills += found == victim ? 1 : 0;
            allDead &= isDead(victim, found);
        }
        if (!allDead && op.request.link.isMirrored)
        {
            // What was met there may have been decided, and has to be finished before the next look.
            mirrored.settleVictims(op, kills);
        }
        op.claim.victimCount -= kills;
        final boolean givesWay = op.claim.givesWay;
        op.claim.givesWay = false;
        if (allDead && !givesWay)
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
        flow.go(op, hasVictims(op) ? Step.KILL : Step.COMMIT);
    }

    private static boolean hasVictims(final Operation op)
    {
        return op.claim.victimCount > 0;
    }

    /** @param found by the compare-and-swap that was to take the victim away. */
    private static boolean isDead(final long victim, final long found)
    {
        return found == victim || SlotWord.isEmpty(found);
    }

    void stageCommit(final Operation op)
    {
        assert op.block.isWritten : "commit of a block that was not written: " + op;
        flow.batch.commit(0, op.claim, op.block.word);
    }

    /** Only the success of this compare-and-swap is the answer. */
    void onCommit(final Operation op)
    {
        if (committed(op))
        {
            op.answer.version = op.block.version;
            op.answer.expiryMs = op.block.expiryMs;
            flow.end(op, OperationResult.STORED);
        }
        else if (op.request.link.isMirrored)
        {
            flow.retryAnew(op, 1);
        }
        else
        {
            flow.retry(op, 1);
        }
    }

    /** @return whether the insert took effect. */
    boolean committed(final Operation op)
    {
        op.claim.stands = false;
        if (op.swapResult(0) != op.claim.word)
        {
            return false;
        }
        op.block.offset = BlockAllocator.NONE;
        flow.remember(op, op.claim.offset, op.block.word, op.block.version, op.ownBlock());
        return true;
    }

    void stageWithdraw(final Operation op)
    {
        if (op.claim.stands)
        {
            flow.batch.withdraw(0, op.claim);
        }
        mirrored.stageSettling(op);
    }

    /** @return false: the operation took no effect. */
    static boolean settleWithdraw(final Operation op)
    {
        op.claim.stands = false;
        return false;
    }

    /** Found its word gone: done as well. */
    void onWithdraw(final Operation op)
    {
        op.claim.stands = false;
        if (op.request.link.isMirrored)
        {
            mirrored.onSettled(op);
        }
        else
        {
            flow.retry(op, 0);
        }
    }

    void stageMakeRoom(final Operation op)
    {
        flow.batch.kill(0, op.claim.victimOffsets[0], op.claim.victims[0], flow.records.emptied());
    }

    void onMakeRoom(final Operation op)
    {
        flow.counters.kills += op.swapResult(0) == op.claim.victims[0] ? 1 : 0;
        flow.retry(op, 1);
    }
}
