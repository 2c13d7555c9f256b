package io.verbena.load.bench;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.agrona.concurrent.NanoClock;

/**
 * The memory accesses that operations cannot do without, on the very lines of the same table, without a store: what
 * the store's times are compared with. Each access waits for the one before.
 */
final class BareAccess
{
    private static final int LINE_BYTES = 64;
    private static final ValueLayout.OfLong WORD =
        ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WORDS = WORD.varHandle();
    /** Never anything but 0, which the compiler does not know. */
    private static volatile long zero;

    private final MemorySegment memory;
    private final long[] slotOffsets;
    private final long[] blockOffsets;
    private final int blockBytes;
    private final NanoClock clock;

    /** Finds every record, whose keys begin with their numbers. */
    BareAccess(
        final MemorySegment memory,
        final OpenTable table,
        final int records,
        final int blockBytes,
        final NanoClock clock)
    {
        this.clock = clock;
        this.memory = memory;
        this.blockBytes = blockBytes;
        slotOffsets = new long[records];
        blockOffsets = new long[records];
        final TableDescriptor descriptor = table.descriptor();
        for (int i = 0; i < descriptor.subtableCount(); i++)
        {
            final long groups = DirectoryEntry.subtableOffset(descriptor.entry(i)) + SubtableDescriptor.GROUPS_OFFSET;
            final long buckets = (long)descriptor.groupCount() * BucketDescriptor.BUCKETS_PER_GROUP;
            for (long bucket = 0; bucket < buckets; bucket++)
            {
                readBucket(groups + bucket * BucketDescriptor.BUCKET_BYTES);
            }
        }
    }

    private void readBucket(final long bucket)
    {
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            final long slotOffset = bucket + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES;
            final long word = memory.get(WORD, slotOffset);
            if (SlotWord.isCommitted(word))
            {
                final int number = (int)memory.get(WORD, SlotWord.blockOffset(word) + BlockDescriptor.KEY_OFFSET);
                slotOffsets[number] = slotOffset;
                blockOffsets[number] = SlotWord.blockOffset(word);
            }
        }
    }

    /** Loads the lines of each record's block and slot. @return nanoseconds for one record. */
    double loadNs(final int[] order, final int count)
    {
        final long mask = zero;
        long seen = 0;
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            final int number = order[i % order.length];
            final long slot = slotOffsets[number] + (seen & mask);
            seen = loadBlock(blockOffsets[number] + (seen & mask)) + memory.get(WORD, slot);
        }
        final long elapsed = clock.nanoTime() - start;
        zero = seen & mask;
        return (double)elapsed / count;
    }

    /** As {@link #loadNs}, but no record waits for the one before. @return nanoseconds for one record. */
    double loadIndependentNs(final int[] order, final int count)
    {
        long seen = 0;
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            final int number = order[i % order.length];
            seen += loadBlock(blockOffsets[number]) + memory.get(WORD, slotOffsets[number]);
        }
        final long elapsed = clock.nanoTime() - start;
        zero = seen & zero;
        return (double)elapsed / count;
    }

    /** Loads two pairs of buckets, and then the block that one of them names. @return nanoseconds for one record. */
    double loadColdNs(final int[] order, final int count)
    {
        final long mask = zero;
        long seen = 0;
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            final int number = order[i % order.length];
            final long own = slotOffsets[number] & -LINE_BYTES;
            final long other = slotOffsets[order[(i + 1) % order.length]] & -LINE_BYTES;
            final long buckets = loadPair(own + (seen & mask)) + loadPair(other + (seen & mask));
            seen = loadBlock(blockOffsets[number] + (buckets & mask));
        }
        final long elapsed = clock.nanoTime() - start;
        zero = seen & mask;
        return (double)elapsed / count;
    }

    /** Copies each block onto itself and swaps its slot word for itself. @return nanoseconds for one record. */
    double copyAndSwapNs(final int[] order, final int count, final MemorySegment block)
    {
        final long mask = zero;
        long seen = 0;
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            final int number = order[i % order.length];
            final long offset = blockOffsets[number] + (seen & mask);
            MemorySegment.copy(memory, offset, block, 0, blockBytes);
            MemorySegment.copy(block, 0, memory, offset, blockBytes);
            final long word = memory.get(WORD, slotOffsets[number]);
            seen = (long)WORDS.compareAndExchange(memory, slotOffsets[number], word, word);
        }
        final long elapsed = clock.nanoTime() - start;
        zero = seen & mask;
        return (double)elapsed / count;
    }

    private long loadBlock(final long offset)
    {
        long seen = 0;
        for (int at = 0; at < blockBytes; at += LINE_BYTES)
        {
            seen += memory.get(WORD, offset + at);
        }
        return seen;
    }

    private long loadPair(final long offset)
    {
        return memory.get(WORD, offset) + memory.get(WORD, offset ^ LINE_BYTES);
    }
}
