package io.verbena.memory.checkpoint;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Brings the database up to the region, slot by slot, while one-sided writers go on; only loads touch the region. A
 * slot is taken as a GET takes it: word, block, word again, and the block's checksum, which is bound to the word. So
 * each record was the current one at a moment after the checkpoint began; and a key that is met in no slot was absent
 * at such a moment, because a key changes its slot by delete and insert only. What has the word and the checksum of
 * last time is not written again. One thread, not the node's.
 */
public final class CheckpointWriter
{
    /** Looks at a slot that changes each time, or whose block is damaged. */
    private static final int MAX_LOOKS = 100_000;
    private static final int LOOKS_PER_CHECK = 100;
    /** A block is complete before its word is committed: one that is not, under a word that stands, is damaged. */
    private static final int LOOKS_AT_ONE_WORD = 50;

    private final MemorySegment region;
    private final RegionLoads loads;
    private final CheckpointStore store;
    private final BooleanSupplier isCancelled;
    private final UnsafeBuffer block;
    private final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));
    private long records;
    private long changed;
    private long damaged;
    private boolean writesStateFirst;
    private boolean takesTornBlocks;
    private TreeSet<Long> pagesBefore;
    private BooleanSupplier isStillIndex;

    /**
     * @param region      from its first byte; mapped until the writer is not used any more.
     * @param loads       from it.
     * @param store       of this node, used by nobody else.
     * @param scratch     off-heap, {@link SizeClasses#MAX_BLOCK_BYTES} or more, aligned to 64.
     * @param isCancelled asked often: ends the checkpoint early.
     */
    public CheckpointWriter(
        final MemorySegment region,
        final RegionLoads loads,
        final CheckpointStore store,
        final MemorySegment scratch,
        final BooleanSupplier isCancelled)
    {
        this.region = region;
        this.loads = loads;
        this.store = store;
        this.isCancelled = isCancelled;
        block = new UnsafeBuffer(scratch.address(), SizeClasses.MAX_BLOCK_BYTES);
    }

    /**
     * For mutation checks in tests only: leaves out what makes it right.
     *
     * @param stateLast  saying what it is of when everything else is written.
     * @param wholeBlock looking whether a block is what its word published.
     * @return this.
     */
    public CheckpointWriter leaveOut(final boolean stateLast, final boolean wholeBlock)
    {
        writesStateFirst = stateLast;
        takesTornBlocks = wholeBlock;
        return this;
    }

    /**
     * Makes a checkpoint.
     *
     * @param state says what it is of; what is found is added.
     * @throws CheckpointException when it cannot be made; the one before stays good.
     */
    public void run(final Properties state)
    {
        records = 0;
        changed = 0;
        damaged = 0;
        final long bytesBefore = store.writtenBytes();
        try
        {
            final Superblock superblock = SuperblockDescriptor.read(region);
            if (writesStateFirst)
            {
                store.finish(state);
            }
            pagesBefore = store.pages();
            for (int chunk = 0; chunk < superblock.chunkCount(); chunk++)
            {
                if (isIndex(superblock, chunk))
                {
                    final long offset = superblock.chunksOffset() + (long)chunk * superblock.chunkLengthBytes();
                    final int index = chunk;
                    isStillIndex = () -> isIndex(superblock, index);
                    for (int at = 0; at < superblock.chunkLengthBytes(); at += CheckpointStore.PAGE_BYTES)
                    {
                        checkPage(offset + at, at == 0);
                    }
                }
            }
            pagesBefore.forEach(this::dropPage);
            state.setProperty("records", Long.toString(records));
            state.setProperty("changed_records", Long.toString(changed));
            state.setProperty("damaged_records", Long.toString(damaged));
            state.setProperty("written_bytes", Long.toString(store.writtenBytes() - bytesBefore));
            store.finish(state);
        }
        finally
        {
            store.abandon();
        }
    }

    /** A header that is being written is looked at again; the node's thread never takes long. */
    private boolean isIndex(final Superblock superblock, final int chunk)
    {
        final long offset = superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES;
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            loads.copy(offset, header, ChunkDescriptor.HEADER_BYTES);
            if (ChunkDescriptor.isWhole(header, 0))
            {
                return ChunkDescriptor.STATE_INDEX == ChunkDescriptor.state(header, 0);
            }
            Thread.onSpinWait();
        }
        throw new CheckpointException("no checkpoint: the header of chunk " + chunk + " is damaged", null);
    }

    private void checkPage(final long offset, final boolean hasSubtableHeader)
    {
        if (isCancelled.getAsBoolean())
        {
            throw new CheckpointException("checkpoint was ended before it was complete: the node stops", null);
        }
        final byte[] before = pagesBefore.remove(offset) ? store.page(offset) : null;
        final ByteBuffer old = before == null ? null : ByteBuffer.wrap(before).order(ByteOrder.LITTLE_ENDIAN);
        final ByteBuffer page =
            ByteBuffer.allocate(2 * CheckpointStore.PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        boolean hasRecords = false;
        for (int at = 0; at < CheckpointStore.PAGE_BYTES; at += Long.BYTES)
        {
            final boolean isSlot = at % BucketDescriptor.BUCKET_BYTES != 0 &&
                !(hasSubtableHeader && at < BucketDescriptor.BUCKET_BYTES);
            if (isSlot)
            {
                final long oldWord = old == null ? 0 : old.getLong(at);
                final long oldChecksum = old == null ? 0 : old.getLong(CheckpointStore.PAGE_BYTES + at);
                hasRecords |= checkSlot(offset + at, oldWord, oldChecksum, page, at);
            }
        }
        if (hasRecords && !Arrays.equals(page.array(), before))
        {
            store.putPage(offset, page.array());
        }
        else if (!hasRecords && before != null)
        {
            store.removePage(offset);
        }
        store.pageEnded();
    }

    private boolean checkSlot(
        final long slot, final long oldWord, final long oldChecksum, final ByteBuffer page, final int at)
    {
        long lastWord = 0;
        int looksAtWord = 0;
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            final long word = loads.word(slot);
            looksAtWord = word == lastWord ? looksAtWord + 1 : 0;
            lastWord = word;
            // Memory of a table that was dropped meanwhile may hold anything.
            final boolean isGone = look % LOOKS_PER_CHECK == LOOKS_PER_CHECK - 1 && !isStillIndex.getAsBoolean();
            if (isGone || !SlotWord.isCommitted(word))
            {
                leaveOut(slot, oldWord);
                return false;
            }
            if (looksAtWord == LOOKS_AT_ONE_WORD)
            {
                return keepDamaged(slot, word, oldWord, oldChecksum, page, at);
            }
            final long checksum = copy(word, slot);
            if (checksum != 0)
            {
                records++;
                page.putLong(at, word);
                page.putLong(CheckpointStore.PAGE_BYTES + at, checksum);
                if (word != oldWord || checksum != oldChecksum)
                {
                    changed++;
                    final byte[] bytes = new byte[BlockDescriptor.recordLength(
                        BlockDescriptor.keyLength(block, 0), BlockDescriptor.valueLength(block, 0))];
                    block.getBytes(0, bytes);
                    store.putRecord(slot, bytes);
                }
                return true;
            }
            Thread.onSpinWait();
        }
        throw new CheckpointException(String.format(
            "no checkpoint: the record of slot 0x%x changes too fast to be read", slot), null);
    }

    private void leaveOut(final long slot, final long oldWord)
    {
        if (oldWord != 0)
        {
            store.removeRecord(slot);
            changed++;
        }
    }

    /**
     * A committed word without a record under it. Mostly what is left in the index of a dropped table that nobody gave
     * back; it must not keep all other records from being saved. Where the last checkpoint has the record of this very
     * word, that is kept.
     */
    private boolean keepDamaged(
        final long slot,
        final long word,
        final long oldWord,
        final long oldChecksum,
        final ByteBuffer page,
        final int at)
    {
        damaged++;
        if (word != oldWord)
        {
            leaveOut(slot, oldWord);
            return false;
        }
        records++;
        page.putLong(at, oldWord);
        page.putLong(CheckpointStore.PAGE_BYTES + at, oldChecksum);
        return true;
    }

    /** The block in the scratch memory, when it is what the word published and the word still stands; 0 otherwise. */
    private long copy(final long word, final long slot)
    {
        final long offset = SlotWord.blockOffset(word);
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        if (offset > region.byteSize() - length)
        {
            return 0;
        }
        loads.copy(offset, block, length);
        return takesTornBlocks || BlockDescriptor.isValid(block, 0, length, word) && loads.word(slot) == word ?
            block.getLong(BlockDescriptor.CHECKSUM_OFFSET, LITTLE_ENDIAN) : 0;
    }

    /** What was an index last time, and is none any more. */
    private void dropPage(final long offset)
    {
        final ByteBuffer old = ByteBuffer.wrap(store.page(offset)).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < CheckpointStore.PAGE_BYTES; at += Long.BYTES)
        {
            if (old.getLong(at) != 0)
            {
                store.removeRecord(offset + at);
            }
        }
        store.removePage(offset);
        store.pageEnded();
    }
}
