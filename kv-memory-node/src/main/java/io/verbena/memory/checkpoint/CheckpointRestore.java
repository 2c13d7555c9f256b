package io.verbena.memory.checkpoint;

import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.TableDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Puts the records of a checkpoint into an empty region that nobody else uses. Words keep their slots; blocks are laid
 * one behind the other, because in a checkpoint two words may name the same memory, read at different moments. For the
 * same reason a key may be in two slots: the larger version is taken. One use, one thread.
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
    private final boolean[] isTaken;
    private int blockChunk = -1;
    private int used;
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
        isTaken = new boolean[superblock.chunkCount()];
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
        // All indexes first: blocks go between them.
        tables.forEach((table) -> forEachSubtable(table, (suffix, offset) -> format(table, suffix, offset)));
        tables.forEach((table) -> forEachSubtable(table, (suffix, offset) -> fill(table, offset)));
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
        final int chunk = (int)((offset - superblock.chunksOffset()) / superblock.chunkLengthBytes());
        if (offset < superblock.chunksOffset() || chunk >= superblock.chunkCount() || isTaken[chunk])
        {
            throw new CheckpointException("table " + table.name() + " does not fit this memory: subtable " + suffix +
                " at " + offset, null);
        }
        isTaken[chunk] = true;
        use.index(chunk);
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
        final byte[] record = store.record(slot);
        final int length = SizeClasses.lengthBytes(SlotWord.sizeClass(oldWord));
        if (record == null || record.length > length)
        {
            throw damaged(slot);
        }
        final long offset = allocate(length);
        memory.wrap(region.asSlice(offset, length).address(), length);
        memory.setMemory(0, length, (byte)0);
        memory.putBytes(0, record);
        if (!BlockDescriptor.isValid(memory, 0, length, oldWord))
        {
            throw damaged(slot);
        }
        if (BlockDescriptor.tableId(memory, 0) != table.tableId())
        {
            used -= length; // of a table that was here before
            return;
        }
        final byte[] key = new byte[BlockDescriptor.keyLength(memory, 0)];
        memory.getBytes(BlockDescriptor.KEY_OFFSET, key);
        final Placed placing = new Placed(slot, BlockDescriptor.version(memory, 0));
        final Placed other = placed.get(ByteBuffer.wrap(key));
        if (other != null && Long.compareUnsigned(other.version, placing.version) >= 0)
        {
            used -= length;
            return;
        }
        if (other != null)
        {
            putWord(other.slot, SlotWord.EMPTY);
        }
        placed.put(ByteBuffer.wrap(key), placing);
        final long word = SlotWord.committed(SlotWord.fingerprint(oldWord), SlotWord.window(oldWord),
            SlotWord.versionBits(oldWord), SlotWord.sizeClass(oldWord), offset);
        memory.wrap(region.asSlice(offset, length).address(), length);
        memory.putLong(BlockDescriptor.PREDECESSOR_OFFSET, SlotWord.EMPTY, LITTLE_ENDIAN);
        BlockDescriptor.seal(memory, 0, word);
        putWord(slot, word);
    }

    private void putWord(final long slot, final long word)
    {
        memory.wrap(region.asSlice(slot, Long.BYTES).address(), Long.BYTES);
        memory.putLong(0, word, LITTLE_ENDIAN);
    }

    private long allocate(final int length)
    {
        if (blockChunk < 0 || used + length > superblock.chunkLengthBytes())
        {
            do
            {
                blockChunk++;
            }
            while (blockChunk < superblock.chunkCount() && isTaken[blockChunk]);
            if (blockChunk >= superblock.chunkCount())
            {
                throw new CheckpointException("the checkpoint does not fit this memory of " +
                    superblock.regionLengthBytes() + " bytes", null);
            }
            used = 0;
            use.blocks(blockChunk);
        }
        used += length;
        return superblock.chunksOffset() + (long)blockChunk * superblock.chunkLengthBytes() + used - length;
    }

    private static CheckpointException damaged(final long slot)
    {
        return new CheckpointException(String.format("checkpoint is damaged: the record of slot 0x%x is not whole; " +
            "restore its folder from a copy", slot), null);
    }
}
