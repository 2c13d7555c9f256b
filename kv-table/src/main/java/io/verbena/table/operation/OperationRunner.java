package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.format.SlotWord;
import io.verbena.table.trace.OperationTrace;
import java.util.Arrays;
import org.agrona.collections.IntArrayQueue;
import org.agrona.concurrent.NanoClock;

/**
 * Drives operations from step to step: posts a step's batch, takes its completion, parks an operation that has to wait,
 * ends it. What a step does stands in {@link StartStep}, {@link Lookups}, {@link SwapStep}, {@link Inserts}, {@link
 * SlotMoves} and {@link RepeatStep}. An operation has at most one batch under way; whenever none is, its outcome so far
 * is known.
 */
final class OperationRunner extends OperationFlow
{
    final Combiner combiner;
    private final boolean repeatsLost;
    private final OperationListener listener;
    private final IntArrayQueue parked;
    /** A stack: the slot used last is the one whose memory is near. */
    private final int[] freeSlots;
    private int freeSlotCount;
    private final Inserts inserts;
    private final StartStep starts;
    private final Lookups lookups;
    private final SwapStep swaps;
    /** By their numbers. */
    private final Step[] steps = new Step[Step.COUNT];
    private long earliestDeadlineNs = Long.MAX_VALUE;
    private int active;

    OperationRunner(
        final Operation[] operations,
        final Scratch scratch,
        final LocationCache cache,
        final EpochTracker epochs,
        final boolean fencesReads,
        final NanoClock clock,
        final OperationSettings settings)
    {
        super(operations, scratch, cache, epochs, fencesReads, clock, settings);
        listener = settings.operationListener();
        repeatsLost = settings.repeatsLostOutcomes();
        combiner = new Combiner(this, operations.length);
        final RepeatStep repeats = new RepeatStep(this, combiner);
        starts = new StartStep(this, repeats, combiner, settings.chunkSource());
        final SlotMoves moves = new SlotMoves(this);
        lookups = new Lookups(this, moves);
        inserts = new Inserts(this, lookups, moves, combiner, settings.growthSource());
        swaps = new SwapStep(this);
        Arrays.fill(steps, new Step(OperationRunner::fail, OperationRunner::fail));
        steps[Step.CACHED_READ] = new Step(lookups::stageCachedRead, lookups::onCachedRead);
        steps[Step.FOLLOW] = new Step(lookups::stageFollow, lookups::onFollow);
        steps[Step.SLOT_READ] = new Step(lookups::stageSlotRead, lookups::onSlotRead);
        steps[Step.HINTED_READ] = new Step(lookups::stageHintedRead, lookups::onHintedRead);
        steps[Step.LOOK] = new Step(lookups::stageLook, lookups::scan);
        steps[Step.PEEK] = new Step(lookups::stagePeek, lookups::scan);
        steps[Step.MATCH] = new Step(lookups::stageMatch, lookups::onMatch);
        steps[Step.SWAP] = new Step(swaps::stageSwap, swaps::onSwap, swaps::settle);
        steps[Step.REMOVE] = new Step(swaps::stageRemove, swaps::onRemove, swaps::settleRemove);
        steps[Step.CLAIM] = new Step(inserts::stageClaim, inserts::onClaim, Inserts::settleClaim);
        steps[Step.KILL] = new Step(inserts::stageKill, inserts::onKill);
        steps[Step.COMMIT] = new Step(inserts::stageCommit, inserts::onCommit, inserts::committed);
        steps[Step.WITHDRAW] = new Step(inserts::stageWithdraw, inserts::onWithdraw, Inserts::settleWithdraw);
        steps[Step.MAKE_ROOM] = new Step(inserts::stageMakeRoom, inserts::onMakeRoom);
        steps[Step.SETTLE] =
            new Step(inserts.mirrored::stageSettlingBesideClaim, inserts::onSettledBesideClaim);
        steps[Step.RESOLVE] = new Step(repeats::stageSlot, repeats::onSlot);
        steps[Step.RESOLVE_BLOCK] = new Step(lookups::stageFollow, repeats::onBlock);
        steps[Step.FREEZE] = new Step(moves::stageFreeze, moves::onFreeze);
        steps[Step.READ_HASHES] = new Step(moves::stageReadHashes, moves::onReadHashes);
        steps[Step.MOVE] = new Step(moves::stageMove, moves::onMove);
        steps[Step.UNIT] = new Step(moves::stageUnit, moves::onUnit);
        parked = new IntArrayQueue(Math.max(8, operations.length), -1);
        freeSlots = new int[operations.length];
        for (int i = operations.length - 1; i >= 0; i--)
        {
            freeSlots[freeSlotCount++] = i;
        }
    }

    private static void fail(final Operation op)
    {
        throw new IllegalStateException("a step without a batch: " + op);
    }

    int active()
    {
        return active;
    }

    int freeSlotCount()
    {
        return freeSlotCount;
    }

    /** @return a slot, or null when all are taken. */
    Operation take()
    {
        if (freeSlotCount == 0)
        {
            return null;
        }
        active++;
        final Operation op = operations[freeSlots[--freeSlotCount]];
        op.reset();
        return op;
    }

    /** Takes back a slot in which nothing was begun. */
    void giveBack(final Operation op)
    {
        active--;
        freeSlots[freeSlotCount++] = op.index;
    }

    @Override
    public void preload(final Operation op)
    {
        starts.preload(op);
    }

    /** An operation that ends at once is reported by the next poll, never from within begin. */
    @Override
    public void begin(final Operation op)
    {
        earliestDeadlineNs = Math.min(earliestDeadlineNs, op.request.deadlineNs);
        op.beginning = true;
        go(op, Step.START);
        op.beginning = false;
    }

    /** Goes on with everything parked, once. */
    int unpark()
    {
        int worked = 0;
        for (int i = parked.size(); i > 0; i--)
        {
            final Operation op = operations[parked.pollInt()];
            op.pause.waiting = false;
            contention.comeBack(op);
            if (op.deferredResult >= 0)
            {
                final int result = op.deferredResult;
                op.deferredResult = -1;
                end(op, result);
            }
            else
            {
                go(op, op.step);
            }
            worked += op.pause.waiting ? 0 : 1;
        }
        return worked;
    }

    @Override
    void go(final Operation op, final int step)
    {
        op.step = step;
        if (op.block.wantsMemory && !op.reported && nowNs - op.block.refusedAtNs >= 0 && isRefusedMemory(op))
        {
            end(op, OperationResult.NO_MEMORY);
        }
        else if (!op.reported && nowNs - op.request.deadlineNs >= 0)
        {
            end(op, OperationResult.TIMED_OUT_NOT_APPLIED);
        }
        else if (!op.reported && op.pause.isOn(op.request, nowNs))
        {
            park(op);
        }
        else if (step == Step.START)
        {
            assert op.block.offset == BlockAllocator.NONE : "a block outside of epochs: " + op;
            starts.start(op);
        }
        else if (canPost(op))
        {
            counters.decisiveSwaps += Step.isDecisive(op.step) ? 1 : 0;
            batch.post(op);
        }
    }

    /** Memory that nobody refused may be there, behind a connection that is not. */
    private static boolean isRefusedMemory(final Operation op)
    {
        final BlockAllocator allocator = op.request.link.allocator;
        return allocator.refusals() > op.block.refusalsSeen || allocator.isAtBound();
    }

    void onComplete(final Operation op, final int status)
    {
        op.inFlight = false;
        if (status != WorkCompletionStatus.SUCCESS)
        {
            onLost(op);
        }
        else if (op.reported)
        {
            settle(op);
        }
        else
        {
            switch (op.step)
            {
                case Step.CACHED_READ -> lookups.onCachedRead(op);
                case Step.LOOK -> lookups.scan(op);
                case Step.MATCH -> lookups.onMatch(op);
                case Step.SWAP -> swaps.onSwap(op);
                default -> steps[op.step].onComplete(op);
            }
        }
    }

    /** Takes the completion of a chain of operations; what they do next shares doorbells again. */
    void onChainComplete(final Operation first, final int status)
    {
        final int cookie = first.cookie;
        batch.beginGroup();
        Operation op = first;
        while (op != null)
        {
            final Operation next = batch.operation(op.nextInBatch);
            if (op.inFlight && op.cookie == cookie)
            {
                onComplete(op, status);
            }
            op = next;
        }
        batch.endGroup();
    }

    /** Calls the steps of most operations by name: what is called through the table cannot be inlined. */
    @Override
    public void stage(final Operation op)
    {
        switch (op.step)
        {
            case Step.CACHED_READ -> lookups.stageCachedRead(op);
            case Step.LOOK -> lookups.stageLook(op);
            case Step.MATCH -> lookups.stageMatch(op);
            case Step.SWAP -> swaps.stageSwap(op);
            default -> steps[op.step].stage(op);
        }
    }

    @Override
    public void onRing(final Operation op, final boolean isPosted)
    {
        if (!isPosted)
        {
            // Nothing was posted: as if the room had been seen to be missing.
            park(op);
        }
        else
        {
            op.trace.posted(op.step, op.cost.stagedVerbs, 1 + op.cost.stagedExtraRoundTrips,
                op.request.link.memoryNodeId, op.trace.isFresh() ? OperationTrace.UNKNOWN_NS : clock.nanoTime());
        }
    }

    @Override
    public void onRefused(final Operation op)
    {
        counters.refusedSteps++;
        if (op.reported)
        {
            op.claim.stands = false;
            release(op);
        }
        else
        {
            // Nothing of this attempt happens any more; of one before it nothing is known yet.
            end(op, op.repeats ? OperationResult.OUTCOME_UNKNOWN : OperationResult.CORRUPT);
        }
    }

    @Override
    void insert(final Operation op)
    {
        inserts.insert(op);
    }

    @Override
    void judge(final Operation op)
    {
        inserts.judge(op);
    }

    @Override
    void onCommittedRival(final Operation op, final long slotOffset, final long word, final int block)
    {
        inserts.onCommittedRival(op, slotOffset, word, block);
    }

    private boolean canPost(final Operation op)
    {
        final OneSidedPort port = op.request.link.port;
        if (port != null && port.isReady())
        {
            if (batch.hasRoom(op, SlotMoves.requests(op)))
            {
                return true;
            }
            park(op);
        }
        else if (op.reported)
        {
            // Only a tentative word is left to take back; where the node cannot be reached it stays, harmless: readers
            // take it as absent, rivals and full pairs kill it.
            release(op);
        }
        else if (op.request.link.isLost() && !(op.repeats && repeatsLost))
        {
            op.claim.stands = false;
            end(op, OperationResult.NODE_UNAVAILABLE);
        }
        else if (port == null && op.step == Step.LOOK && op.cost.roundTrips == 0 &&
            op.block.offset == BlockAllocator.NONE)
        {
            // It has read nothing and has no block: it waits for a port without delaying epochs.
            op.step = Step.START;
            combiner.standAside(op);
            park(op);
        }
        else
        {
            contention.leave(op);
            park(op);
        }
        return false;
    }

    @Override
    void park(final Operation op)
    {
        op.pause.waiting = true;
        traceWait(op);
        parked.addInt(op.index);
    }

    /** Begins one that waits anew, with another block, when it goes on. */
    void writeAgain(final Operation op)
    {
        op.claim.stands = false;
        forgetAll(op);
        op.step = Step.START;
    }

    @Override
    void report(final Operation op, final int result)
    {
        op.reported = true;
        op.answer.result = op.isOpen(result) ? OperationResult.OUTCOME_UNKNOWN : result;
        counters.operations[op.request.kind]++;
        counters.verbs[op.request.kind] += op.cost.verbs;
        counters.doorbells[op.request.kind] += op.cost.doorbells;
        counters.roundTrips[op.request.kind] += op.cost.roundTrips;
        counters.results[op.answer.result]++;
        listener.onOperationComplete(op);
    }

    @Override
    void end(final Operation op, final int result)
    {
        if (op.beginning)
        {
            op.deferredResult = result;
            park(op);
            return;
        }
        combiner.finish(op, result);
        final boolean isLeftOut = op.combining.overflows && result == OperationResult.STORED;
        op.answer.version = isLeftOut ? op.target.version : op.answer.version;
        report(op, isLeftOut ? ComputedValues.resultOfLeftOut(op.request.kind) : result);
        leave(op);
    }

    /** Ends operations whose deadline has passed while they wait for an answer. @return how many. */
    int expireDue()
    {
        if (nowNs < earliestDeadlineNs)
        {
            return 0;
        }
        long earliest = Long.MAX_VALUE;
        int expired = 0;
        // The listener may begin operations while this goes on.
        earliestDeadlineNs = Long.MAX_VALUE;
        for (final Operation op : operations)
        {
            if (op.step != Step.FREE && !op.reported)
            {
                if ((op.inFlight || op.step == Step.COMBINED) && nowNs - op.request.deadlineNs >= 0)
                {
                    expire(op);
                    expired++;
                }
                else
                {
                    earliest = Math.min(earliest, op.request.deadlineNs);
                }
            }
        }
        earliestDeadlineNs = Math.min(earliestDeadlineNs, earliest);
        return expired;
    }

    /** Reports an operation whose deadline passed while a batch is under way; its completion then settles the rest. */
    private void expire(final Operation op)
    {
        contention.giveBack(op);
        if (op.step == Step.COMBINED)
        {
            combiner.expire(op);
        }
        else if (Step.isDecisive(op.step))
        {
            attempts.note(op, Attempts.PENDING);
            report(op, OperationResult.OUTCOME_UNKNOWN);
        }
        else
        {
            report(op, OperationResult.TIMED_OUT_NOT_APPLIED);
        }
    }

    private void onLost(final Operation op)
    {
        // A WRITE or compare-and-swap of the batch may or may not have happened, or happen yet: blocks it names are not
        // used again. Blocks of earlier batches are safe, because no later batch wrote or published them.
        final boolean wrote = op.step == Step.CLAIM && !op.block.isWritten;
        if (op.block.offset != BlockAllocator.NONE && (wrote || Step.isDecisive(op.step)))
        {
            counters.noteUnknown(op.block.sizeClass);
            op.block.offset = BlockAllocator.NONE;
            op.block.isWritten = false;
        }
        if (Step.removesWord(op.step))
        {
            counters.noteUnknown(SlotWord.sizeClass(op.target.word));
        }
        // One that was left out of the sum it swapped had no effect itself, but its batch may have: that stays unknown.
        if (Step.isDecisive(op.step) && !op.combining.overflows)
        {
            attempts.note(op, Attempts.LOST);
        }
        if (Step.isDecisive(op.step))
        {
            combiner.noteLost(op);
        }
        op.claim.stands = false;
        if (op.reported)
        {
            combiner.finish(op, Step.isDecisive(op.step) ?
                OperationResult.OUTCOME_UNKNOWN : OperationResult.TIMED_OUT_NOT_APPLIED);
            release(op);
        }
        else if (repeatsLost && Step.isDecisive(op.step) && !op.combining.overflows)
        {
            op.repeats = true;
            restart(op);
        }
        else if (repeatsLost && !Step.isDecisive(op.step) && op.request.link.isOfGroup)
        {
            // Nothing was decided, and the group goes on without the member that did not answer.
            restart(op);
        }
        else
        {
            end(op, Step.isDecisive(op.step) ? OperationResult.OUTCOME_UNKNOWN : OperationResult.NODE_UNAVAILABLE);
        }
    }

    /** Cleans up after an operation that was reported while this batch was under way. */
    private void settle(final Operation op)
    {
        final boolean isApplied = steps[op.step].settle(op);
        if (Step.isDecisive(op.step))
        {
            attempts.settle(op, isApplied && !op.combining.overflows);
        }
        combiner.finish(op, isApplied ? OperationResult.STORED : OperationResult.TIMED_OUT_NOT_APPLIED);
        leave(op);
    }

    /** Takes a standing tentative word back first. */
    private void leave(final Operation op)
    {
        if (op.claim.stands)
        {
            go(op, Step.WITHDRAW);
        }
        else
        {
            release(op);
        }
    }

    @Override
    void release(final Operation op)
    {
        OwnBlocks.giveBack(op);
        if (op.pause.isAdmitted)
        {
            contention.ended(op.cost.retries);
        }
        if (op.combining.leads)
        {
            combiner.onReleased(op);
        }
        op.step = Step.FREE;
        giveBack(op);
    }
}
