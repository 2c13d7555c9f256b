package io.verbena.memory;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.CheckpointWriter;
import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.test.Mutation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Properties;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checkpoints of two subtables that are merged, as who merged them left them when he died: all slots are frozen, and
 * some of those that take their place are initialised. Nobody works on the table, so that this is all that there is.
 */
class HalfMergedCheckpointTest
{
    private static final int CHUNKS = 4;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int NODE_ID = 3;
    private static final int TABLE_ID = 7;
    private static final long HASH_SEED = 99;
    private static final int MERGED = 2;
    private static final int BLOCKS = 3;
    private static final int BLOCK_BYTES = 256;
    private static final int RECORDS = 6;
    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    /** As MemoryMutation of the tests of whole clusters. */
    private static final Mutation FOLLOW_FROZEN =
        Mutation.returning(Mutation.type("io.verbena.memory.checkpoint.SplitTrail"), "isMoved", false);

    @TempDir
    private Path directory;
    private final Arena arena = Arena.ofConfined();
    private final KeyHash hash = new KeyHash();
    private MemorySegment region;
    private long nextKey;

    @AfterEach
    void close()
    {
        arena.close();
    }

    private static long offset(final int chunk)
    {
        return SuperblockDescriptor.SPACE_BYTES + (long)chunk * CHUNK_BYTES;
    }

    private static long slot(final int chunk, final int slot)
    {
        return offset(chunk) + SubtableDescriptor.GROUPS_OFFSET +
            (long)(slot / BucketDescriptor.SLOTS_PER_BUCKET) * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + slot % BucketDescriptor.SLOTS_PER_BUCKET * (long)Long.BYTES;
    }

    private UnsafeBuffer at(final long offset, final int lengthBytes)
    {
        return new UnsafeBuffer(region.asSlice(offset, lengthBytes).address(), lengthBytes);
    }

    /** Both subtables and the merged one, of a group each; the slots before the one given are initialised. */
    private void merge(final int initialised)
    {
        final long headers = offset(CHUNKS);
        final Superblock superblock = new Superblock(NODE_ID, 1,
            headers + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES, SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES,
            CHUNKS, headers);
        region = arena.allocate(superblock.regionLengthBytes(), 4096);
        SuperblockDescriptor.writeBoth(region, superblock);
        final ChunkTable chunks = new ChunkTable(
            SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, new ChunkHeaders(region, headers, CHUNKS));
        IntStream.rangeClosed(0, MERGED).forEach(chunks::restoredIndex);
        chunks.restoredBlocks(BLOCKS);
        SubtableDescriptor.write(at(offset(MERGED), CHUNK_BYTES), 0, TABLE_ID, 0, 0, 1, HASH_SEED, offset(0), offset(1),
            5);
        writeBuckets(MERGED, BucketDescriptor.header(TABLE_ID, 0, 0), SlotWord.UNINITIALISED);
        for (int side = 0; side < 2; side++)
        {
            final long link = MergeLink.of(offset(MERGED), offset(1 - side));
            SubtableDescriptor.write(at(offset(side), CHUNK_BYTES), 0, TABLE_ID, side, 1, 1, HASH_SEED, 0);
            region.set(ValueLayout.JAVA_LONG, offset(side) + SubtableDescriptor.SPLIT_OFFSET, link);
            writeBuckets(side, link, SlotWord.frozen(SlotWord.EMPTY));
        }
        for (int slot = 0; slot < SLOTS; slot++)
        {
            // Of every third slot one of the two has a record.
            final int side = slot / 3 % 2;
            final long word = slot % 3 == 0 && slot / 3 < RECORDS ? record(side, slot / 3) : SlotWord.EMPTY;
            region.set(ValueLayout.JAVA_LONG, slot(side, slot), SlotWord.frozen(word));
            if (slot < initialised)
            {
                region.set(ValueLayout.JAVA_LONG, slot(MERGED, slot), word);
            }
        }
    }

    private void writeBuckets(final int chunk, final long header, final long word)
    {
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            region.set(ValueLayout.JAVA_LONG, offset(chunk) + SubtableDescriptor.GROUPS_OFFSET +
                (long)bucket * BucketDescriptor.BUCKET_BYTES, header);
        }
        IntStream.range(0, SLOTS).forEach(slot -> region.set(ValueLayout.JAVA_LONG, slot(chunk, slot), word));
    }

    /** A record of a subtable, in a block of its own. */
    private long record(final int side, final int number)
    {
        final MemorySegment key = arena.allocate(Long.BYTES);
        do
        {
            key.set(ValueLayout.JAVA_LONG, 0, nextKey++);
            hash.compute(KeyHash.function(HASH_SEED), key);
        }
        while (KeyHash.suffix(hash.high(), 1) != side);
        final long at = offset(BLOCKS) + (long)number * BLOCK_BYTES;
        final UnsafeBuffer block = at(at, BLOCK_BYTES);
        BlockDescriptor.writeHeader(block, 0, TABLE_ID, Long.BYTES, 0, 1, 1, 1, hash.high(), 0, 0, 0);
        block.putLong(BlockDescriptor.KEY_OFFSET, nextKey - 1, LITTLE_ENDIAN);
        final long word = SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 1), 1,
            SizeClasses.classFor(BLOCK_BYTES), at);
        BlockDescriptor.seal(block, 0, word);
        return word;
    }

    private long recordsInCheckpoint(final int initialised)
    {
        merge(initialised);
        final Properties state = new Properties();
        try (CheckpointStore store = CheckpointStore.open(directory.resolve("" + initialised)))
        {
            new CheckpointWriter(region, new MappedLoads(region), store,
                arena.allocate(SizeClasses.MAX_BLOCK_BYTES, 64), () -> false).run(state);
        }
        assertThat(state.getProperty("damaged_records")).isEqualTo("0");
        return Long.parseLong(state.getProperty("records"));
    }

    @Test
    void shouldFindEachRecordHoweverManySlotsHaveTheirWords()
    {
        for (int initialised = 0; initialised <= SLOTS; initialised++)
        {
            assertThat(recordsInCheckpoint(initialised)).as("initialised=%d", initialised).isEqualTo(RECORDS);
        }
    }

    @Test
    void shouldLoseWhatIsFrozenWhenItIsNotFollowed()
    {
        try (Mutation.Opened _ = FOLLOW_FROZEN.open())
        {
            assertThat(recordsInCheckpoint(0)).isZero();
            assertThat(recordsInCheckpoint(SLOTS / 2)).isBetween(1L, RECORDS - 1L);
            assertThat(recordsInCheckpoint(SLOTS)).isEqualTo(RECORDS);
        }
    }
}
