package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.format.SlotWord;

/**
 * An operation that is begun again after its outcome was reported as unknown: finds out what became of the first
 * attempt, * and only if that had no effect lets it go on. What cannot be found out stays unknown. See
 * {@code docs/protocol/retries.md}.
 */
final class RepeatStep
{
    private final OperationFlow flow;
    private final Combiner combiner;
    private final Attempts attempts;

    RepeatStep(final OperationFlow flow, final Combiner combiner)
    {
        this.flow = flow;
        this.combiner = combiner;
        attempts = flow.attempts;
    }

    /** First step of a repeated operation. It has read nothing yet, so it does not hold up the epoch. */
    void start(final Operation op)
    {
        final int entry = attempts.find(op);
        if (entry == Attempts.NONE)
        {
            flow.end(op, OperationResult.OUTCOME_UNKNOWN);
        }
        else
        {
            startFrom(op, entry);
        }
    }

    private void startFrom(final Operation op, final int entry)
    {
        switch (attempts.state(entry))
        {
            case Attempts.PENDING -> flow.park(op);
            case Attempts.APPLIED -> applied(op, entry);
            case Attempts.NOT_APPLIED -> goOn(op);
            default ->
            {
                op.beginEpoch = flow.epochs.epoch();
                if (op.beginEpoch > attempts.epoch(entry) + EpochTracker.REPEAT_EPOCHS)
                {
                    flow.end(op, OperationResult.OUTCOME_UNKNOWN);
                }
                else
                {
                    flow.go(op, Step.RESOLVE);
                }
            }
        }
    }

    void stageSlot(final Operation op)
    {
        flow.batch.readSettled(op.base + Scratch.SLOT_OFFSET, attempts.slotOffset(attempts.find(op)));
    }

    /** The word that stands in the slot of the attempt by now. */
    void onSlot(final Operation op)
    {
        final int entry = attempts.find(op);
        final long found = op.scratch.word(op.base + Scratch.SLOT_OFFSET);
        // What a split has frozen is what was there last; then the key goes on elsewhere.
        final long word = SlotWord.isFrozen(found) && SlotWord.namesBlock(found) ?
            SlotWord.withKind(found, SlotWord.KIND_COMMITTED) : found;
        if (entry == Attempts.NONE)
        {
            flow.end(op, OperationResult.OUTCOME_UNKNOWN);
        }
        else if (attempts.state(entry) != Attempts.LOST)
        {
            startFrom(op, entry);
        }
        else if (word == attempts.desiredWord(entry))
        {
            onOwnWord(op, entry, word);
        }
        else if (word == attempts.expectedWord(entry) || word == SlotWord.UNINITIALISED)
        {
            goOn(op);
        }
        else if (SlotWord.isCommitted(word) || SlotWord.isTentative(word))
        {
            // The present value, or what a delete left of the last one: its block leads back to the ones before.
            follow(op, SlotWord.committed(op.location.fingerprint, op.location.window, SlotWord.versionBits(word),
                SlotWord.sizeClass(word), SlotWord.blockOffset(word)));
        }
        else
        {
            // Deleted and cleared: what was there before cannot be known.
            flow.end(op, OperationResult.OUTCOME_UNKNOWN);
        }
    }

    /**
     * The word that the attempt would have left. A block is one operation's own; but the marks that deletes of this
     * engine leave of one record are equal, so that another delete may have left it.
     */
    private void onOwnWord(final Operation op, final int entry, final long word)
    {
        final boolean isOwn = leavesOwnWord(op);
        if (!isOwn && flow.tombstones.isKnown(op.request.link, attempts.slotOffset(entry), word))
        {
            goOn(op);
        }
        else if (!isOwn && flow.isSwapping(op.request.link, attempts.slotOffset(entry), word))
        {
            // Its completion will tell.
            flow.go(op, Step.RESOLVE);
        }
        else if (!isOwn && flow.tombstones.isFull(op.request.link))
        {
            flow.end(op, OperationResult.OUTCOME_UNKNOWN);
        }
        else if (!isOwn && attempts.firstOfEqual(entry) != entry)
        {
            // Which of them left it cannot be known. The one that began first was under way then, whoever did.
            settle(op, attempts.firstOfEqual(entry));
            goOn(op);
        }
        else
        {
            applied(op, entry);
        }
    }

    /** Whether no other operation can leave the word that this one leaves. */
    private static boolean leavesOwnWord(final Operation op)
    {
        return OperationKind.storesValue(op.request.kind);
    }

    private void follow(final Operation op, final long word)
    {
        final int entry = attempts.find(op);
        // The words in blocks may have the windows of other depths.
        final long known = SlotWord.withoutWindow(word);
        if (known == SlotWord.withoutWindow(attempts.desiredWord(entry)))
        {
            applied(op, entry);
        }
        else if (known == SlotWord.withoutWindow(attempts.expectedWord(entry)))
        {
            goOn(op);
        }
        else if (word == SlotWord.EMPTY)
        {
            // Inserted anew after a delete.
            flow.end(op, OperationResult.OUTCOME_UNKNOWN);
        }
        else
        {
            op.target.word = word;
            flow.go(op, Step.RESOLVE_BLOCK);
        }
    }

    void onBlock(final Operation op)
    {
        final int block = op.base + Scratch.BLOCKS_OFFSET;
        final int entry = attempts.find(op);
        if (entry == Attempts.NONE || !flow.records.isValid(block, op.target.word) ||
            !flow.records.holdsKey(op, block))
        {
            flow.end(op, OperationResult.OUTCOME_UNKNOWN);
        }
        else if (attempts.state(entry) != Attempts.LOST)
        {
            startFrom(op, entry);
        }
        else if (attempts.blockVersion(entry) == 0 ? flow.records.isOwnBlockOf(op, block) :
            attempts.blockVersion(entry) == flow.records.version(block))
        {
            applied(op, entry);
        }
        else
        {
            follow(op, flow.records.predecessor(block));
        }
    }

    private void applied(final Operation op, final int entry)
    {
        settle(op, entry);
        op.repeats = false;
        op.answer.version = attempts.version(entry);
        op.answer.counter = attempts.counter(entry);
        flow.end(op, OperationKind.storesValue(op.request.kind) ? OperationResult.STORED : OperationResult.DELETED);
    }

    private void settle(final Operation op, final int entry)
    {
        if (attempts.state(entry) == Attempts.LOST && !OperationKind.storesValue(op.request.kind))
        {
            flow.tombstones.add(op, attempts.slotOffset(entry), attempts.desiredWord(entry));
        }
        attempts.applied(entry);
    }

    /** The first attempt had no effect. */
    void goOn(final Operation op)
    {
        final int entry = attempts.find(op);
        if (entry != Attempts.NONE)
        {
            attempts.notApplied(entry);
        }
        op.repeats = false;
        combiner.dropReported(op);
        flow.go(op, Step.START);
    }
}
