package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.memory.checkpoint.CheckpointRestore;
import io.verbena.memory.checkpoint.ChunkUse;
import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.CheckpointWriter;
import io.verbena.memory.checkpoint.EarlierCheckpoint;
import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.StoreAccess;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.ArrayList;
import java.util.Properties;
import java.util.Random;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A checkpoint fits the memory that it was made of, however full that is, and says what to do where it cannot. */
class CheckpointRestoreTest
{
    private static final int CHUNKS = 8;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int NODE_ID = 3;
    /** Three blocks that fill a chunk exactly, in one order only when chunks are filled one after the other. */
    private static final int[] LENGTHS = {32768, 20480, 12288};
    private static final TableDescriptor TABLE = new TableDescriptor("t", 7, 0, 300, 99,
        new long[]{DirectoryEntry.stable(0, NODE_ID, SuperblockDescriptor.SPACE_BYTES)});

    @TempDir
    private Path directory;
    private final Arena arena = Arena.ofConfined();
    private final Random random = new Random(1);
    private final KeyHash hash = new KeyHash();
    private MemorySegment region;
    private ChunkTable chunks;

    @BeforeEach
    void open()
    {
        region = region(CHUNKS);
        chunks = chunks(region, CHUNKS);
        chunks.restoredIndex(0);
        final UnsafeBuffer index = at(offset(0), CHUNK_BYTES);
        for (int at = SubtableDescriptor.GROUPS_OFFSET; at < SubtableDescriptor.lengthBytes(TABLE.groupCount());
            at += BucketDescriptor.BUCKET_BYTES)
        {
            index.putLong(at, BucketDescriptor.header(TABLE.tableId(), 0, 0), LITTLE_ENDIAN);
        }
        SubtableDescriptor.write(index, 0, TABLE.tableId(), 0, 0, TABLE.groupCount(), TABLE.hashSeed(), 0);
    }

    @AfterEach
    void close()
    {
        arena.close();
    }

    private MemorySegment region(final int chunkCount)
    {
        final MemorySegment made = arena.allocate(superblock(chunkCount).regionLengthBytes(), 4096);
        SuperblockDescriptor.writeBoth(made, superblock(chunkCount));
        return made;
    }

    private static Superblock superblock(final int chunkCount)
    {
        final long headers = offset(chunkCount);
        return new Superblock(NODE_ID, 1, headers + (long)chunkCount * ChunkDescriptor.HEADER_BYTES,
            SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, chunkCount, headers);
    }

    private static ChunkTable chunks(final MemorySegment region, final int chunkCount)
    {
        return new ChunkTable(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, chunkCount,
            new ChunkHeaders(region, offset(chunkCount), chunkCount));
    }

    private static long offset(final int chunk)
    {
        return SuperblockDescriptor.SPACE_BYTES + (long)chunk * CHUNK_BYTES;
    }

    private UnsafeBuffer at(final long offset, final int lengthBytes)
    {
        return new UnsafeBuffer(region.asSlice(offset, lengthBytes).address(), lengthBytes);
    }

    private long slot(final int group, final int side)
    {
        final long bucket = offset(0) + SubtableDescriptor.GROUPS_OFFSET + (long)group * BucketDescriptor.GROUP_BYTES +
            2L * side * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.SLOTS_OFFSET;
        for (long slot = bucket; ; slot += Long.BYTES)
        {
            if (0 == region.get(ValueLayout.JAVA_LONG, slot))
            {
                return slot;
            }
        }
    }

    /** A key whose two groups lie before and behind the middle of the index. */
    private byte[] key(final int lengthBytes)
    {
        final byte[] key = new byte[lengthBytes];
        do
        {
            random.nextBytes(key);
            compute(key);
        }
        while (KeyHash.group1(hash.low(), TABLE.groupCount()) > 100 ||
            KeyHash.group2(hash.low(), TABLE.groupCount()) < 200);
        return key;
    }

    private void compute(final byte[] key)
    {
        try (Arena shortly = Arena.ofConfined())
        {
            hash.compute(KeyHash.function(TABLE.hashSeed()), shortly.allocateFrom(ValueLayout.JAVA_BYTE, key));
        }
    }

    /** Puts a record that takes a block of a length, into its first bucket or into its second. */
    private long put(
        final byte[] key, final int lengthBytes, final long offset, final boolean isFirst, final int version)
    {
        final UnsafeBuffer block = at(offset, lengthBytes);
        compute(key);
        BlockDescriptor.writeHeader(block, 0, TABLE.tableId(), key.length, 0, version, 1, 1, hash.high(), 0, 0, 0);
        block.putBytes(BlockDescriptor.KEY_OFFSET, key);
        final long word = SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 0),
            version & 0xFF, SizeClasses.classFor(lengthBytes), offset);
        BlockDescriptor.seal(block, 0, word);
        final long low = hash.low();
        final long slot = isFirst ? slot(KeyHash.group1(low, TABLE.groupCount()), KeyHash.side1(low)) :
            slot(KeyHash.group2(low, TABLE.groupCount()), KeyHash.side2(low));
        region.set(ValueLayout.JAVA_LONG, slot, word);
        return slot;
    }

    /** Fills all chunks to the last byte; the slot of the last record. */
    private long fill()
    {
        long slot = 0;
        for (int chunk = 1; chunk < CHUNKS; chunk++)
        {
            chunks.restoredBlocks(chunk);
            long offset = offset(chunk);
            for (final int length : LENGTHS)
            {
                slot = put(key(length - BlockDescriptor.HEADER_BYTES), length, offset, true, 1);
                offset += length;
            }
        }
        return slot;
    }

    private void checkpoint(final Runnable halfway)
    {
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            final int[] pages = {0};
            final MemorySegment scratch = arena.allocate(SizeClasses.MAX_BLOCK_BYTES, 64);
            new CheckpointWriter(region, new MappedLoads(region), store, scratch, () ->
            {
                if (++pages[0] == CHUNK_BYTES / 4096 / 2)
                {
                    halfway.run();
                }
                return false;
            }).run(new Properties());
        }
    }

    /** How far it was, as it was reported. */
    private final List<String> restored = new ArrayList<>();

    private StoreCheck restore(final int chunkCount)
    {
        return restore(chunkCount, TABLE);
    }

    private StoreCheck restore(final int chunkCount, final TableDescriptor table)
    {
        region = region(chunkCount);
        chunks = chunks(region, chunkCount);
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            new CheckpointRestore(region, superblock(chunkCount), store, new ChunkUse()
            {
                @Override
                public void index(final int chunk, final int group)
                {
                    chunks.restoredIndex(chunk);
                }

                @Override
                public void blocks(final int chunk, final int group)
                {
                    chunks.restoredBlocks(chunk);
                }
            }, (done, all) -> restored.add(done + " of " + all)).run(List.of(table));
        }
        final StoreCheck check = new StoreChecker((node, offset, target, length) ->
            target.putBytes(0, at(offset, length), 0, length), List.of(table), List.of()).checkOnly(NODE_ID);
        assertThat(check.problems()).isEmpty();
        assertThat(check.tables().get("t").problems()).isEmpty();
        return check;
    }

    @Test
    void shouldFitTheMemoryThatItWasMadeOfToTheLastByte()
    {
        fill();
        checkpoint(() -> { });
        final StoreCheck check = restore(CHUNKS);
        assertThat(check.tables().get("t").committed).isEqualTo((CHUNKS - 1) * LENGTHS.length);
        assertThat(check.unreclaimedBytes()).isZero();
        assertThat(chunks.orphanCount()).isEqualTo(CHUNKS - 1);
        final int all = (CHUNKS - 1) * LENGTHS.length;
        assertThat(restored).hasSize(all).startsWith("1 of " + all).endsWith(all + " of " + all);
    }

    @Test
    void shouldReportHowFarACheckpointIs()
    {
        fill();
        final List<String> heard = new ArrayList<>();
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            new CheckpointWriter(region, new MappedLoads(region), store,
                arena.allocate(SizeClasses.MAX_BLOCK_BYTES, 64), () -> false)
                .listener((subtables, all, records) -> heard.add(subtables + " of " + all + ": " + records))
                .run(new Properties());
        }
        assertThat(heard).containsExactly("1 of 1: " + (CHUNKS - 1) * LENGTHS.length);
    }

    @Test
    void shouldGiveAnotherPlaceToARecordWhoseMemoryWasUsedAgainMeanwhile()
    {
        chunks.restoredBlocks(1);
        final long slot = put(key(1000), 1280, offset(1), true, 1);
        checkpoint(() ->
        {
            region.set(ValueLayout.JAVA_LONG, slot, 0L);
            put(key(1000), 1280, offset(1), false, 1);
        });
        assertThat(restore(CHUNKS).tables().get("t").committed).isEqualTo(2);
        assertThat(chunks.orphanCount()).isEqualTo(1);
    }

    /** A group has the number of no memory node. */
    @Test
    void shouldLeaveOutRecordsOfATableWhoseCopiesAGroupKeeps()
    {
        fill();
        checkpoint(() -> { });
        final StoreCheck check = restore(CHUNKS, new TableDescriptor("t", 7, 0, 300, 99,
            new long[]{DirectoryEntry.stable(0, NODE_ID + 1, SuperblockDescriptor.SPACE_BYTES)}));
        assertThat(check.tables().get("t").committed).isZero();
        assertThat(chunks.orphanCount()).isZero();
        assertThat(chunks.freeCount()).isEqualTo(CHUNKS);
    }

    @Test
    void shouldRefuseARecordThatIsNotWhereItsTableHasIt()
    {
        fill();
        checkpoint(() -> { });
        final long here = SuperblockDescriptor.SPACE_BYTES;
        assertThatThrownBy(() -> restore(CHUNKS, new TableDescriptor("t", 7, 1, 300, 99, new long[]{
            DirectoryEntry.stable(1, NODE_ID, here), DirectoryEntry.stable(1, NODE_ID + 1, here)})))
            .isInstanceOf(CheckpointException.class).hasMessageContaining("is not whole");
    }

    @Test
    void shouldTakeTheLaterOneOfAKeyThatChangedItsSlotMeanwhile()
    {
        chunks.restoredBlocks(1);
        final byte[] key = key(1000);
        final long slot = put(key, 1280, offset(1), true, 1);
        checkpoint(() ->
        {
            region.set(ValueLayout.JAVA_LONG, slot, 0L);
            put(key, 12288, offset(1), false, 2);
        });
        assertThat(restore(CHUNKS).tables().get("t").committed).isEqualTo(1);
        assertThat(region.get(ValueLayout.JAVA_LONG, slot)).isZero();
        // Its place was free by then, or not: what counts is that the earlier one takes none any more.
        assertThat(chunks.freeCount()).isEqualTo(CHUNKS - 2);
    }

    /** The memory is found again by a build that writes another format than the one that made its checkpoint. */
    @Test
    void shouldMakeTheNextCheckpointInAFolderOfTheFormatBefore()
    {
        chunks.restoredBlocks(1);
        final byte[] changed = key(1000);
        final long slot = put(changed, 1280, offset(1), true, 1);
        put(key(1000), 1280, offset(1) + 1280, true, 1);
        final long gone = put(key(1000), 1280, offset(1) + 2560, true, 1);
        checkpoint(() -> { });
        EarlierCheckpoint.make(directory);
        assertThat(restore(CHUNKS).tables().get("t").committed).isEqualTo(3);
        EarlierCheckpoint.make(directory);

        region.set(ValueLayout.JAVA_LONG, slot, 0L);
        put(changed, 1280, offset(1) + 3840, true, 2);
        region.set(ValueLayout.JAVA_LONG, gone, 0L);
        checkpoint(() -> { });
        assertThat(restore(CHUNKS).tables().get("t").committed).isEqualTo(2);
    }

    /** The table was split since, into chunks of which one held blocks when the checkpoint was made. */
    @Test
    void shouldPutRecordsWhereANewerDescriptorSays()
    {
        chunks.restoredBlocks(1);
        for (int i = 0; i < 40; i++)
        {
            put(key(1000), 1280, offset(1) + i * 1280L, true, 1);
        }
        checkpoint(() -> { });
        final TableDescriptor split = new TableDescriptor("t", TABLE.tableId(), 2, TABLE.groupCount(), TABLE.hashSeed(),
            new long[]{ entry(2, 1), entry(1, 2), entry(2, 3), entry(1, 2) });
        assertThat(restore(CHUNKS, split).tables().get("t").committed).isEqualTo(40);
    }

    private static long entry(final int depth, final int chunk)
    {
        return DirectoryEntry.stable(depth, NODE_ID, offset(chunk));
    }

    /** Splits that the lost memory knew were not published: the records of four subtables come to one. */
    @Test
    void shouldSplitASubtableForWhichThereAreTooManyRecords()
    {
        final TableDescriptor tiny = new TableDescriptor(
            "t", TABLE.tableId(), 0, 2, TABLE.hashSeed(), new long[]{entry(0, 0)});
        try (CheckpointStore store = CheckpointStore.open(directory))
        {
            fill(store, 150);
        }
        final StoreCheck check = restore(2 * CHUNKS, tiny);
        assertThat(check.tables().get("t").committed).isEqualTo(150);
        assertThat(check.tables().get("t").splitsUnderWay).isZero();
        assertThat(check.unreclaimedBytes()).isPositive();
        assertThat(chunks.indexCount()).isGreaterThan(6);
    }

    /** As a checkpoint of several chunks has them: slots repeat, each in another chunk. */
    private void fill(final CheckpointStore store, final int count)
    {
        final UnsafeBuffer block = at(offset(7), 128);
        for (int i = 0; i < count; i++)
        {
            final byte[] key = key(20);
            final long offset = offset(1) + i * 128L;
            compute(key);
            BlockDescriptor.writeHeader(block, 0, TABLE.tableId(), key.length, 0, i, 1, 1, hash.high(), 0, 0, 0);
            block.putBytes(BlockDescriptor.KEY_OFFSET, key);
            final long word = SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 2),
                i & 0xFF, SizeClasses.classFor(128), offset);
            BlockDescriptor.seal(block, 0, word);
            final byte[] record = new byte[Long.BYTES + BlockDescriptor.HEADER_BYTES + key.length];
            block.getBytes(0, record, Long.BYTES, record.length - Long.BYTES);
            ByteBuffer.wrap(record).order(LITTLE_ENDIAN).putLong(word);
            StoreAccess.putRecord(
                store, offset(i % 4) + 72 + i % 7 * 8L, block.getLong(0, LITTLE_ENDIAN), record);
        }
        StoreAccess.finish(store);
    }

    @Test
    void shouldSayHowMuchMemoryAFullOneTakesThatChangedMeanwhile()
    {
        final long slot = fill();
        final int length = LENGTHS[LENGTHS.length - 1];
        checkpoint(() ->
        {
            region.set(ValueLayout.JAVA_LONG, slot, 0L);
            put(key(length - BlockDescriptor.HEADER_BYTES), length, offset(CHUNKS) - length, false, 1);
        });
        assertThatThrownBy(() -> restore(CHUNKS)).isInstanceOf(CheckpointException.class)
            .hasMessageContaining(length + " bytes have no place; nothing is lost").hasMessageContaining("--memory 1)");
        assertThat(restore((1 << 20) / CHUNK_BYTES - 1).tables().get("t").committed)
            .isEqualTo((CHUNKS - 1) * LENGTHS.length + 1);
    }
}
