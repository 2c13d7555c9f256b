package io.verbena.table.operation;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.allocation.HeldConsumer;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import org.agrona.concurrent.NanoClock;

/** The point operations of one engine, each in a slot made with it. Owner thread of the engine only. */
public final class PointOperations
{
    private final Scratch scratch;
    private final Operation[] operations;
    private final OperationRunner runner;
    private long sequence;
    private long repeatedSequence;
    /** Has its key and value, and is not begun; or null. */
    private Operation staged;

    /**
     * @param count       operations under way at once.
     * @param scratch     {@link Scratch#SLOT_STRIDE} bytes for each.
     * @param cache       of locations; both outlive this.
     * @param epochs      of the engine.
     * @param fencesReads whether the device orders READs behind atomics by a fence only.
     * @param clock       of the engine.
     * @param settings    read now, not kept.
     */
    public PointOperations(
        final int count,
        final Scratch scratch,
        final LocationCache cache,
        final EpochTracker epochs,
        final boolean fencesReads,
        final NanoClock clock,
        final OperationSettings settings)
    {
        this.scratch = scratch;
        operations = new Operation[count];
        for (int i = 0; i < count; i++)
        {
            operations[i] = new Operation(i, scratch);
        }
        runner = new OperationRunner(operations, scratch, cache, epochs, fencesReads, clock, settings);
    }

    /** Makes the next operation begun a repetition of an earlier one. */
    public void repeatNext(final long operationSequence)
    {
        repeatedSequence = operationSequence;
    }

    /** As the engine's method of that name. @return false when every slot is taken. */
    public boolean stage(final TableRequest asked)
    {
        if (staged != null)
        {
            throw new IllegalStateException("another operation is staged: begin or withdraw it first");
        }
        final int valueLength = asked.checkedValueLength();
        final Operation op = runner.take();
        if (op == null)
        {
            return false;
        }
        final Request request = op.request;
        request.kind = asked.kind;
        request.takeTable(asked.table);
        request.keyLength = asked.keyLength;
        request.valueLength = asked.kind == OperationKind.INCREMENT ? Long.BYTES : valueLength;
        request.suffixLength = valueLength;
        request.delta = asked.delta;
        request.isInDigits = asked.isInDigits;
        request.expectedVersion = asked.expectedVersion;
        request.expiry = OperationKind.takesExpiry(asked.kind) ?
            runner.expiryClock.resolve(asked.expiry) : Expiry.KEEP;
        if (request.expiry > Expiry.NONE)
        {
            asked.table.noteDeadline();
        }
        request.expiryCondition = asked.expiryCondition;
        request.deadlineNs = asked.deadlineNs;
        request.correlationId = asked.correlationId;
        op.repeats = repeatedSequence != 0;
        request.sequence = op.repeats ? repeatedSequence : ++sequence;
        repeatedSequence = 0;
        final int keyAt = op.ownBlock() + BlockDescriptor.KEY_OFFSET;
        asked.copyKeyTo(scratch, keyAt);
        request.hash.compute(asked.table.hashFunction, scratch.address + keyAt, asked.keyLength);
        op.block.sizeClass = SizeClasses.classFor(BlockDescriptor.recordLength(asked.keyLength, request.valueLength));
        request.takeLink(asked.table.link(KeyHash.suffix(request.hash.high(), asked.table.depth)));
        runner.batch.preload(op);
        asked.copyValueTo(scratch, keyAt + asked.keyLength);
        staged = op;
        return true;
    }

    /** As the engine's method of that name. */
    public void beginStaged()
    {
        runner.batch.start(takeStaged());
    }

    /** As the engine's method of that name. */
    public void withdrawStaged()
    {
        runner.giveBack(takeStaged());
    }

    private Operation takeStaged()
    {
        if (staged == null)
        {
            throw new IllegalStateException("no operation is staged");
        }
        final Operation op = staged;
        staged = null;
        return op;
    }

    /** As the engine's method of that name. */
    public long timeToLiveMs(final long expiryMs)
    {
        return runner.expiryClock.timeToLiveMs(expiryMs);
    }

    /** Steps begun from now on wait for one doorbell. */
    public void beginGroup()
    {
        runner.batch.beginGroup();
    }

    /** Rings the doorbells of the outermost group. */
    public void endGroup()
    {
        runner.batch.endGroup();
    }

    /** What is staged for a port that is given up waits for another one. */
    public void drop(final NodeLink link)
    {
        runner.batch.drop(link);
    }

    /** The port of a node is lost, and with it what was under way there. */
    public void onDetached(final NodeLink link)
    {
        for (final Operation op : operations)
        {
            if (op.inFlight && op.request.link == link)
            {
                runner.onComplete(op, WorkCompletionStatus.WR_FLUSH_ERR);
            }
        }
    }

    /**
     * A memory node has come in that does not have the blocks which operations have written: what holds one begins
     * again, as if a batch of it had been under way when the last port was lost. That goes for claims too, which do not
     * outlast a view. Nothing is under way.
     */
    public void writeAgain(final NodeLink link)
    {
        for (final Operation op : operations)
        {
            if (!op.reported && holdsBlock(op, link))
            {
                runner.writeAgain(op);
            }
        }
    }

    /** Takes the completion of a batch. */
    public void onComplete(final int cookie, final int status)
    {
        final Operation op = operations[Batch.indexOf(cookie)];
        if (op.inFlight && op.cookie == cookie)
        {
            if (op.nextInBatch == Batch.NONE)
            {
                runner.onComplete(op, status);
            }
            else
            {
                runner.onChainComplete(op, status);
            }
        }
    }

    /** @param versionClockNs time of versions. */
    public void readClocks(final long nowNs, final long versionClockNs)
    {
        runner.nowNs = nowNs;
        runner.records.clockNs = versionClockNs;
    }

    /** Goes on with operations that waited. @return work done. */
    public int unpark()
    {
        return runner.unpark();
    }

    /** Ends those whose deadline has passed. @return how many. */
    public int expireDue()
    {
        return runner.expireDue();
    }

    /** @return operations under way. */
    public int active()
    {
        return runner.active();
    }

    /** @return operations that can be begun before one ends. */
    public int freeSlots()
    {
        return runner.freeSlotCount();
    }

    /** @return running totals, live. */
    public EngineCounters counters()
    {
        return runner.counters;
    }

    /** @return the word that a removal of this engine leaves in the place of another. */
    public long tombstone(final long removedWord)
    {
        return runner.records.tombstone(removedWord);
    }

    /** @return the word that this engine leaves in a slot that it empties, another one each time. */
    public long emptied()
    {
        return runner.records.emptied();
    }

    /**
     * A sweep has swapped the word of a record for a tombstone, or has found that somebody else had changed it.
     *
     * @param hash      of the key.
     * @param isRemoved whether the sweep took the word away; it owns its block then, which is retired.
     */
    public void onSwept(
        final OpenTable table, final NodeLink link, final KeyHash hash, final long slotOffset, final long word,
        final boolean isRemoved)
    {
        runner.cache.remove(hash.low(), hash.high(), table.tableId, word);
        if (isRemoved)
        {
            runner.attempts.onReplaced(hash.low(), slotOffset, word);
            // Who removes a committed word retires its block, nobody else.
            link.allocator.retire(word);
            runner.tombstones.add(
                link, table, Request.isInPresentSubtable(table, hash, slotOffset), slotOffset, tombstone(word));
            runner.counters.expiredSwept++;
        }
    }

    /** A sweep does not know whether it took a word away: its connection is lost. */
    public void onSweepLost(final long word)
    {
        runner.counters.noteUnknown(SlotWord.sizeClass(word));
    }

    /** @return whether so many tombstones wait to be cleared that a sweep should leave no more for now. */
    public boolean areTombstonesMany(final NodeLink link)
    {
        return link.tombstones.words.size() >= Tombstones.CAPACITY / 2;
    }

    /**
     * Stages the clearing of tombstones whose time has come, in a batch that is open.
     *
     * @param resultAt where all that the swaps find lands; it is of no use.
     * @param most     tombstones.
     * @return how many.
     */
    public int stageClearing(
        final NodeLink link, final OneSidedPort port, final Scratch local, final int resultAt, final int most)
    {
        return runner.tombstones.stageClearing(link, port, local, resultAt, most);
    }

    /** @return whether one waits for memory. */
    public boolean wantMemory()
    {
        boolean wants = false;
        for (final Operation op : operations)
        {
            wants |= op.step == Step.START && op.block.wantsMemory;
        }
        return wants;
    }

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    public long heldEpoch()
    {
        long oldest = Long.MAX_VALUE;
        for (final Operation op : operations)
        {
            if (hasBegunToRead(op))
            {
                oldest = Math.min(oldest, op.beginEpoch);
            }
        }
        return oldest;
    }

    /**
     * One that waits for memory or for another writer has read nothing yet. It must not delay the very epoch it waits
     * for.
     */
    private static boolean hasBegunToRead(final Operation op)
    {
        return op.step != Step.FREE && op.step != Step.COMBINED && op.step != Step.START;
    }

    /** Gives the blocks that operations hold of a memory node to a consumer. */
    public void forEachHeld(final NodeLink link, final HeldConsumer consumer)
    {
        for (final Operation op : operations)
        {
            if (holdsBlock(op, link))
            {
                consumer.accept(HeldConsumer.IN_FLIGHT, op.block.offset, SizeClasses.lengthBytes(op.block.sizeClass));
            }
        }
    }

    /** @return bytes of those blocks; allocates nothing. */
    public long heldBytes(final NodeLink link)
    {
        long bytes = 0;
        for (final Operation op : operations)
        {
            bytes += holdsBlock(op, link) ? SizeClasses.lengthBytes(op.block.sizeClass) : 0;
        }
        return bytes;
    }

    private static boolean holdsBlock(final Operation op, final NodeLink link)
    {
        return op.step != Step.FREE && op.request.link == link && op.block.offset != BlockAllocator.NONE;
    }

    /** Ends every operation as if its connection had failed; its requests touch local memory no more. */
    public void endAll()
    {
        for (final Operation op : operations)
        {
            if (op.step != Step.FREE && !op.reported)
            {
                runner.report(op, op.inFlight && Step.isDecisive(op.step) ? OperationResult.OUTCOME_UNKNOWN :
                    Combiner.resultWithoutLeader(op, OperationResult.NODE_UNAVAILABLE));
            }
            op.inFlight = false;
        }
    }

    /** What waits for the end of a group is not begun any more. */
    public void close()
    {
        runner.batch.close();
    }

    @Override
    public String toString()
    {
        final StringBuilder text = new StringBuilder("active=" + runner.active());
        for (final Operation op : operations)
        {
            text.append(op.step == Step.FREE ? "" : " " + op);
        }
        return text.toString();
    }
}
