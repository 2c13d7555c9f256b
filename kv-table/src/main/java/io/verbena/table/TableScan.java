package io.verbena.table;

import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;

import org.agrona.DirectBuffer;

/**
 * Walks the slots of a table in the order in which they lie in memory, a stretch at a time: one READ for many groups,
 * then one doorbell for many of the blocks that their words name.
 *
 * <p>What it promises: a key that is present from the beginning of a walk over all positions to its end is met once,
 * with a value that it had at some instant of that stretch's turn; a key that is never there is never met. A key that
 * is written, or deleted and written again, meanwhile may be met, or not, or twice. It rests on this: a key keeps its
 * slot as long as it is present, an update swaps the word in that slot, a split moves it to the same slot of a subtable
 * that comes no earlier, a merge to another slot of its group, which is walked again, and each slot is read once, or
 * again where its subtable was split meanwhile; and the scan
 * belongs to the epoch in which its stretch began, so that no block named by a word it has read is used again before
 * it has read the block.
 *
 * <p>Owner thread of the engine only; one stretch at a time. Made by {@link TableEngine#scan()}.
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
         * @param behind      position from which a stretch goes on behind this record, or {@link TableScan#END}.
         * @return false if there is no room for it: then the stretch ends before it.
         */
        boolean onRecord(DirectBuffer block, int blockOffset, long behind);
    }

    /** {@link #position()} when all slots have been walked. */
    public static final long END = -1;
    /** Cookie of its batches. */
    static final int COOKIE = TableCreator.COOKIE | 4;
    /** Groups in one READ. */
    public static final int GROUPS_PER_READ = 320;
    private static final int MAX_BLOCKS = 64;
    /** The same groups of the subtable that the words come from, while it is split. */
    private static final int OLD_GROUPS_AT = GROUPS_PER_READ * BucketDescriptor.GROUP_BYTES;
    private static final int BLOCKS_AT = 2 * OLD_GROUPS_AT;
    private static final int BLOCKS_CAPACITY = 4 * SizeClasses.MAX_BLOCK_BYTES;
    /** READs of groups in one stretch, so that a walk over an empty table lets others have their turn. */
    private static final int MAX_GROUP_READS = 64;
    private static final int MAX_DAMAGED_LOOKS = 3;

    private final ProtectionDomain protectionDomain;
    private final DeviceAttributes attributes;
    private final EpochTracker epochs;
    private final int droppedGuards;
    private final long[] words = new long[MAX_BLOCKS];
    private final long[] positions = new long[MAX_BLOCKS];
    private Scratch scratch;
    private OpenTable table;
    private Sink sink;
    private long deadlineNs;
    private long beginEpoch;
    private boolean isRunning;
    private boolean inFlight;
    private NodeLink link;
    private int result;
    private long position;
    private final Cursor cursor;
    private boolean readsOldGroups;
    private ScanRequests unitRequests;
    private MergeUnit unit;
    private boolean completesUnit;
    private long groupsBegin;
    private long groupsEnd;
    private int blockCount;
    private int groupReads;
    private int damagedLooks;
    private long damagedPosition;
    private long recordCount;
    private long blockBytes;
    private long tentativeCount;
    private long splitCount;
    private long frozenCount;
    private long uninitialisedCount;
    private int verbs;
    private int doorbells;

    TableScan(
        final ProtectionDomain protectionDomain,
        final DeviceAttributes attributes,
        final EpochTracker epochs,
        final int droppedGuards, final int droppedMergeGuards)
    {
        this.droppedGuards = droppedGuards;
        cursor = new Cursor(droppedMergeGuards);
        this.protectionDomain = protectionDomain;
        this.attributes = attributes;
        this.epochs = epochs;
    }

    /** @return how many positions a table can have: one for each slot, were it as deep as it can be. */
    public static long positions(final OpenTable table)
    {
        return Cursor.positions(table);
    }

    /**
     * Begins a stretch; {@link #isRunning()} until it has ended, by the engine's polls.
     *
     * @param scanned    opened by the engine.
     * @param from       first position, 0 or {@link #position()} of the stretch before; any other one that the table
     *                   does not have is its end.
     * @param deadline   instant of the engine's clock at which it ends at the latest.
     * @param records    takes records, or null: then words are counted, and no block is read.
     */
    public void begin(final OpenTable scanned, final long from, final long deadline, final Sink records)
    {
        if (isBusy())
        {
            throw new IllegalStateException("one stretch at a time: " + this);
        }
        if (scratch == null)
        {
            scratch = new Scratch(protectionDomain, attributes, BLOCKS_AT + BLOCKS_CAPACITY);
            unitRequests = new ScanRequests(scratch, OLD_GROUPS_AT + MergeUnit.MEMORY_BYTES);
        }
        table = scanned;
        sink = records;
        deadlineNs = deadline;
        beginEpoch = epochs.epoch();
        isRunning = true;
        position = from >= 0 && from < positions(scanned) ? from : END;
        groupsBegin = 0;
        groupsEnd = 0;
        groupReads = 0;
        completesUnit = false;
        damagedLooks = 0;
        recordCount = 0;
        blockBytes = 0;
        tentativeCount = 0;
        splitCount = 0;
        frozenCount = 0;
        uninitialisedCount = 0;
        verbs = 0;
        doorbells = 0;
    }

    /** @return whether the stretch has not ended. */
    public boolean isRunning()
    {
        return isRunning;
    }

    /** @return whether nothing can begin: a stretch runs, or a request of one that ended is still under way. */
    public boolean isBusy()
    {
        return isRunning || inFlight;
    }

    /** @return how the stretch ended: FOUND, or what {@link OperationResult} calls the failure. */
    public int result()
    {
        return result;
    }

    /** @return where the next stretch begins, or {@link #END}; everything before was met. */
    public long position()
    {
        return position;
    }

    /** @return committed words met in the stretch; when records were asked for, records taken. */
    public long recordCount()
    {
        return recordCount;
    }

    /** @return bytes of the blocks that these words name. */
    public long blockBytes()
    {
        return blockBytes;
    }

    /** @return undecided inserts, and remains of deletes, met in the stretch. */
    public long tentativeCount()
    {
        return tentativeCount;
    }

    /** @return splits and merges not known to be complete, of which the first slots were met in the stretch. */
    public long splitCount()
    {
        return splitCount;
    }

    /** @return slots met that a split has not initialised yet. */
    public long uninitialisedCount()
    {
        return uninitialisedCount;
    }

    /** @return frozen slots that were met beside those that take their place. */
    public long frozenCount()
    {
        return frozenCount;
    }

    /** @return requests posted for the stretch. */
    public int verbs()
    {
        return verbs;
    }

    /** @return doorbells rung for it, each a round trip. */
    public int doorbells()
    {
        return doorbells;
    }

    /** @return the epoch that must not be passed yet, or {@link Long#MAX_VALUE}. */
    long heldEpoch()
    {
        return isBusy() && (droppedGuards & Guard.SCAN_IN_EPOCH) == 0 ? beginEpoch : Long.MAX_VALUE;
    }

    boolean isInFlightAt(final NodeLink node)
    {
        return inFlight && link == node;
    }

    int poll(final long nowNs)
    {
        if (!isRunning)
        {
            return 0;
        }
        if (nowNs - deadlineNs >= 0)
        {
            // What was met counts: the next stretch goes on behind it.
            end(recordCount > 0 ? OperationResult.FOUND : OperationResult.TIMED_OUT_NOT_APPLIED);
            return 1;
        }
        return inFlight ? 0 : goOn();
    }

    private int goOn()
    {
        if (position == END || groupReads == MAX_GROUP_READS && position >= groupsEnd && !completesUnit)
        {
            end(OperationResult.FOUND);
            return 1;
        }
        final boolean needsGroups = position >= groupsEnd && !completesUnit;
        if (needsGroups)
        {
            position = cursor.resolve(table, position);
        }
        link = table.link(cursor.suffix() & table.descriptor().subtableCount() - 1);
        if (link.port != null && link.port.isFailed())
        {
            end(OperationResult.NODE_UNAVAILABLE);
            return 1;
        }
        if (link.port == null || !link.port.isReady() ||
            link.port.space() < (completesUnit ? Batch.MAX_REQUESTS : 2))
        {
            return 0;
        }
        if (completesUnit)
        {
            link.port.begin();
            unit.stage(unitRequests.begin(link.port));
            post(unitRequests.count());
        }
        else if (needsGroups)
        {
            readGroups();
        }
        else
        {
            readBlocks();
        }
        return 1;
    }

    /** From the group of the position on, within its subtable. */
    private void readGroups()
    {
        final int group = cursor.slot(position) / BucketDescriptor.SLOTS_PER_GROUP;
        final int groups = Math.min(GROUPS_PER_READ, table.groupCount - group);
        groupsBegin = cursor.begin() + (long)group * BucketDescriptor.SLOTS_PER_GROUP;
        groupsEnd = groupsBegin + (long)groups * BucketDescriptor.SLOTS_PER_GROUP;
        blockCount = 0;
        readsOldGroups = cursor.predecessor() != 0 && !cursor.isMerging();
        link.port.begin();
        link.port.read(scratch.region, 0, groups * BucketDescriptor.GROUP_BYTES,
            cursor.groupsOffset() + (long)group * BucketDescriptor.GROUP_BYTES);
        if (readsOldGroups)
        {
            link.port.read(scratch.region, OLD_GROUPS_AT, groups * BucketDescriptor.GROUP_BYTES,
                cursor.predecessor() + (long)group * BucketDescriptor.GROUP_BYTES);
        }
        post(readsOldGroups ? 2 : 1);
        groupReads++;
    }

    private void readBlocks()
    {
        final int most = Math.min(MAX_BLOCKS, link.port.space() / 2);
        link.port.begin();
        int used = 0;
        blockCount = 0;
        for (long at = position; at < groupsEnd && blockCount < most; at++)
        {
            final long word = word(at);
            if (SlotWord.isCommitted(word))
            {
                final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
                if (used + length > BLOCKS_CAPACITY)
                {
                    break;
                }
                link.port.read(scratch.region, BLOCKS_AT + used, length, SlotWord.blockOffset(word));
                words[blockCount] = word;
                positions[blockCount++] = at;
                used += length;
            }
        }
        post(blockCount);
    }

    private void post(final int requests)
    {
        final int status = link.port.complete(COOKIE);
        inFlight = status == PostStatus.OK;
        if (inFlight)
        {
            verbs += requests;
            doorbells++;
        }
        else
        {
            end(OperationResult.NODE_UNAVAILABLE);
        }
    }

    /** Takes the completion of its batch. */
    void onComplete(final int status)
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
        }
        else if (completesUnit)
        {
            onUnit();
        }
        else if (blockCount == 0)
        {
            onGroups();
        }
        else
        {
            onBlocks();
        }
    }

    private void onGroups()
    {
        final int lengthBytes = (int)((groupsEnd - groupsBegin) / BucketDescriptor.SLOTS_PER_BUCKET) *
            BucketDescriptor.BUCKET_BYTES;
        for (int bucket = 0; bucket < lengthBytes; bucket += BucketDescriptor.BUCKET_BYTES)
        {
            final long header = scratch.word(bucket + BucketDescriptor.HEADER_OFFSET);
            if (SplitLink.isLink(header) || MergeLink.isLink(header))
            {
                // Split meanwhile: the same slots of those that take its place come next; merged: all of that one.
                cursor.follow(table, header);
                groupsEnd = 0;
                return;
            }
            if (header != cursor.bucketHeader())
            {
                end(OperationResult.TABLE_CHANGED);
                return;
            }
        }
        for (long at = position; at < groupsEnd; at++)
        {
            final long word = word(at);
            if (word == SlotWord.UNINITIALISED && cursor.isMerging())
            {
                beginUnit(at);
                return;
            }
            if (SlotWord.isRestructuring(word))
            {
                // The line was torn where the link is, or else nobody says where the word is.
                lookAgain(at, sink == null ? at : position, OperationResult.RESTRUCTURING);
                return;
            }
            count(word);
        }
        countUnderWay(groupsEnd);
        skip(sink == null ? groupsEnd : position);
    }

    /** Where a word goes is not settled before its group is complete, so that no position would hold. */
    private void beginUnit(final long at)
    {
        if (unit == null || unit.tableId() != table.tableId)
        {
            unit = new MergeUnit(table.tableId, 0);
        }
        unit.begin(cursor.suffix(), cursor.depth(), cursor.merged(0), cursor.merged(1),
            cursor.groupsOffset() - SubtableDescriptor.GROUPS_OFFSET,
            cursor.slot(at) / BucketDescriptor.SLOTS_PER_GROUP, OLD_GROUPS_AT);
        countUnderWay(sink == null ? at : position);
        position = sink == null ? at : position; // what was counted is not counted again
        completesUnit = true;
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
            completesUnit = false;
            groupsEnd = 0;
        }
    }

    private void count(final long word)
    {
        if (SlotWord.isTentative(word))
        {
            tentativeCount++;
        }
        else if (sink == null && SlotWord.isCommitted(word))
        {
            recordCount++;
            blockBytes += SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        }
    }

    /** What is under way from the position on; each old slot of a split counts once, with those of split bit 0. */
    private void countUnderWay(final long until)
    {
        if (cursor.predecessor() == 0 || until == position)
        {
            return;
        }
        splitCount += (cursor.isMerging() || cursor.side() == 0) && position == cursor.begin() ? 1 : 0;
        for (long at = position; readsOldGroups && at < until; at++)
        {
            uninitialisedCount += scratch.word(wordAt(at)) == SlotWord.UNINITIALISED ? 1 : 0;
            frozenCount += cursor.side() == 0 && SlotWord.isFrozen(scratch.word(OLD_GROUPS_AT + wordAt(at))) ? 1 : 0;
        }
    }

    private void onBlocks()
    {
        int block = BLOCKS_AT;
        for (int i = 0; i < blockCount; i++)
        {
            final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(words[i]));
            if (!BlockDescriptor.isValid(scratch.buffer, block, length, words[i]) ||
                BlockDescriptor.tableId(scratch.buffer, block) != table.tableId)
            {
                if ((droppedGuards & Guard.SCAN_LOOKS_AGAIN) != 0)
                {
                    block += length;
                    continue;
                }
                lookAgain(positions[i], positions[i], OperationResult.CORRUPT);
                return;
            }
            if (!sink.onRecord(scratch.buffer, block, behind(positions[i])))
            {
                position = positions[i];
                end(OperationResult.FOUND);
                return;
            }
            recordCount++;
            blockBytes += length;
            block += length;
        }
        skip(positions[blockCount - 1] + 1);
    }

    /** The block is not what the word read published: damaged, or this node was late. The slot is read again. */
    private void lookAgain(final long at, final long goOnAt, final int otherwise)
    {
        damagedLooks = at == damagedPosition ? damagedLooks + 1 : 1;
        damagedPosition = at;
        position = goOnAt;
        groupsEnd = 0;
        if (damagedLooks == MAX_DAMAGED_LOOKS)
        {
            end(otherwise);
        }
    }

    /** Goes to the next committed word of the groups read, or behind them. */
    private void skip(final long from)
    {
        long at = from;
        while (at < groupsEnd && !SlotWord.isCommitted(word(at)))
        {
            at++;
        }
        position = at < cursor.end() ? at : behind(cursor.end() - 1);
        if (position == END)
        {
            groupsEnd = Long.MAX_VALUE;
        }
    }

    /** @return the position behind one of the present subtable. */
    private long behind(final long at)
    {
        return at + 1 < cursor.end() ? at + 1 : cursor.next();
    }

    /** The word that counts: where a split has not come to yet, what it will bring. */
    private long word(final long at)
    {
        final int wordAt = wordAt(at);
        final long word = scratch.word(wordAt);
        if (word != SlotWord.UNINITIALISED || !readsOldGroups)
        {
            return word;
        }
        return SlotMoves.moved(SlotWord.frozen(scratch.word(OLD_GROUPS_AT + wordAt)), cursor.depth(), cursor.side(),
            false, 0);
    }

    /** @return where the word of a position is among the groups read. */
    private int wordAt(final long at)
    {
        final int slot = (int)(at - groupsBegin);
        return slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    private void end(final int howItEnded)
    {
        result = howItEnded;
        isRunning = false;
        sink = null;
    }

    /** Ends it when no request can touch its memory any more. */
    void close()
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
            recordCount + " result=" + OperationResult.name(result) + '}';
    }
}
