package io.verbena.table.operation;

import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.CounterValue;
import org.agrona.concurrent.NanoClock;

/**
 * What the steps of operations see of the runner: the parts that all of them use, and the ways in which an operation
 * goes on. A class, not an interface: only the runner extends it, so that a call costs nothing.
 */
abstract class OperationFlow implements Batch.Owner
{
    final Operation[] operations;
    final Batch batch;
    final LocationCache cache;
    final EpochTracker epochs;
    final EngineCounters counters = new EngineCounters();
    final Records records;
    final Contention contention;
    final Attempts attempts = new Attempts();
    final Tombstones tombstones;
    final OwnBlocks blocks;
    final ComputedValues computedValues;
    final ExpiryClock expiryClock;
    final boolean controlsContention;
    final NanoClock clock;
    long nowNs;

    OperationFlow(
        final Operation[] operations,
        final Scratch scratch,
        final LocationCache cache,
        final EpochTracker epochs,
        final boolean fencesReads,
        final NanoClock clock,
        final OperationSettings settings)
    {
        this.clock = clock;
        this.operations = operations;
        this.cache = cache;
        this.epochs = epochs;
        batch = new Batch(operations, scratch, fencesReads, this);
        records = new Records(scratch, settings);
        contention = new Contention(
            settings.backoffMinNs(), settings.backoffMaxNs(), operations.length, settings.seed());
        controlsContention = settings.controlsContention();
        tombstones = new Tombstones(epochs, counters, batch, records);
        blocks = new OwnBlocks(settings.chunkSource());
        computedValues = new ComputedValues(blocks);
        expiryClock = new ExpiryClock(settings.expiryClock());
    }

    /** Enters a step: posts its batch now, or parks the operation until that is possible. */
    abstract void go(Operation op, int step);

    /** Lets an operation wait for the next poll. */
    abstract void park(Operation op);

    /** Enters in its trace that an operation waits, unless it did so already. */
    final void traceWait(final Operation op)
    {
        if (!op.trace.isWaiting() && !op.reported)
        {
            op.trace.waits(op.step, op.request.link.memoryNodeId, clock.nanoTime());
        }
    }

    /** Ends an operation with nothing under way: reports it, and takes a standing tentative word back. */
    abstract void end(Operation op, int result);

    /** Gives the listener the result; what is left to do afterwards, the operation does unseen. */
    abstract void report(Operation op, int result);

    /** Frees the slot of an operation that was reported. */
    abstract void release(Operation op);

    /** A look found the key absent: goes on to insert it. */
    abstract void insert(Operation op);

    /** The re-read of an insert found no other committed word of its key. */
    abstract void judge(Operation op);

    /** The re-read of an insert found its key there, in the block given. */
    abstract void onCommittedRival(Operation op, long slotOffset, long word, int block);

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

    /** As {@link #retry(Operation, int)}, with another block, for which it may have to wait. */
    void retryAnew(final Operation op, final int lossesWithoutPause)
    {
        forgetAll(op);
        retry(op, lossesWithoutPause, Step.START, Step.START);
    }

    /** Keeps neither what an operation read nor a block. */
    static void forgetAll(final Operation op)
    {
        OwnBlocks.giveBack(op);
        op.forget();
    }

    /**
     * Begins again, as an operation that has not begun: it keeps neither what it read nor a block. In the first step an
     * operation does not delay epochs, so that the block's chunk may be reclaimed while it waits.
     */
    void restart(final Operation op)
    {
        forgetAll(op);
        go(op, Step.START);
    }

    /** Ends an operation whose new value cannot be made, or lets it wait for the block that it needs. */
    void endUnmade(final Operation op, final int reason)
    {
        if (reason == ComputedValues.NO_BLOCK)
        {
            op.block.isNeeded = true;
            restart(op);
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
        if (entry != LocationCache.NONE)
        {
            rememberValue(entry, blockAt);
        }
    }

    /** @return whether the record of a valid block that is the key's is absent, since its deadline has passed. */
    boolean isExpired(final int block)
    {
        return expiryClock.isPast(records.expiryMs(block));
    }

    /** Notes what a writer may have to know of the block under the word that is cached: a deadline, or a counter. */
    void rememberValue(final long entry, final int blockAt)
    {
        if (records.expiryMs(blockAt) != 0)
        {
            cache.putDeadline(entry, records.expiryMs(blockAt));
        }
        else
        {
            final int form = records.counterForm(blockAt);
            if (form != CounterValue.NONE)
            {
                cache.putCounter(entry, records.counter(blockAt, form), form);
            }
        }
    }

    /** Notes whether what the location cache knew of the key was current. */
    void learn(final Operation op, final boolean wasCurrent)
    {
        cache.learn(op.request.hash.low(), op.request.hash.high(), op.request.table.tableId, wasCurrent);
    }

    /** Whether a compare-and-swap that would leave this word is under way. Not on the hot path. */
    boolean isSwapping(final NodeLink link, final long slotOffset, final long word)
    {
        for (final Operation op : operations)
        {
            if (Step.removesWord(op.step) && op.inFlight && op.request.link == link && op.target.offset == slotOffset &&
                op.target.desiredWord == word)
            {
                return true;
            }
        }
        return link.removals.contains(slotOffset, word);
    }
}
