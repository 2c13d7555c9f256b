package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.function.IntConsumer;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Reads the groups of subtables in bulk, for checks. Used by one thread. */
final class TableWords
{
    /** Groups in one READ. */
    static final int GROUPS_PER_READ = 320;
    /** What a buffer must hold. */
    static final int BUFFER_BYTES = GROUPS_PER_READ * BucketDescriptor.GROUP_BYTES;

    private final RegionReader reader;
    private final UnsafeBuffer groups;

    /** Takes words. */
    @FunctionalInterface
    interface Sink
    {
        /** Takes the word of a slot; bucket counts within the group. */
        void onWord(int groupIndex, int bucket, long slotOffset, long word);
    }

    /**
     * @param reader of the memory.
     * @param groups off-heap, {@link #BUFFER_BYTES}; holds the last piece read.
     */
    TableWords(final RegionReader reader, final UnsafeBuffer groups)
    {
        this.reader = reader;
        this.groups = groups;
    }

    /** Reads the piece that begins with a group; returns how many groups it has. */
    int read(final TableDescriptor table, final int suffix, final int firstGroup)
    {
        final int count = Math.min(GROUPS_PER_READ, table.groupCount() - firstGroup);
        final long entry = table.entry(suffix);
        reader.read(DirectoryEntry.memoryNodeId(entry), groupOffset(entry, firstGroup), groups,
            count * BucketDescriptor.GROUP_BYTES);
        return count;
    }

    /** Gives the words of the piece read last to a sink, and buckets whose header is another one to the other. */
    void forEach(
        final TableDescriptor table,
        final int suffix,
        final int firstGroup,
        final int count,
        final IntConsumer wrongBuckets,
        final Sink sink)
    {
        final long header = BucketDescriptor.header(table.tableId(), suffix, table.depth());
        final long offset = groupOffset(table.entry(suffix), firstGroup);
        for (int bucket = 0; bucket < count * BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            final int bucketAt = bucket * BucketDescriptor.BUCKET_BYTES;
            if (groups.getLong(bucketAt + BucketDescriptor.HEADER_OFFSET, LITTLE_ENDIAN) != header)
            {
                wrongBuckets.accept(firstGroup * BucketDescriptor.BUCKETS_PER_GROUP + bucket);
            }
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                final int at = bucketAt + BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES;
                sink.onWord(firstGroup + bucket / BucketDescriptor.BUCKETS_PER_GROUP,
                    bucket % BucketDescriptor.BUCKETS_PER_GROUP, offset + at, groups.getLong(at, LITTLE_ENDIAN));
            }
        }
    }

    private static long groupOffset(final long entry, final int group)
    {
        return DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET +
            (long)group * BucketDescriptor.GROUP_BYTES;
    }
}
