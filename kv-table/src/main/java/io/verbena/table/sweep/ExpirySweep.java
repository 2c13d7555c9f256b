package io.verbena.table.sweep;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.BatchCookies;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationResult;

/**
 * Takes records of a few groups away whose deadline has passed: READs the groups, then the header line of the block of
 * each record, where its deadline stands; then the whole block of those that are behind it, and swaps what is valid for
 * a tombstone, as an operation does that meets such a record. One doorbell at a time.
 *
 * <p>It belongs to the epoch in which its groups were read, until its last swap is answered: no block named by a word
 * that it read is used again before, so that the word in the slot, if it is still the same, is that of the same record.
 * It passes by what it cannot judge: slots that are frozen or not initialised, groups of a subtable that was split or
 * merged, damaged words and blocks. A later walk comes back to the first two.
 *
 * <p>Owner thread of the engine only; one range at a time. Made by {@code TableEngine.sweep()}.
 */
public final class ExpirySweep
{
    /** Cookie of its batches. */
    public static final int COOKIE = BatchCookies.SWEEP;
    /** Groups of one range: few, so that the range does not delay epochs for long. */
    public static final int GROUPS = 12;
    private static final int SLOTS = GROUPS * BucketDescriptor.SLOTS_PER_GROUP;
    /** READs of header lines behind one doorbell. */
    private static final int MOST_HEADS = 64;
    private static final int HEAD_BYTES = BlockDescriptor.HEADER_BYTES;
    private static final int GROUPS_AT = 0;
    private static final int HEADS_AT = GROUPS_AT + GROUPS * BucketDescriptor.GROUP_BYTES;
    private static final int RESULTS_AT = HEADS_AT + MOST_HEADS * HEAD_BYTES;
    private static final int BLOCKS_AT = (RESULTS_AT + SweptRecords.RESULT_BYTES + 63) / 64 * 64;
    private static final int BLOCKS_BYTES = SizeClasses.MAX_BLOCK_BYTES;
    private static final int MEMORY_BYTES = BLOCKS_AT + BLOCKS_BYTES;

    private enum Step
    {
        CLEAR, READ_GROUPS, READ_HEADS, READ_BLOCKS, REMOVE
    }

    private final ProtectionDomain protectionDomain;
    private final EpochTracker epochs;
    private final ExpiryClock expiryClock;
    private final SweptRecords swept;
    private final EngineCounters counters;
    private final long[] slotOffsets = new long[SLOTS];
    private final long[] words = new long[SLOTS];
    /** Of the records whose header lines were read last, those that are behind their deadline. */
    private final int[] expired = new int[MOST_HEADS];
    private Scratch scratch;
    private OpenTable table;
    private Subtable subtable;
    private NodeLink link;
    private int firstGroup;
    private int groups;
    private long deadlineNs;
    private long beginEpoch;
    private Step step = Step.READ_GROUPS;
    private boolean isRunning;
    private boolean inFlight;
    private boolean waitsForEpoch;
    private int records;
    private int nextRecord;
    private int heads;
    private int expiredCount;
    private int nextExpired;
    private int blocks;
    private int deadlines;
    private int result;

    public ExpirySweep(
        final ProtectionDomain protectionDomain,
        final EpochTracker epochs,
        final ExpiryClock expiryClock,
        final SweptRecords swept,
        final EngineCounters counters)
    {
        this.protectionDomain = protectionDomain;
        this.epochs = epochs;
        this.expiryClock = expiryClock;
        this.swept = swept;
        this.counters = counters;
    }

    /**
     * Begins a range; {@link #isRunning()} until it has ended, by the engine's polls.
     *
     * @param ofTable  opened by the engine.
     * @param part     subtable of it as the engine knows it.
     * @param from     first group, 0 to one less than there are; {@link #GROUPS} are swept, or as many as follow.
     * @param deadline instant of the engine's clock, behind which nothing more is posted.
     */
    public void begin(final OpenTable ofTable, final Subtable part, final int from, final long deadline)
    {
        if (isRunning)
        {
            throw new IllegalStateException("one range at a time: " + this);
        }
        if (from < 0 || from >= ofTable.groupCount)
        {
            throw new IllegalArgumentException("from=" + from + " (0 to " + (ofTable.groupCount - 1) + ')');
        }
        if (scratch == null)
        {
            scratch = new Scratch(protectionDomain, MEMORY_BYTES);
        }
        table = ofTable;
        subtable = part;
        link = ofTable.link(part.suffix() & ofTable.descriptor().subtableCount() - 1);
        firstGroup = from;
        groups = Math.min(GROUPS, ofTable.groupCount - from);
        deadlineNs = deadline;
        beginEpoch = epochs.epoch();
        records = 0;
        deadlines = 0;
        isRunning = true;
        swept.begin(ofTable, link);
        waitsForEpoch = false;
        step = swept.areTombstonesMany() ? Step.CLEAR : Step.READ_GROUPS;
    }

    /** @return whether the range has not ended; a request may be under way then, and none otherwise. */
    public boolean isRunning()
    {
        return isRunning;
    }

    /** @return how the range ended: FOUND, or what {@link OperationResult} calls the failure. */
    public int result()
    {
        return result;
    }

    /** @return records with a deadline that the range has met, passed or not. */
    public int deadlines()
    {
        return deadlines;
    }

    /** @return whether the last range ended because tombstones have to be cleared first, behind an epoch. */
    public boolean wantsEpochs()
    {
        return waitsForEpoch;
    }

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    public long heldEpoch()
    {
        return isRunning ? beginEpoch : Long.MAX_VALUE;
    }

    public boolean isInFlightAt(final NodeLink node)
    {
        return inFlight && link == node;
    }

    public int poll(final long nowNs)
    {
        if (!isRunning || inFlight)
        {
            return 0;
        }
        final OneSidedPort port = link.port;
        if (table.isClosed())
        {
            end(OperationResult.TABLE_CHANGED);
        }
        else if (port == null || port.isFailed() || !port.isReady())
        {
            // It does not wait for the node: that would delay epochs.
            end(OperationResult.NODE_UNAVAILABLE);
        }
        else if (nowNs - deadlineNs >= 0)
        {
            end(OperationResult.TIMED_OUT_NOT_APPLIED);
        }
        else if (port.space() < Math.max(OneSidedPort.LEAST_SPACE, swept.count()))
        {
            return 0;
        }
        else
        {
            post(port);
        }
        return 1;
    }

    private void post(final OneSidedPort port)
    {
        port.begin();
        // Operations find room beside it.
        final int space = Math.max(Math.max(OneSidedPort.LEAST_SPACE, swept.count()), port.space() / 2);
        final int staged = switch (step)
        {
            case CLEAR, REMOVE -> swept.stage(port, scratch, RESULTS_AT, space);
            case READ_GROUPS -> stageGroups(port);
            case READ_HEADS -> stageHeads(port, space);
            case READ_BLOCKS -> stageBlocks(port, space);
        };
        if (staged == 0)
        {
            port.abort();
            onAnswer();
        }
        else if (port.complete(COOKIE) == PostStatus.OK)
        {
            inFlight = true;
        }
        else
        {
            swept.onNotPosted();
            end(OperationResult.NODE_UNAVAILABLE);
        }
    }

    /** Takes the completion of its batch. */
    public void onComplete(final int status)
    {
        if (!inFlight)
        {
            return;
        }
        inFlight = false;
        if (status == WorkCompletionStatus.SUCCESS)
        {
            onAnswer();
        }
        else
        {
            swept.onLost();
            end(OperationResult.NODE_UNAVAILABLE);
        }
    }

    private void onAnswer()
    {
        switch (step)
        {
            case CLEAR ->
            {
                swept.onSwapped(scratch, RESULTS_AT);
                // Those that were cleared made room, or else the next range finds it.
                step = Step.READ_GROUPS;
                waitsForEpoch = swept.areTombstonesMany();
                if (waitsForEpoch)
                {
                    end(OperationResult.NO_MEMORY);
                }
            }
            case READ_GROUPS -> onGroups();
            case READ_HEADS -> onHeads();
            case READ_BLOCKS -> onBlocks();
            case REMOVE ->
            {
                swept.onSwapped(scratch, RESULTS_AT);
                goOn();
            }
        }
    }

    private int stageGroups(final OneSidedPort port)
    {
        port.read(scratch.region, GROUPS_AT, groups * BucketDescriptor.GROUP_BYTES, subtable.groupOffset(firstGroup));
        return 1;
    }

    private void onGroups()
    {
        final long header = subtable.header(table.tableId);
        for (int group = 0; group < groups; group++)
        {
            final long strange = strangeHeader(group, header);
            if (strange == header)
            {
                collect(group);
            }
            else
            {
                learn(strange);
            }
        }
        nextRecord = 0;
        heads = 0;
        expiredCount = 0;
        nextExpired = 0;
        goOn();
    }

    private long strangeHeader(final int group, final long header)
    {
        final int at = GROUPS_AT + group * BucketDescriptor.GROUP_BYTES;
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            final long found = scratch.word(at + bucket * BucketDescriptor.BUCKET_BYTES);
            if (found != header)
            {
                return found;
            }
        }
        return header;
    }

    /** What takes the subtable's place is for the next walk; the engine hears of it as from an operation. */
    private void learn(final long found)
    {
        final long at = subtable.offset() + SubtableDescriptor.GROUPS_OFFSET;
        if ((SplitLink.isLink(found) || MergeLink.isLink(found)) &&
            table.mayLead(at, found, link.port.regionLengthBytes()))
        {
            table.learn(subtable.suffix(), subtable.depth(), at, found);
        }
    }

    private void collect(final int group)
    {
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final int position = BucketDescriptor.slotPosition(group * BucketDescriptor.SLOTS_PER_GROUP + slot);
            final long word = scratch.word(GROUPS_AT + position);
            if (!SlotWord.isCommitted(word))
            {
                continue;
            }
            if (!isInRegion(word))
            {
                counters.sweepDamaged++;
                continue;
            }
            slotOffsets[records] = subtable.groupOffset(firstGroup) + position;
            words[records++] = word;
        }
    }

    private boolean isInRegion(final long word)
    {
        return SlotWord.blockOffset(word) > 0 && SlotWord.blockOffset(word) + lengthBytes(word) <=
            link.port.regionLengthBytes();
    }

    private static int lengthBytes(final long word)
    {
        return SizeClasses.lengthBytes(SlotWord.sizeClass(word));
    }

    private int stageHeads(final OneSidedPort port, final int space)
    {
        heads = Math.min(Math.min(MOST_HEADS, space), records - nextRecord);
        for (int i = 0; i < heads; i++)
        {
            port.read(scratch.region, HEADS_AT + i * HEAD_BYTES, HEAD_BYTES,
                SlotWord.blockOffset(words[nextRecord + i]));
        }
        return heads;
    }

    private void onHeads()
    {
        expiredCount = 0;
        nextExpired = 0;
        for (int i = 0; i < heads; i++)
        {
            // Only the whole block tells whether this is what was published: it is read before anything is done.
            final long expiryMs = BlockDescriptor.expiryMs(scratch.buffer, HEADS_AT + i * HEAD_BYTES);
            deadlines += expiryMs == 0 ? 0 : 1;
            if (expiryClock.isPast(expiryMs))
            {
                expired[expiredCount++] = nextRecord + i;
            }
        }
        counters.sweepReads += heads;
        nextRecord += heads;
        goOn();
    }

    private int stageBlocks(final OneSidedPort port, final int space)
    {
        int used = 0;
        blocks = 0;
        while (nextExpired + blocks < expiredCount && blocks < Math.min(space, SweptRecords.MOST))
        {
            final long word = words[expired[nextExpired + blocks]];
            if (used + lengthBytes(word) > BLOCKS_BYTES)
            {
                break;
            }
            port.read(scratch.region, BLOCKS_AT + used, lengthBytes(word), SlotWord.blockOffset(word));
            used += lengthBytes(word);
            blocks++;
        }
        return blocks;
    }

    private void onBlocks()
    {
        int at = BLOCKS_AT;
        for (int i = 0; i < blocks; i++)
        {
            final int record = expired[nextExpired++];
            final int length = lengthBytes(words[record]);
            if (!BlockDescriptor.isValid(scratch.buffer, at, length, words[record]) ||
                BlockDescriptor.tableId(scratch.buffer, at) != table.tableId)
            {
                counters.sweepDamaged++;
            }
            else if (expiryClock.isPast(BlockDescriptor.expiryMs(scratch.buffer, at)))
            {
                swept.add(slotOffsets[record], words[record], scratch.address + at + BlockDescriptor.KEY_OFFSET,
                    BlockDescriptor.keyLength(scratch.buffer, at));
            }
            at += length;
        }
        if (swept.count() > 0)
        {
            step = Step.REMOVE;
        }
        else
        {
            goOn();
        }
    }

    private void goOn()
    {
        if (nextExpired < expiredCount)
        {
            step = Step.READ_BLOCKS;
        }
        else if (nextRecord < records)
        {
            step = Step.READ_HEADS;
        }
        else
        {
            end(OperationResult.FOUND);
        }
    }

    private void end(final int howItEnded)
    {
        result = howItEnded;
        isRunning = false;
        if (howItEnded == OperationResult.FOUND)
        {
            counters.sweepRanges++;
        }
        else
        {
            counters.sweepRangesLeft++;
        }
    }

    /** Ends it when no request can touch its memory any more. */
    public void close()
    {
        inFlight = false;
        if (isRunning)
        {
            end(OperationResult.NODE_UNAVAILABLE);
        }
        if (scratch != null)
        {
            scratch.close();
            scratch = null;
        }
    }

    @Override
    public String toString()
    {
        return "ExpirySweep{running=" + isRunning + " inFlight=" + inFlight + " step=" + step + ' ' + subtable +
            " group=" + firstGroup + " records=" + records + " result=" + OperationResult.name(result) + '}';
    }
}
