package io.verbena.table.scan;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.BatchCookies;
import io.verbena.table.access.Scratch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.NodeLink;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.expiry.ExpiryClock;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.moving.MergeUnit;
import io.verbena.table.moving.MoveBatch;
import io.verbena.table.operation.OperationResult;

import org.agrona.DirectBuffer;

/**
 * Walks the records of a table, a range at a time: one READ for many groups, then one doorbell for many of the blocks
 * that their words name. Groups come in the order in which they lie in memory, the records of a group in that of their
 * hashes, see {@link Cursor}.
 *
 * <p>What it promises: a key that is present from the beginning of a walk over all positions to its end is returned at
 * least once, with a value that it had at some instant of that range's turn, and once only unless its subtable was
 * split after the walk had come to it and before it had left it; a key that is never there is never returned. A key
 * that is written, or deleted and written again, meanwhile may be returned, or not, or twice. A record whose deadline
 * has passed by this node's clock is left out. It rests on this: a key keeps its group and its hash as long as it is
 * present, an update swaps the word in its slot, a split moves it to the same slot and a merge to another one of the
 * same group, whose words are all read at a time and none of which is passed by because of its slot; and the scan
 * belongs to the epoch in which its range began, so that no block named by a word it has read is used again before it
 * has read the block.
 *
 * <p>Owner thread of the engine only; one range at a time. Made by {@code TableEngine.scan()}.
 */
public final class TableScan
{
    /** Takes what a scan meets. */
    @FunctionalInterface
    public interface Sink
    {
        /**
         * Takes a record.
         *
         * @param block       a whole block from the given offset on, see {@link BlockDescriptor}; for this call only.
         * @param blockOffset of its first byte.
         * @param behind      position from which a range goes on behind this record, or {@link TableScan#END}.
         * @return false if there is no room for it: then the range ends before it.
         */
        boolean onRecord(DirectBuffer block, int blockOffset, long behind);

        /** @return whether it takes only those whose deadline has passed, instead of only the others. */
        default boolean takesExpired()
        {
            return false;
        }
    }

    /** {@link #position()} when all was walked. */
    public static final long END = -1;
    /** Cookie of its batches. */
    public static final int COOKIE = BatchCookies.SCAN;
    /** READs of groups in one range, so that a walk over an empty table lets others have their turn. */
    private static final int MAX_GROUP_READS = 64;
    private static final int MAX_DAMAGED_READS = 3;

    /** What is done with the groups that the position is in. */
    private enum Step
    {
        READ_GROUPS, COMPLETE_UNIT, READ_BLOCKS
    }

    /** A block that is not what its word published, and how often in a row it was read so. */
    private static final class Damage
    {
        private int reads;
        private long offset;
    }

    /** What the range has cost. */
    private static final class Costs
    {
        private int verbs;
        private int doorbells;
    }

    private final ProtectionDomain protectionDomain;
    private final EpochTracker epochs;
    private final Cursor cursor;
    private final ScanGroups groups;
    private final ScanBlocks blocks;
    private final ScanCounts counts;
    private Scratch scratch;
    private OpenTable table;
    private Sink sink;
    private long deadlineNs;
    private long beginEpoch;
    private boolean isRunning;
    private boolean inFlight;
    private NodeLink link;
    private int result;
    private long begunAt;
    private long position;
    private Step step;
    /** The record whose block is read next. */
    private int record;
    private MoveBatch unitRequests;
    private MergeUnit unit;
    private int groupReads;
    private final Damage damage = new Damage();
    private final Costs costs = new Costs();

    public TableScan(
        final ProtectionDomain protectionDomain,
        final EpochTracker epochs,
        final ExpiryClock expiryClock)
    {
        this.protectionDomain = protectionDomain;
        this.epochs = epochs;
        cursor = new Cursor();
        groups = new ScanGroups(cursor);
        blocks = new ScanBlocks(groups, ScanGroups.MEMORY_BYTES, expiryClock);
        counts = new ScanCounts(cursor, groups);
    }

    /**
     * Begins a range; {@link #isRunning()} until it has ended, by the engine's polls.
     *
     * @param scanned    opened by the engine.
     * @param from       where it begins: 0, {@link #position()} of the range before, or what the sink was given; any
     *                   other one that the table does not have is its end.
     * @param deadline   instant of the engine's clock at which it ends at the latest.
     * @param records    takes records, or null: then words are counted, and no block is read.
     */
    public void begin(final OpenTable scanned, final long from, final long deadline, final Sink records)
    {
        if (isBusy())
        {
            throw new IllegalStateException("one range at a time: " + this);
        }
        if (scratch == null)
        {
            scratch = new Scratch(protectionDomain, ScanGroups.MEMORY_BYTES + ScanBlocks.MEMORY_BYTES);
            unitRequests = new MoveBatch(scratch, ScanGroups.OLD_AT + MergeUnit.MEMORY_BYTES);
            groups.use(scratch);
            blocks.use(scratch);
        }
        table = scanned;
        sink = records;
        deadlineNs = deadline;
        beginEpoch = epochs.epoch();
        isRunning = true;
        begunAt = cursor.isPosition(scanned, from) ? from : END;
        position = begunAt;
        step = Step.READ_GROUPS;
        groupReads = 0;
        damage.reads = 0;
        counts.clear();
        costs.verbs = 0;
        costs.doorbells = 0;
    }

    /** @return whether the range has not ended. */
    public boolean isRunning()
    {
        return isRunning;
    }

    /** @return whether nothing can begin: a range runs, or a request of one that ended is still under way. */
    public boolean isBusy()
    {
        return isRunning || inFlight;
    }

    /** @return how the range ended: FOUND, or what {@link OperationResult} calls the failure. */
    public int result()
    {
        return result;
    }

    /** @return where the next range begins, or {@link #END}; everything before was met. */
    public long position()
    {
        return position;
    }

    /** @return committed words met in the range; when records were asked for, records taken. */
    public long recordCount()
    {
        return counts.records;
    }

    /** @return bytes of the blocks that these words name. */
    public long blockBytes()
    {
        return counts.blockBytes;
    }

    /** @return undecided inserts, and remains of deletes, met in a range that counts words; as all that follow. */
    public long tentativeCount()
    {
        return counts.tentative;
    }

    /** @return splits and merges not known to be complete, of which the first slots were met in the range. */
    public long splitCount()
    {
        return counts.splits;
    }

    /** @return slots met that a split has not initialised yet. */
    public long uninitialisedCount()
    {
        return counts.uninitialised;
    }

    /** @return frozen slots that were met beside those that take their place. */
    public long frozenCount()
    {
        return counts.frozen;
    }

    /** @return requests posted for the range. */
    public int verbs()
    {
        return costs.verbs;
    }

    /** @return doorbells rung for it, each a round trip. */
    public int doorbells()
    {
        return costs.doorbells;
    }

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    public long heldEpoch()
    {
        return isBusy() ? beginEpoch : Long.MAX_VALUE;
    }

    public boolean isInFlightAt(final NodeLink node)
    {
        return inFlight && link == node;
    }

    public int poll(final long nowNs)
    {
        if (!isRunning)
        {
            return 0;
        }
        if (nowNs - deadlineNs >= 0)
        {
            // What was met counts: the next range goes on behind it.
            end(position != begunAt ? OperationResult.FOUND : OperationResult.TIMED_OUT_NOT_APPLIED);
            return 1;
        }
        return inFlight ? 0 : goOn();
    }

    private int goOn()
    {
        if (position == END || groupReads == MAX_GROUP_READS && step == Step.READ_GROUPS)
        {
            end(OperationResult.FOUND);
            return 1;
        }
        if (step == Step.READ_GROUPS)
        {
            cursor.resolve(table, position, sink == null);
        }
        link = table.link(cursor.suffix() & table.descriptor().subtableCount() - 1);
        if (link.port != null && link.port.isFailed())
        {
            end(OperationResult.NODE_UNAVAILABLE);
            return 1;
        }
        if (link.port == null || !link.port.isReady() || link.port.space() < leastSpace())
        {
            return 0;
        }
        link.port.begin();
        post(stage());
        return 1;
    }

    private int leastSpace()
    {
        return switch (step)
        {
            case READ_GROUPS -> 2;
            case COMPLETE_UNIT -> OneSidedPort.LEAST_SPACE;
            case READ_BLOCKS -> ScanBlocks.LEAST_SPACE;
        };
    }

    /** @return requests staged. */
    private int stage()
    {
        switch (step)
        {
            case READ_GROUPS ->
            {
                groupReads++;
                return groups.read(link.port, table.groupCount);
            }
            case COMPLETE_UNIT ->
            {
                final long before = unitRequests.verbs();
                unitRequests.begin(link.port);
                unit.stage(unitRequests);
                return (int)(unitRequests.verbs() - before);
            }
            default ->
            {
                return blocks.read(link.port, record);
            }
        }
    }

    private void post(final int requests)
    {
        final int status = link.port.complete(COOKIE);
        inFlight = status == PostStatus.OK;
        if (inFlight)
        {
            costs.verbs += requests;
            costs.doorbells++;
        }
        else
        {
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
        if (!isRunning)
        {
            return;
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            end(OperationResult.NODE_UNAVAILABLE);
            return;
        }
        switch (step)
        {
            case READ_GROUPS -> onGroups();
            case COMPLETE_UNIT -> onUnit();
            default -> onBlocks();
        }
    }

    /** What was never an index of this table, or is none any more, may hold words that look like a link. */
    private boolean isLink(final long header)
    {
        return (SplitLink.isLink(header) || MergeLink.isLink(header)) &&
            table.mayLead(cursor.groupsOffset(), header, link.port.regionLengthBytes());
    }

    private void onGroups()
    {
        final long header = groups.strangeHeader();
        if (isLink(header))
        {
            // Split or merged meanwhile: what takes its place comes next.
            cursor.follow(table, header);
            return;
        }
        if (header != cursor.bucketHeader())
        {
            end(OperationResult.TABLE_CHANGED);
            return;
        }
        final int from = sink == null ? cursor.slotsCounted() : 0;
        final int settled = countAsFarAsSettled(from);
        final boolean areSettled = settled == groups.slotCount();
        if (sink == null)
        {
            counts.underWay(from, settled);
            // What was counted is not counted again.
            position = areSettled ? groups.behind() : groups.counted(settled);
        }
        if (!areSettled)
        {
            onUnsettled(settled);
        }
        else if (sink != null)
        {
            groups.order();
            record = 0;
            onRecordsUpTo(0);
        }
    }

    /** @return the first slot with a word that may have gone elsewhere, or how many slots there are. */
    private int countAsFarAsSettled(final int from)
    {
        int slot = from;
        for (; slot < groups.slotCount(); slot++)
        {
            final long word = groups.word(slot);
            if (SlotWord.isRestructuring(word))
            {
                return slot;
            }
            if (sink == null)
            {
                counts.word(word);
            }
        }
        return slot;
    }

    private void onUnsettled(final int slot)
    {
        if (groups.word(slot) == SlotWord.UNINITIALISED && cursor.isMerging())
        {
            beginUnit(groups.group(slot));
        }
        else
        {
            // The line was torn where the link is, or else nobody says where the word is.
            lookAgain(slot, OperationResult.RESTRUCTURING);
        }
    }

    /** Where words go is not settled before their group is complete. */
    private void beginUnit(final int group)
    {
        if (unit == null || unit.tableId() != table.tableId)
        {
            unit = new MergeUnit(table.tableId);
        }
        unit.begin(cursor.suffix(), cursor.depth(), cursor.merged(0), cursor.merged(1),
            cursor.groupsOffset() - SubtableDescriptor.GROUPS_OFFSET, group, ScanGroups.OLD_AT);
        step = Step.COMPLETE_UNIT;
    }

    private void onUnit()
    {
        unit.onComplete(unitRequests);
        if (unit.failure() != null)
        {
            end(OperationResult.RESTRUCTURING);
        }
        else if (unit.isDone())
        {
            step = Step.READ_GROUPS;
        }
    }

    private void onBlocks()
    {
        while (record < blocks.end())
        {
            final int begin = record;
            final int end = groups.runEnd(begin);
            if (!isValid(begin, end))
            {
                return;
            }
            blocks.settle(begin, end);
            for (; record < end; record++)
            {
                if (!take(record))
                {
                    end(OperationResult.FOUND);
                    return;
                }
            }
        }
        onRecordsUpTo(record);
    }

    private void onRecordsUpTo(final int end)
    {
        final boolean isOver = end == groups.records();
        step = isOver ? Step.READ_GROUPS : Step.READ_BLOCKS;
        position = isOver ? groups.behind() : position;
    }

    private boolean isValid(final int begin, final int end)
    {
        for (int i = begin; i < end; i++)
        {
            if (!blocks.isValid(i, table.tableId))
            {
                lookAgain(groups.slot(i), OperationResult.CORRUPT);
                return false;
            }
        }
        return true;
    }

    /** @return false if there is no room for a record that the walk had not come to. */
    private boolean take(final int met)
    {
        final long behind = groups.behind(met);
        if (isAhead(met) && blocks.isExpired(met) == sink.takesExpired())
        {
            if (!sink.onRecord(scratch.buffer, blocks.at(met), behind))
            {
                return false;
            }
            counts.records++;
            counts.blockBytes += blocks.length(met);
        }
        position = behind;
        return true;
    }

    private boolean isAhead(final int met)
    {
        return groups.isAhead(met, blocks.keyHash(met));
    }

    /** What was read is not what was published: damaged, or this node was late. The groups are read again. */
    private void lookAgain(final int slot, final int otherwise)
    {
        final long at = groups.offset(slot);
        damage.reads = at == damage.offset ? damage.reads + 1 : 1;
        damage.offset = at;
        step = Step.READ_GROUPS;
        if (damage.reads == MAX_DAMAGED_READS)
        {
            end(otherwise);
        }
    }

    private void end(final int howItEnded)
    {
        result = howItEnded;
        isRunning = false;
        sink = null;
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
        return "TableScan{running=" + isRunning + " inFlight=" + inFlight + " position=" + position + " records=" +
            counts.records + " result=" + OperationResult.name(result) + '}';
    }
}
