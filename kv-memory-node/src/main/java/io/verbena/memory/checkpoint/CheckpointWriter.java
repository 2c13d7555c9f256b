package io.verbena.memory.checkpoint;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Brings the database up to the region, slot by slot, while one-sided writers go on, and split and merge subtables;
 * only loads touch the region. A slot is taken as a GET takes it: word, block, word again, and the block's checksum,
 * which is bound to the word. So each record was the current one at a moment after the checkpoint began; and a key that
 * is found in no slot was absent at such a moment: a key changes its slot by delete and insert, or by a split or merge,
 * which are followed ({@link SplitTrail}, {@link IndexChunks}). What has the word and the checksum of last time is not
 * written again. One thread, not the node's.
 */
public final class CheckpointWriter
{
    /** Looks at a slot that changes each time, or whose block is damaged. */
    private static final int MAX_LOOKS = 100_000;
    private static final int LOOKS_PER_CHECK = 100;
    /** A block is complete before its word is committed: one that is not, under a word that stands, is damaged. */
    private static final int LOOKS_AT_ONE_WORD = 50;
    private static final int MAX_ROUNDS = 10_000;

    /** Hears how far a checkpoint is, on the thread that makes it. */
    @FunctionalInterface
    public interface Listener
    {
        /**
         * A subtable was looked at.
         *
         * @param subtables that were looked at, those that were made or changed meanwhile included.
         * @param all       subtables that there were when it began.
         * @param records   found so far.
         */
        void onProgress(int subtables, int all, long records);
    }

    private final MemorySegment region;
    private final RegionLoads loads;
    private final CheckpointStore store;
    private final BooleanSupplier isCancelled;
    private final UnsafeBuffer block;
    private int group;
    private BooleanSupplier isUnchanged = () -> true;
    private Listener listener = (subtables, all, found) ->
    {
    };
    private IndexChunks chunks;
    private SplitTrail trail;
    private TreeSet<Long> pages;
    private final Set<Long> pagesOfNow = new HashSet<>();
    private int chunk;
    private long restored;
    private CheckpointPage before;
    private boolean isBeforeOfSameUse;
    private CheckpointPage page;
    private long pageOffset;
    /** Slots of the page whose content may be somewhere else now. */
    private final BitSet mayHaveMoved = new BitSet(CheckpointPage.RANGE_BYTES);
    private long records;
    private long changed;
    private long damaged;

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
     * Sets who hears how far it is; nobody does otherwise.
     *
     * @param hears called often.
     * @return this.
     */
    public CheckpointWriter listener(final Listener hears)
    {
        listener = hears;
        return this;
    }

    /**
     * Makes it one of the tables of a group of memory nodes; of the tables of this memory node alone otherwise.
     *
     * @param whose     number of the group.
     * @param isTheirs  whether its chunks have been changed by members of its view only, since the writer was made:
     *                  asked behind loads, and what was loaded before it returned false is not written.
     * @return this.
     */
    public CheckpointWriter ofGroup(final int whose, final BooleanSupplier isTheirs)
    {
        group = whose;
        isUnchanged = isTheirs;
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
            chunks = new IndexChunks(loads, SuperblockDescriptor.read(region), group);
            trail = new SplitTrail(loads, chunks);
            restored = SuperblockDescriptor.restored(region);
            pages = store.pages();
            pagesOfNow.clear();
            lookAtAll();
            requireUnchanged();
            pages.stream().filter((offset) -> !pagesOfNow.contains(offset)).forEach(this::dropPage);
            store.removeStale();
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

    private void lookAtAll()
    {
        final int all = chunks.indexes();
        int looks = 0;
        int rounds = 0;
        do
        {
            chunks.beginRound();
            for (chunk = 0; chunk < chunks.count(); chunk++)
            {
                if (chunks.beginsLook(chunk))
                {
                    look();
                    listener.onProgress(++looks, all, records);
                }
                else if (!chunks.isIndex(chunk))
                {
                    forget(chunks.offset(chunk));
                }
            }
            // So that pages which are looked at again are read as they are now.
            store.flush();
            if (++rounds == MAX_ROUNDS)
            {
                throw new CheckpointException("no checkpoint: subtables are split faster than they can be read", null);
            }
        }
        while (!chunks.isSettled());
    }

    private void look()
    {
        final long offset = chunks.offset(chunk);
        final DirectBuffer line = chunks.line(chunk);
        if (line == null)
        {
            keepPages(offset);
            return;
        }
        final int groups = SubtableDescriptor.groupCount(line, 0);
        trail.begin(offset, line);
        if (trail.isLeft())
        {
            forget(offset);
            return;
        }
        for (int at = 0, length = (int)SubtableDescriptor.lengthBytes(groups); at < length;
            at += CheckpointPage.RANGE_BYTES)
        {
            lookAtPage(offset + at, at, Math.min(CheckpointPage.RANGE_BYTES, length - at));
        }
    }

    /** What was found in a chunk is found elsewhere, because nothing of it counts there any more. */
    private void forget(final long offset)
    {
        for (final long known : pages.subSet(offset, offset + chunks.lengthBytes()))
        {
            if (pagesOfNow.remove(known))
            {
                records -= store.page(known).records();
            }
        }
    }

    /** Memory that nobody has formatted yet; or a header that was damaged, and then the records of before are kept. */
    private void keepPages(final long offset)
    {
        final CheckpointPage now = CheckpointPage.empty(restored, chunks.lease(chunk));
        for (final long known : pages.subSet(offset, offset + chunks.lengthBytes()))
        {
            final CheckpointPage kept = store.page(known);
            if (kept.isOfSameUse(now) && pagesOfNow.add(known))
            {
                damaged += kept.records();
                records += kept.records();
            }
        }
    }

    private void lookAtPage(final long offset, final int atInSubtable, final int lengthBytes)
    {
        if (isCancelled.getAsBoolean())
        {
            throw new CheckpointException("checkpoint was ended before it was complete: the node stops", null);
        }
        pageOffset = offset;
        page = CheckpointPage.empty(restored, chunks.lease(chunk));
        before = pages.contains(offset) ? store.page(offset) : CheckpointPage.empty(restored, chunks.lease(chunk));
        isBeforeOfSameUse = before.isOfSameUse(page);
        mayHaveMoved.clear();
        final int damagedBefore = (int)damaged;
        for (int at = 0; at < lengthBytes; at += BucketDescriptor.BUCKET_BYTES)
        {
            if (atInSubtable + at >= SubtableDescriptor.GROUPS_OFFSET)
            {
                lookAtBucket(at);
            }
        }
        final boolean isStill = chunks.isStill(chunk);
        requireUnchanged();
        if (isStill)
        {
            writePage();
        }
        else
        {
            // Somebody else's memory, and seen as such in the next round.
            damaged = damagedBefore;
            forEachNew((at) -> store.removeLater(pageOffset + at, page.checksum(at)));
        }
        store.pageEnded();
    }

    private void requireUnchanged()
    {
        VarHandle.acquireFence();
        if (!isUnchanged.getAsBoolean())
        {
            throw new CheckpointException("no checkpoint of group " + group +
                ": this memory node was made equal to the others, or filled, or has lost its lease meanwhile", null);
        }
    }

    private void lookAtBucket(final int bucketAt)
    {
        final boolean isOurs = trail.isOfSubtable(loads.word(pageOffset + bucketAt));
        for (int at = bucketAt + BucketDescriptor.SLOTS_OFFSET; at < bucketAt + BucketDescriptor.BUCKET_BYTES;
            at += Long.BYTES)
        {
            if (isOurs)
            {
                lookAtSlot(at);
            }
            else
            {
                keepDamaged(at, before.word(at));
            }
        }
    }

    private void lookAtSlot(final int at)
    {
        final long slot = pageOffset + at;
        long lastWord = 0;
        int looksAtWord = 0;
        for (int look = 0; look < MAX_LOOKS; look++)
        {
            final long word = loads.word(slot);
            final long counting = trail.counting(slot, word);
            looksAtWord = word == lastWord ? looksAtWord + 1 : 0;
            lastWord = word;
            mayHaveMoved.set(at, SlotWord.isFrozen(word));
            // Memory of a table that was dropped meanwhile may hold anything.
            final boolean isGone = look % LOOKS_PER_CHECK == LOOKS_PER_CHECK - 1 && !chunks.isStill(chunk);
            if (isGone || counting == SlotWord.EMPTY)
            {
                return;
            }
            if (looksAtWord == LOOKS_AT_ONE_WORD)
            {
                keepDamaged(at, counting);
                return;
            }
            final long checksum = copy(counting, slot, word);
            if (checksum != 0)
            {
                take(at, counting, checksum);
                return;
            }
            Thread.onSpinWait();
        }
        throw new CheckpointException(String.format(
            "no checkpoint: the record of slot 0x%x changes too fast to be read", slot), null);
    }

    private void take(final int at, final long word, final long checksum)
    {
        page.put(at, word, checksum);
        if (isNew(at))
        {
            final byte[] bytes = new byte[Long.BYTES + BlockDescriptor.recordLength(
                BlockDescriptor.keyLength(block, 0), BlockDescriptor.valueLength(block, 0))];
            ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN).putLong(word);
            block.getBytes(0, bytes, Long.BYTES, bytes.length - Long.BYTES);
            store.putRecord(pageOffset + at, checksum, bytes);
        }
    }

    private boolean isNew(final int at)
    {
        return page.word(at) != 0 &&
            (page.word(at) != before.word(at) || page.checksum(at) != before.checksum(at));
    }

    /** The block in the scratch memory, when it is what the word published and the word still counts; 0 otherwise. */
    private long copy(final long word, final long slot, final long wordThere)
    {
        final long offset = SlotWord.blockOffset(word);
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(word));
        if (offset > region.byteSize() - length)
        {
            return 0;
        }
        loads.copy(offset, block, length);
        return isCurrent(word, slot, wordThere) ? block.getLong(BlockDescriptor.CHECKSUM_OFFSET, LITTLE_ENDIAN) : 0;
    }

    /** Whether the block in the scratch memory is what a word published that still counts. */
    private boolean isCurrent(final long word, final long slot, final long wordThere)
    {
        return BlockDescriptor.isValid(block, 0, SizeClasses.lengthBytes(SlotWord.sizeClass(word)), word) &&
            loads.word(slot) == wordThere && trail.counting(slot, wordThere) == word;
    }

    /**
     * A committed word without a record under it. Mostly what is left in the index of a dropped table that nobody gave
     * back; it must not keep all other records from being saved. Where the last checkpoint has the record of this very
     * word, that is kept.
     */
    private void keepDamaged(final int at, final long word)
    {
        if (word != 0)
        {
            damaged++;
            if (isBeforeOfSameUse && word == before.word(at))
            {
                page.put(at, word, before.checksum(at));
            }
        }
    }

    /** Takes places of slots. */
    @FunctionalInterface
    private interface PlaceConsumer
    {
        void accept(int at);
    }

    private void forEachNew(final PlaceConsumer consumer)
    {
        for (int at = 0; at < CheckpointPage.RANGE_BYTES; at += Long.BYTES)
        {
            if (isNew(at))
            {
                consumer.accept(at);
            }
        }
    }

    /** Whether what was in a slot cannot have been moved. */
    private boolean isNowhereElse(final int at)
    {
        return isBeforeOfSameUse && !mayHaveMoved.get(at);
    }

    private void writePage()
    {
        for (int at = 0; at < CheckpointPage.RANGE_BYTES; at += Long.BYTES)
        {
            final boolean isGone = before.word(at) != 0 && page.checksum(at) != before.checksum(at);
            changed += isGone || isNew(at) ? 1 : 0;
            if (isGone && isNowhereElse(at))
            {
                store.removeRecord(pageOffset + at, before.checksum(at));
            }
            else if (isGone)
            {
                // It may not have been met yet where it is now.
                store.removeLater(pageOffset + at, before.checksum(at));
            }
        }
        records += page.records() - (pagesOfNow.add(pageOffset) ? 0 : before.records());
        if (page.records() == 0 && pages.remove(pageOffset))
        {
            store.removePage(pageOffset);
        }
        else if (page.records() > 0 && !(pages.contains(pageOffset) && page.equals(before)))
        {
            pages.add(pageOffset);
            store.putPage(pageOffset, page);
        }
    }

    /** What was an index last time, and is none any more. Everything that was moved from there is written. */
    private void dropPage(final long offset)
    {
        final CheckpointPage old = store.page(offset);
        for (int at = 0; at < CheckpointPage.RANGE_BYTES; at += Long.BYTES)
        {
            if (old.word(at) != 0)
            {
                store.removeRecord(offset + at, old.checksum(at));
                changed++;
            }
        }
        store.removePage(offset);
        store.pageEnded();
    }
}
