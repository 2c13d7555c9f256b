package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.format.SlotWord;
import org.agrona.collections.IntArrayQueue;

/**
 * Drives operations from step to step: posts a step's batch, takes its completion, parks an operation that has to wait,
 * ends it. What a step does stands in {@link StartStep}, {@link Lookups}, {@link SwapStep}, {@link Inserts} and {@link
 * ComputedValues}. An operation has at most one batch under way; whenever none is, its outcome so far is known.
 */
public final class OperationRunner
{
    public final Batch batch;
    final LocationCache cache;
    final EpochTracker epochs;
    public final EngineCounters counters = new EngineCounters();
    public final Records records;
    final Contention contention;
    final Attempts attempts = new Attempts();
    final Combiner combiner;
    private final boolean controlsContention;
    private final boolean repeatsLost;
    final RepeatStep repeats;
    private final Tombstones tombstones;
    private final OperationListener listener;
    private final IntArrayQueue parked;
    /** A stack: the slot used last is the one whose memory is near. */
    private final int[] freeSlots;
    private int freeSlotCount;
    private final Operation[] operations;
    private final Lookups lookups = new Lookups(this);
    private final SwapStep swaps = new SwapStep(this);
    private final Inserts inserts;
    final StartStep starts;
    private final ComputedValues computedValues;
    public long nowNs;
    private long earliestDeadlineNs = Long.MAX_VALUE;
    private int active;

    public OperationRunner(
        final Operation[] operations,
        final Scratch scratch,
        final LocationCache cache,
        final EpochTracker epochs,
        final boolean fencesReads,
        final OperationSettings configuration)
    {
        this.operations = operations;
        this.epochs = epochs;
        batch = new Batch(scratch, fencesReads, this);
        this.cache = cache;
        records = new Records(scratch, configuration);
        contention = new Contention(
            configuration.backoffMinNs(), configuration.backoffMaxNs(), operations.length, configuration.seed());
        controlsContention = configuration.controlsContention();
        combiner = new Combiner(this, operations.length);
        inserts = new Inserts(this, configuration.splitSource());
        listener = configuration.operationListener();
        repeatsLost = configuration.repeatsLostOutcomes();
        repeats = new RepeatStep(this);
        tombstones = new Tombstones(this);
        starts = new StartStep(this, configuration.chunkSource());
        computedValues = new ComputedValues(starts);
        parked = new IntArrayQueue(Math.max(8, operations.length), -1);
        freeSlots = new int[operations.length];
        for (int i = operations.length - 1; i >= 0; i--)
        {
            freeSlots[freeSlotCount++] = i;
        }
    }

    Lookups lookups()
    {
        return lookups;
    }

    Tombstones tombstones()
    {
        return tombstones;
    }

    ComputedValues computedValues()
    {
        return computedValues;
    }

    /** @return the operation of an index, or null for {@link Batch#NONE}. */
    Operation operation(final int index)
    {
        return index == Batch.NONE ? null : operations[index];
    }

    Inserts inserts()
    {
        return inserts;
    }

    public int active()
    {
        return active;
    }

    public int freeSlotCount()
    {
        return freeSlotCount;
    }

    /** @return a slot, or null when all are taken. */
    public Operation take()
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

    /** Whether a compare-and-swap that would leave this word is under way. Not on the hot path. */
    boolean isSwapping(final NodeLink link, final long slotOffset, final long word)
    {
        for (final Operation op : operations)
        {
            if (op.step == Step.SWAP && op.inFlight && op.request.link == link && op.target.offset == slotOffset &&
                op.target.desiredWord == word)
            {
                return true;
            }
        }
        return false;
    }

    /** Runs the first step; an operation that ends at once is reported by the next poll, never from within begin. */
    void begin(final Operation op)
    {
        earliestDeadlineNs = Math.min(earliestDeadlineNs, op.request.deadlineNs);
        op.beginning = true;
        go(op, Step.START);
        op.beginning = false;
    }

    /** Goes on with everything parked, once. */
    public int unpark()
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

    /** Enters a step: posts its batch now, or parks the operation until that is possible. */
    void go(final Operation op, final int step)
    {
        op.step = step;
        if (!op.reported && nowNs - op.request.deadlineNs >= 0)
        {
            // Memory that nobody refused may be there, behind a connection that is not.
            final boolean isRefused = op.block.wantsMemory &&
                (op.request.link.allocator.refusals() > op.block.refusalsSeen || op.request.link.allocator.isAtBound());
            end(op, isRefused ? OperationResult.NO_MEMORY : OperationResult.TIMED_OUT_NOT_APPLIED);
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

    /** Whether a writer may go on from its first step now; if not it waits, and begins that step again. */
    boolean mayWrite(final Operation op)
    {
        if (!controlsContention || !OperationKind.writes(op.request.kind))
        {
            return true;
        }
        if (combiner.join(op))
        {
            return false;
        }
        if (!op.pause.isAdmitted && !contention.admit())
        {
            park(op);
            return false;
        }
        op.pause.isAdmitted = true;
        return true;
    }

    /** Looks again after somebody was in the way, with a pause that grows. */
    void retry(final Operation op, final int lossesWithoutPause)
    {
        retry(op, lossesWithoutPause, Step.LOOK, Step.LOOK);
    }

    /** As {@link #retry(Operation, int)}, going on with one step at once or with another after a pause. */
    void retry(final Operation op, final int lossesWithoutPause, final int stepAtOnce, final int stepAfterPause)
    {
        counters.retries++;
        op.cost.retries++;
        op.cost.contentions++;
        final long pause = controlsContention ? contention.pauseNs(op.cost.contentions, lossesWithoutPause) : 0;
        op.pause.untilNs = pause == 0 ? 0 : nowNs + pause;
        go(op, pause == 0 ? stepAtOnce : stepAfterPause);
    }

    public void onComplete(final Operation op, final int status)
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
            dispatch(op);
        }
    }

    /** Takes the completion of a chain of operations; what they do next shares doorbells again. */
    public void onChainComplete(final Operation first, final int status)
    {
        final int cookie = first.cookie;
        batch.beginGroup();
        Operation op = first;
        while (op != null)
        {
            final Operation next = operation(op.nextInBatch);
            if (op.inFlight && op.cookie == cookie)
            {
                onComplete(op, status);
            }
            op = next;
        }
        batch.endGroup();
    }

    private void dispatch(final Operation op)
    {
        switch (op.step)
        {
            case Step.CACHED_READ -> lookups.onCachedRead(op);
            case Step.FOLLOW -> lookups.onFollow(op);
            case Step.SLOT_READ -> lookups.onSlotRead(op);
            case Step.HINTED_READ -> lookups.onHintedRead(op);
            case Step.LOOK, Step.PEEK -> lookups.scan(op);
            case Step.MATCH -> lookups.onMatch(op);
            case Step.SWAP -> swaps.onSwap(op);
            case Step.CLAIM -> inserts.onClaim(op);
            case Step.KILL -> inserts.onKill(op);
            case Step.COMMIT -> inserts.onCommit(op);
            case Step.WITHDRAW -> inserts.onWithdraw(op);
            case Step.MAKE_ROOM -> inserts.onMakeRoom(op);
            case Step.RESOLVE -> repeats.onSlot(op);
            case Step.RESOLVE_BLOCK -> repeats.onBlock(op);
            case Step.FREEZE, Step.READ_HASHES, Step.MOVE, Step.UNIT -> lookups.slotMoves().onStep(op);
            default -> throw new IllegalStateException("completion in step " + Step.name(op.step));
        }
    }

    void stage(final Operation op)
    {
        switch (op.step)
        {
            case Step.CACHED_READ -> lookups.stageCachedRead(op);
            case Step.FOLLOW, Step.RESOLVE_BLOCK -> lookups.stageFollow(op);
            case Step.SLOT_READ -> lookups.stageSlotRead(op);
            case Step.HINTED_READ -> lookups.stageHintedRead(op);
            case Step.LOOK -> lookups.stageLook(op);
            case Step.MATCH -> lookups.stageMatch(op);
            case Step.SWAP -> swaps.stageSwap(op);
            case Step.CLAIM -> inserts.stageClaim(op);
            case Step.KILL -> inserts.stageKill(op);
            case Step.COMMIT -> inserts.stageCommit(op);
            case Step.WITHDRAW -> inserts.stageWithdraw(op);
            case Step.MAKE_ROOM -> inserts.stageMakeRoom(op);
            case Step.RESOLVE -> repeats.stageSlot(op);
            case Step.PEEK -> lookups.stagePeek(op);
            case Step.FREEZE, Step.READ_HASHES, Step.MOVE, Step.UNIT -> lookups.slotMoves().stage(op);
            default -> throw new IllegalStateException("nothing to post in step " + Step.name(op.step));
        }
    }

    /** The doorbell of an operation's step rang, or could not. */
    void onRing(final Operation op, final boolean isPosted)
    {
        if (!isPosted)
        {
            // Nothing was posted: as if the room had been seen to be missing.
            park(op);
        }
    }

    private boolean canPost(final Operation op)
    {
        final OneSidedPort port = op.request.link.port;
        if (port != null && port.isReady())
        {
            if (batch.hasRoom(op))
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

    void park(final Operation op)
    {
        op.pause.waiting = true;
        parked.addInt(op.index);
    }

    /** Whether a result is not certain, for it is not known what became of the operation's first attempt. */
    static boolean isOpen(final Operation op, final int result)
    {
        return op.repeats && (result == OperationResult.TIMED_OUT_NOT_APPLIED ||
            result == OperationResult.NODE_UNAVAILABLE || result == OperationResult.NO_MEMORY);
    }

    /** Gives the listener the result; what is left to do afterwards, the operation does unseen. */
    public void report(final Operation op, final int result)
    {
        op.reported = true;
        op.answer.result = isOpen(op, result) ? OperationResult.OUTCOME_UNKNOWN : result;
        counters.operations[op.request.kind]++;
        counters.verbs[op.request.kind] += op.cost.verbs;
        counters.doorbells[op.request.kind] += op.cost.doorbells;
        counters.roundTrips[op.request.kind] += op.cost.roundTrips;
        counters.results[op.answer.result]++;
        listener.onOperationComplete(op);
    }

    /** Ends an operation with nothing under way: reports it, and takes a standing tentative word back. */
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
    public int expireDue()
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
        if (op.step == Step.SWAP)
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
            starts.restart(op);
        }
        else
        {
            end(op, Step.isDecisive(op.step) ? OperationResult.OUTCOME_UNKNOWN : OperationResult.NODE_UNAVAILABLE);
        }
    }

    /** Ends an operation whose new value cannot be made, or lets it wait for the block that it needs. */
    void endUnmade(final Operation op, final int reason)
    {
        if (reason == ComputedValues.NO_BLOCK)
        {
            op.block.isNeeded = true;
            starts.restart(op);
        }
        else
        {
            end(op, reason);
        }
    }

    /** Notes where a key is, and its value if that may be a counter. */
    void remember(
        final Operation op, final long slotOffset, final long word, final long version, final int blockAt)
    {
        final long entry = cache.put(
            op.request.hash.low(), op.request.hash.high(), op.request.table.tableId, slotOffset, word, version,
            op.beginEpoch);
        if (entry != LocationCache.NONE && records.valueLength(blockAt) == Long.BYTES)
        {
            cache.putCounter(entry, records.counter(blockAt));
        }
    }

    /** Notes whether what the location cache knew of the key was current. */
    void learn(final Operation op, final boolean wasCurrent)
    {
        cache.learn(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId, wasCurrent);
    }

    /** Cleans up after an operation that was reported while this batch was under way. */
    private void settle(final Operation op)
    {
        boolean isApplied = false;
        switch (op.step)
        {
            case Step.SWAP -> isApplied = swaps.settle(op);
            case Step.COMMIT -> isApplied = inserts.settleCommit(op);
            case Step.CLAIM -> op.claim.stands = inserts.claimTook(op);
            case Step.WITHDRAW -> op.claim.stands = false;
        }
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

    void release(final Operation op)
    {
        StartStep.giveBack(op);
        if (op.pause.isAdmitted)
        {
            contention.ended(op.cost.retries);
        }
        if (op.combining.leads)
        {
            combiner.onReleased(op);
        }
        op.step = Step.FREE;
        active--;
        freeSlots[freeSlotCount++] = op.index;
    }
}
