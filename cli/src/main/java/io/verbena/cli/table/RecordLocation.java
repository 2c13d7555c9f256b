package io.verbena.cli.table;

import io.verbena.table.check.RegionReader;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Where the record of a key is, as a reader finds it that knows only what the directory says.
 *
 * @param memoryNodeId where slot and block are.
 * @param slotOffset   of the slot, in the node's region.
 * @param blockOffset  of the block.
 */
record RecordLocation(int memoryNodeId, long slotOffset, long blockOffset)
{
    private static final long ALIGNMENT = 64;

    /**
     * Looks in the two groups of a key.
     *
     * @param arena  for what is read.
     * @param reader of the memory.
     * @param table  that the key is of.
     * @param key    1 byte or more.
     * @return where its record is, or nothing.
     */
    static Optional<RecordLocation> find(
        final Arena arena, final RegionReader reader, final TableDescriptor table, final byte[] key)
    {
        final MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, key);
        final KeyHash hash = new KeyHash();
        hash.compute(KeyHash.function(table.hashSeed()), bytes);
        final long entry = table.entry(KeyHash.suffix(hash.high(), table.depth()));
        for (final int group : new int[]{
            KeyHash.group1(hash.low(), table.groupCount()), KeyHash.group2(hash.low(), table.groupCount())})
        {
            final Optional<RecordLocation> found = findInGroup(arena, reader, entry, group,
                KeyHash.fingerprint(hash.high()), bytes);
            if (found.isPresent())
            {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<RecordLocation> findInGroup(
        final Arena arena, final RegionReader reader, final long entry, final int group, final int fingerprint,
        final MemorySegment key)
    {
        final int node = DirectoryEntry.memoryNodeId(entry);
        final long offset = DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET +
            (long)group * BucketDescriptor.GROUP_BYTES;
        final UnsafeBuffer words = read(arena, reader, node, offset, BucketDescriptor.GROUP_BYTES);
        for (int at = 0; at < BucketDescriptor.GROUP_BYTES; at += BucketDescriptor.SLOT_BYTES)
        {
            final long word = words.getLong(at, LITTLE_ENDIAN);
            final boolean isSlot = at % BucketDescriptor.BUCKET_BYTES >= BucketDescriptor.SLOTS_OFFSET;
            if (isSlot && SlotWord.namesBlock(word) && !SlotWord.isTentative(word) &&
                SlotWord.fingerprint(word) == fingerprint && holds(arena, reader, node, word, key))
            {
                return Optional.of(new RecordLocation(node, offset + at, SlotWord.blockOffset(word)));
            }
        }
        return Optional.empty();
    }

    private static boolean holds(
        final Arena arena, final RegionReader reader, final int node, final long word, final MemorySegment key)
    {
        final long block = SlotWord.blockOffset(word);
        final UnsafeBuffer header = read(arena, reader, node, block, BlockDescriptor.HEADER_BYTES);
        if (BlockDescriptor.keyLength(header, 0) != key.byteSize())
        {
            return false;
        }
        final int length = BlockDescriptor.KEY_OFFSET + (int)key.byteSize();
        final MemorySegment record = arena.allocate(length, ALIGNMENT);
        reader.read(node, block, new UnsafeBuffer(record.address(), length), length);
        return record.asSlice(BlockDescriptor.KEY_OFFSET).mismatch(key) < 0;
    }

    private static UnsafeBuffer read(
        final Arena arena, final RegionReader reader, final int node, final long offset, final int lengthBytes)
    {
        final UnsafeBuffer bytes = new UnsafeBuffer(arena.allocate(lengthBytes, ALIGNMENT).address(), lengthBytes);
        reader.read(node, offset, bytes, lengthBytes);
        return bytes;
    }
}
