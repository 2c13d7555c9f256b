package io.verbena.cli.cluster;

import io.verbena.table.directory.Subtable;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;

import org.agrona.concurrent.UnsafeBuffer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Leaves in a stopped store what a splitter leaves that ended when it had frozen the first bucket of a subtable. */
final class PlantedSplit
{
    private final OfflineStore store;
    private final TableDescriptor table;
    private final Subtable old;
    private final UnsafeBuffer word;

    private PlantedSplit(final OfflineStore store, final Arena arena)
    {
        this.store = store;
        table = store.tables().getFirst();
        old = Subtable.of(table).getFirst();
        word = new UnsafeBuffer(arena.allocate(Long.BYTES, Long.BYTES).address(), Long.BYTES);
    }

    static void plant(final ClusterFolder folder)
    {
        try (OfflineStore store = OfflineStore.open(folder); Arena arena = Arena.ofConfined())
        {
            new PlantedSplit(store, arena).plant(arena);
        }
    }

    private void plant(final Arena arena)
    {
        final long[] chunks = takeTwoChunks(arena);
        final long link = SplitLink.of(chunks[0], chunks[1]);
        for (int side = 0; side < 2; side++)
        {
            format(old.child(link, side), arena);
        }
        swap(old.offset() + SubtableDescriptor.SPLIT_OFFSET, link);
        final long bucket = old.offset() + SubtableDescriptor.GROUPS_OFFSET;
        swap(bucket + BucketDescriptor.HEADER_OFFSET, link);
        for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
        {
            final long at = bucket + BucketDescriptor.SLOTS_OFFSET + (long)slot * BucketDescriptor.SLOT_BYTES;
            swap(at, SlotWord.frozen(read(at)));
        }
    }

    private long[] takeTwoChunks(final Arena arena)
    {
        final MemorySegment page = arena.allocate(SuperblockDescriptor.READ_BYTES, 64);
        store.read(old.memoryNodeId(), 0, new UnsafeBuffer(page.address(), (int)page.byteSize()),
            SuperblockDescriptor.READ_BYTES);
        final Superblock superblock = SuperblockDescriptor.read(page);
        final UnsafeBuffer header = new UnsafeBuffer(
            arena.allocate(ChunkDescriptor.HEADER_BYTES, 64).address(), ChunkDescriptor.HEADER_BYTES);
        final long[] taken = new long[2];
        int count = 0;
        for (int chunk = superblock.chunkCount() - 1; count < taken.length; chunk--)
        {
            final long at = superblock.chunkHeadersOffset() + (long)chunk * ChunkDescriptor.HEADER_BYTES;
            store.read(old.memoryNodeId(), at, header, ChunkDescriptor.HEADER_BYTES);
            if (ChunkDescriptor.STATE_FREE == ChunkDescriptor.state(header, 0))
            {
                ChunkDescriptor.write(header, 0, ChunkDescriptor.STATE_INDEX, 0, 0, 0, 0,
                    ChunkDescriptor.leaseNumber(header, 0), 0);
                write(at, header);
                taken[count++] = superblock.chunksOffset() + (long)chunk * superblock.chunkLengthBytes();
            }
        }
        return taken;
    }

    private void format(final Subtable made, final Arena arena)
    {
        final UnsafeBuffer header = new UnsafeBuffer(
            arena.allocate(SubtableDescriptor.HEADER_BYTES, 64).address(), SubtableDescriptor.HEADER_BYTES);
        SubtableDescriptor.write(header, 0, table.tableId(), made.suffix(), made.depth(), table.groupCount(),
            table.hashSeed(), old.offset());
        write(made.offset(), header);
        final long buckets = (long)table.groupCount() * BucketDescriptor.BUCKETS_PER_GROUP;
        for (long bucket = 0; bucket < buckets; bucket++)
        {
            final long at =
                made.offset() + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES;
            swap(at + BucketDescriptor.HEADER_OFFSET,
                BucketDescriptor.header(table.tableId(), made.suffix(), made.depth()));
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                swap(at + BucketDescriptor.SLOTS_OFFSET + (long)slot * BucketDescriptor.SLOT_BYTES,
                    SlotWord.UNINITIALISED);
            }
        }
    }

    private void write(final long offset, final UnsafeBuffer bytes)
    {
        for (int at = 0; at < bytes.capacity(); at += Long.BYTES)
        {
            swap(offset + at, bytes.getLong(at, LITTLE_ENDIAN));
        }
    }

    private void swap(final long offset, final long desired)
    {
        store.swap(old.memoryNodeId(), offset, read(offset), desired);
    }

    private long read(final long offset)
    {
        store.read(old.memoryNodeId(), offset, word, Long.BYTES);
        return word.getLong(0, LITTLE_ENDIAN);
    }
}
