package io.verbena.embedded;

import io.verbena.memory.MemoryNode;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A record as it lies in the memory of a node that nobody has reached yet. */
record SimRecord(byte[] value, long version)
{
    /** Records with keys of one byte, by that. */
    static Map<Integer, SimRecord> of(final MemoryNode node, final List<TableDescriptor> tables)
    {
        return of(node, node.nodeId(), tables);
    }

    /** Those of a group that the node is a member of, or of the node alone: as tables name it. */
    static Map<Integer, SimRecord> of(
        final MemoryNode node, final int homeId, final List<TableDescriptor> tables)
    {
        final Map<Integer, SimRecord> records = new HashMap<>();
        all(node, homeId, tables).forEach((key, record) ->
        {
            if (1 == key.remaining())
            {
                records.put(Byte.toUnsignedInt(key.get(0)), record);
            }
        });
        return records;
    }

    /** Numbers of the keys of a {@link SimFiller}. */
    static Set<Integer> filled(final MemoryNode node, final List<TableDescriptor> tables)
    {
        return filled(node, node.nodeId(), tables);
    }

    /** As {@link #filled(MemoryNode, List)}, of a group that the node is a member of. */
    static Set<Integer> filled(final MemoryNode node, final int homeId, final List<TableDescriptor> tables)
    {
        final Set<Integer> numbers = new HashSet<>();
        all(node, homeId, tables).keySet().stream().filter((key) -> key.remaining() > 1)
            .forEach((key) -> numbers.add(key.getInt(1)));
        return numbers;
    }

    private static Map<ByteBuffer, SimRecord> all(
        final MemoryNode node, final int homeId, final List<TableDescriptor> tables)
    {
        final Map<ByteBuffer, SimRecord> records = new HashMap<>();
        for (final TableDescriptor table : tables)
        {
            for (int suffix = 0; suffix < table.subtableCount(); suffix++)
            {
                if (DirectoryEntry.memoryNodeId(table.entry(suffix)) == homeId)
                {
                    read(node, DirectoryEntry.subtableOffset(table.entry(suffix)), table.groupCount(), records);
                }
            }
        }
        return records;
    }

    /** Of a subtable and what it is split into. */
    private static void read(
        final MemoryNode node, final long offset, final int groupCount, final Map<ByteBuffer, SimRecord> records)
    {
        final int length = (int)SubtableDescriptor.lengthBytes(groupCount);
        final UnsafeBuffer index = read(node, offset, length);
        for (int side = 0; side < 2 && SplitLink.NONE != SubtableDescriptor.split(index, 0); side++)
        {
            read(node, SplitLink.offset(SubtableDescriptor.split(index, 0), side), groupCount, records);
        }
        for (int at = SubtableDescriptor.GROUPS_OFFSET; at < length; at += Long.BYTES)
        {
            final long word = index.getLong(at, ByteOrder.LITTLE_ENDIAN);
            if (at % BucketDescriptor.BUCKET_BYTES != 0 && SlotWord.isCommitted(word))
            {
                final UnsafeBuffer block = read(
                    node, SlotWord.blockOffset(word), SizeClasses.lengthBytes(SlotWord.sizeClass(word)));
                final byte[] value = new byte[BlockDescriptor.valueLength(block, 0)];
                block.getBytes(BlockDescriptor.KEY_OFFSET + BlockDescriptor.keyLength(block, 0), value);
                final byte[] key = new byte[BlockDescriptor.keyLength(block, 0)];
                block.getBytes(BlockDescriptor.KEY_OFFSET, key);
                records.put(
                    ByteBuffer.wrap(key),
                    new SimRecord(value, BlockDescriptor.version(block, 0)));
            }
        }
    }

    private static UnsafeBuffer read(final MemoryNode node, final long offset, final int lengthBytes)
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(lengthBytes));
        node.readRegion(offset, buffer, lengthBytes);
        return buffer;
    }
}
