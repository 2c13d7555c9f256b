package io.verbena.memory.checkpoint;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.TableDescriptor;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static io.verbena.table.format.SlotWord.BLOCK_ALIGNMENT_BYTES;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Puts the records of a checkpoint into an empty region that nobody else uses. Words keep their slots and blocks their
 * places, so that what fitted a memory fits it again. In a checkpoint two words may name the same memory, read at
 * different moments: then one of them gets another place, and so does who finds an index in its place that was made
 * since. For the same reason a key may be in two slots: the larger version is taken. One use, one thread.
 */
public final class CheckpointRestore
{
    /** Told which chunks are used, and for what. */
    public interface ChunkUse
    {
        /** An index is in this chunk. */
        void index(int chunk);

        /** Blocks are in this chunk. */
        void blocks(int chunk);
    }

    private final MemorySegment region;
    private final Superblock superblock;
    private final CheckpointStore store;
    private final ChunkUse use;
    private final UnsafeBuffer memory = new UnsafeBuffer();
    /** Slots whose blocks need another place, with the words they had. */
    private final Long2LongHashMap displaced = new Long2LongHashMap(SlotWord.EMPTY);
    private UnsafeBuffer block;
    private FreePlaces places;
    private long records;

    private record Placed(long slot, long version)
    {
    }

    /**
     * @param region     zeroed.
     * @param superblock what it will say of itself.
     * @param store      of this node.
     * @param use        hears of chunks.
     */
    public CheckpointRestore(
        final MemorySegment region, final Superblock superblock, final CheckpointStore store, final ChunkUse use)
    {
        this.region = region;
        this.superblock = superblock;
        this.store = store;
        this.use = use;
    }

    /**
     * Restores.
     *
     * @param tables of the cluster; those made since the checkpoint come back empty.
     * @return records restored.
     * @throws CheckpointException when the checkpoint is damaged, or does not fit.
     */
    public long run(final List<TableDescriptor> tables)
    {
        try (Arena arena = Arena.ofConfined())
        {
            block = new UnsafeBuffer(
                arena.allocate(SizeClasses.MAX_BLOCK_BYTES, BLOCK_ALIGNMENT_BYTES).address(),
                SizeClasses.MAX_BLOCK_BYTES);
            places = new FreePlaces(superblock, arena);
            // All indexes first: blocks go between them.
            tables.forEach((table) -> forEachSubtable(table, (suffix, offset) -> format(table, suffix, offset)));
            tables.forEach((table) -> forEachSubtable(table, (suffix, offset) -> fill(table, offset)));
            placeDisplaced();
            places.tell(use);
        }
        return records;
    }

    /** Takes subtables of this node. */
    @FunctionalInterface
    private interface SubtableConsumer
    {
        void accept(int suffix, long offset);
    }

    private void forEachSubtable(final TableDescriptor table, final SubtableConsumer consumer)
    {
        for (int suffix = 0; suffix < table.subtableCount(); suffix++)
        {
            if (DirectoryEntry.memoryNodeId(table.entry(suffix)) == superblock.nodeId())
            {
                consumer.accept(suffix, DirectoryEntry.subtableOffset(table.entry(suffix)));
            }
        }
    }

    private void format(final TableDescriptor table, final int suffix, final long offset)
    {
        if (!places.takeIndex(offset))
        {
            throw new CheckpointException("table " + table.name() + " does not fit this memory: subtable " + suffix +
                " at " + offset, null);
        }
        final int length = (int)SubtableDescriptor.lengthBytes(table.groupCount());
        memory.wrap(region.asSlice(offset, length).address(), length);
        final long header = BucketDescriptor.header(table.tableId(), suffix, table.depth());
        for (int at = SubtableDescriptor.GROUPS_OFFSET; at < length; at += BucketDescriptor.BUCKET_BYTES)
        {
            memory.putLong(at + BucketDescriptor.HEADER_OFFSET, header, LITTLE_ENDIAN);
        }
        SubtableDescriptor.write(
            memory, 0, table.tableId(), suffix, table.depth(), table.groupCount(), table.hashSeed(), 0);
    }

    private void fill(final TableDescriptor table, final long offset)
    {
        final Map<ByteBuffer, Placed> placed = new HashMap<>();
        final long end = offset + SubtableDescriptor.lengthBytes(table.groupCount());
        for (long page = offset; page < end; page += CheckpointStore.PAGE_BYTES)
        {
            final byte[] bytes = store.page(page);
            final ByteBuffer words = bytes == null ? null : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            for (int at = 0; words != null && at < CheckpointStore.PAGE_BYTES && page + at < end; at += Long.BYTES)
            {
                if (words.getLong(at) != 0)
                {
                    place(table, page + at, words.getLong(at), placed);
                }
            }
        }
        records += placed.size();
    }

    private void place(
        final TableDescriptor table, final long slot, final long oldWord, final Map<ByteBuffer, Placed> placed)
    {
        load(slot, oldWord);
        if (BlockDescriptor.tableId(block, 0) != table.tableId())
        {
            return; // of a table that was here before
        }
        final byte[] key = new byte[BlockDescriptor.keyLength(block, 0)];
        block.getBytes(BlockDescriptor.KEY_OFFSET, key);
        final Placed placing = new Placed(slot, BlockDescriptor.version(block, 0));
        final Placed other = placed.get(ByteBuffer.wrap(key));
        if (other != null && Long.compareUnsigned(other.version, placing.version) >= 0)
        {
            return;
        }
        if (other != null)
        {
            takeAway(other.slot);
        }
        placed.put(ByteBuffer.wrap(key), placing);
        final long offset = SlotWord.blockOffset(oldWord);
        if (places.take(offset, SizeClasses.lengthBytes(SlotWord.sizeClass(oldWord))))
        {
            put(slot, oldWord, offset);
        }
        else
        {
            displaced.put(slot, oldWord);
        }
    }

    /** The block of a slot as its word published it. */
    private void load(final long slot, final long oldWord)
    {
        final byte[] record = store.record(slot);
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(oldWord));
        if (record == null || record.length > length)
        {
            throw damaged(slot);
        }
        block.setMemory(record.length, length - record.length, (byte)0);
        block.putBytes(0, record);
        if (!BlockDescriptor.isValid(block, 0, length, oldWord))
        {
            throw damaged(slot);
        }
    }

    private void put(final long slot, final long oldWord, final long offset)
    {
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(oldWord));
        final long word = SlotWord.committed(SlotWord.fingerprint(oldWord), SlotWord.window(oldWord),
            SlotWord.versionBits(oldWord), SlotWord.sizeClass(oldWord), offset);
        block.putLong(BlockDescriptor.PREDECESSOR_OFFSET, SlotWord.EMPTY, LITTLE_ENDIAN);
        BlockDescriptor.seal(block, 0, word);
        memory.wrap(region.asSlice(offset, length).address(), length);
        memory.putBytes(0, block, 0, length);
        putWord(slot, word);
    }

    private void takeAway(final long slot)
    {
        if (displaced.remove(slot) == SlotWord.EMPTY)
        {
            memory.wrap(region.asSlice(slot, Long.BYTES).address(), Long.BYTES);
            final long word = memory.getLong(0, LITTLE_ENDIAN);
            places.free(SlotWord.blockOffset(word), SizeClasses.lengthBytes(SlotWord.sizeClass(word)));
            putWord(slot, SlotWord.EMPTY);
        }
    }

    private void putWord(final long slot, final long word)
    {
        memory.wrap(region.asSlice(slot, Long.BYTES).address(), Long.BYTES);
        memory.putLong(0, word, LITTLE_ENDIAN);
    }

    /** The longest first: shorter ones fit what is left between them. */
    private void placeDisplaced()
    {
        final List<Long> slots = new ArrayList<>(displaced.keySet());
        slots.sort(Comparator.comparingInt((final Long slot) -> -SlotWord.sizeClass(displaced.get((long)slot)))
            .thenComparing(Comparator.naturalOrder()));
        long missingBytes = 0;
        for (final long slot : slots)
        {
            final long oldWord = displaced.get(slot);
            final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(oldWord));
            final long offset = places.takeAny(length);
            if (offset < 0)
            {
                missingBytes += length;
            }
            else
            {
                load(slot, oldWord);
                put(slot, oldWord, offset);
            }
        }
        if (missingBytes > 0)
        {
            throw doesNotFit(missingBytes);
        }
    }

    /** Twice what is missing: it comes in blocks that do not fill their chunks. */
    private CheckpointException doesNotFit(final long missingBytes)
    {
        final long wantedMib = Math.ceilDiv(
            superblock.regionLengthBytes() + 2 * missingBytes + superblock.chunkLengthBytes(), 1L << 20);
        return new CheckpointException("the checkpoint does not fit this memory of " +
            superblock.regionLengthBytes() + " bytes, because it changed while it was written: " + missingBytes +
            " bytes have no place; nothing is lost, start the node with more (--memory " + wantedMib + ")", null);
    }

    private static CheckpointException damaged(final long slot)
    {
        return new CheckpointException(String.format("checkpoint is damaged: the record of slot 0x%x is not whole; " +
            "restore its folder from a copy", slot), null);
    }
}
