package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;

/**
 * What differs in the insert of a key where there are several copies: claims stand at the head only, which may hold
 * words that are decided and not committed. Nothing is taken from there but what hinders the insert; for all else it
 * looks again, behind the end of the rounds that it met.
 */
final class MirroredInserts
{
    private static final int SLOTS_PER_BUCKET = BucketDescriptor.SLOTS_PER_BUCKET;

    /** The operation goes on by itself. */
    static final int GONE = 0;
    /** Nothing is in the way but claims of others, if there are any. */
    static final int JUDGE = 1;
    /** The insert cannot go on. */
    static final int WITHDRAW = 2;

    private final OperationFlow flow;

    MirroredInserts(final OperationFlow flow)
    {
        this.flow = flow;
    }

    /** The look found the key absent in these words, which were at the primary. */
    void rememberLook(final Operation op)
    {
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
        {
            op.claim.seen[slot] = seen(op, slot);
        }
    }

    /**
     * A word that is moved ahead of the claim may have come into the old subtable behind the look: if it can be the
     * key's, the re-read must not take it for one that the look has judged.
     */
    private static long seen(final Operation op, final int slot)
    {
        final long word = op.slotWord(slot);
        return isMoved(op, slot) && Lookups.mayName(op, word) && !op.candidates.isForeign(word) ?
            SlotWord.UNINITIALISED : word;
    }

    private static boolean isMoved(final Operation op, final int slot)
    {
        return (op.moving.pending & 1 << slot) != 0;
    }

    int onClaim(final Operation op)
    {
        op.claim.unsettledCount = 0;
        if (!op.claim.stands)
        {
            // The word of this claim never stood anywhere.
            op.block.isProposed = false;
            return onRefused(op, op.swapResult(0));
        }
        if (!op.seesOwnClaim())
        {
            op.claim.stands = false;
            flow.retryAnew(op, 1);
            return GONE;
        }
        return judgeReRead(op);
    }

    private int judgeReRead(final Operation op)
    {
        if (!collectUnsettled(op))
        {
            return WITHDRAW;
        }
        if (op.claim.unsettledCount > 0)
        {
            flow.go(op, Step.SETTLE);
            return GONE;
        }
        return JUDGE;
    }

    /** Lost the slot to another claim, which is killed when it is found again; or to a decision. */
    private int onRefused(final Operation op, final long found)
    {
        if (!SlotWord.isTentative(found))
        {
            op.claim.addUnsettled(op.claim.offset);
            return WITHDRAW;
        }
        if (isSeenAgain(op, op.claim.offset, found))
        {
            op.claim.rivalOffset = 0;
            op.claim.victimCount = 1;
            op.claim.victims[0] = found;
            op.claim.victimOffsets[0] = op.claim.offset;
            flow.go(op, Step.MAKE_ROOM);
        }
        else
        {
            op.claim.rivalOffset = op.claim.offset;
            op.claim.rivalWord = found;
            flow.retry(op, 0);
        }
        return GONE;
    }

    /** Whether the operation gave way to this claim before. */
    static boolean isSeenAgain(final Operation op, final long slotOffset, final long word)
    {
        return op.request.link.isMirrored && op.claim.rivalOffset == slotOffset && op.claim.rivalWord == word;
    }

    /**
     * Notes what differs from the look, and may be of the key: it may be decided and not committed.
     *
     * @return false: the insert cannot go on from this look, whatever comes of it.
     */
    private static boolean collectUnsettled(final Operation op)
    {
        boolean goesOn = true;
        for (int bucket = op.location.pairCount * 2 - 1; bucket >= 0; bucket--)
        {
            if (op.bucketHeaderRead(bucket) != op.location.bucketHeader)
            {
                op.claim.addUnsettled(op.location.slotOffset(bucket * SLOTS_PER_BUCKET) -
                    BucketDescriptor.SLOTS_OFFSET);
                goesOn = false;
            }
        }
        for (int slot = 0, slots = op.location.slotsRead(); slot < slots; slot++)
        {
            final long word = op.slotWord(slot);
            if (word != op.claim.seen[slot] && op.location.slotCounts(slot) &&
                op.location.slotOffset(slot) != op.claim.offset && mayConcern(op, word))
            {
                goesOn &= op.claim.addUnsettled(op.location.slotOffset(slot)) && isAbsent(word);
            }
        }
        return goesOn;
    }

    /** Another key's record is no matter; what is absent here may be a delete, whose record is at the primary still. */
    private static boolean mayConcern(final Operation op, final long word)
    {
        return Lookups.mayName(op, word) || !SlotWord.isCommitted(word);
    }

    private static boolean isAbsent(final long word)
    {
        return SlotWord.isEmpty(word) || SlotWord.isTentative(word);
    }

    /** In the batch of a withdrawal. */
    void stageSettling(final Operation op)
    {
        for (int i = 0; i < op.claim.unsettledCount; i++)
        {
            stageSettling(op.base + Scratch.SLOT_OFFSET, op.claim.unsettled[i]);
        }
    }

    /** Behind a withdrawal: looks again. */
    void onSettled(final Operation op)
    {
        op.claim.unsettledCount = 0;
        if (op.block.isProposed)
        {
            final long rivalOffset = op.claim.rivalOffset;
            OwnBlocks.giveBack(op);
            op.forget();
            op.claim.rivalOffset = rivalOffset;
            flow.retry(op, 0, Step.START, Step.START);
        }
        else
        {
            flow.retry(op, 0);
        }
    }

    void stageSettlingBesideClaim(final Operation op)
    {
        for (int i = 0; i < op.claim.unsettledCount; i++)
        {
            stageSettling(op.swapResultOffset(i), op.claim.unsettled[i]);
        }
    }

    private void stageSettling(final int resultAt, final long offset)
    {
        if (offset % BucketDescriptor.BUCKET_BYTES == BucketDescriptor.HEADER_OFFSET)
        {
            flow.batch.readSettledLink(resultAt, offset);
        }
        else
        {
            flow.batch.readSettled(resultAt, offset);
        }
    }

    /** The own claim stands: goes on from the look before if nothing is where something was absent. */
    int onSettledBesideClaim(final Operation op)
    {
        boolean goesOn = true;
        for (int i = 0; i < op.claim.unsettledCount; i++)
        {
            goesOn &= isAbsent(op.swapResult(i));
        }
        op.claim.unsettledCount = 0;
        return goesOn ? JUDGE : WITHDRAW;
    }

    void settleVictims(final Operation op, final int kills)
    {
        for (int i = 0; i < kills; i++)
        {
            op.claim.addUnsettled(op.claim.victimOffsets[op.claim.victimCount - 1 - i]);
        }
    }
}
