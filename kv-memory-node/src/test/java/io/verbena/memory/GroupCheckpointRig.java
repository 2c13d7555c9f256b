package io.verbena.memory;

import io.verbena.memory.checkpoint.CheckpointStore;
import io.verbena.memory.checkpoint.MappedLoads;
import io.verbena.memory.checkpoint.RegionLoads;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
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
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

/** A table of a group, beside a table of the memory node alone, and a checkpointer of both. */
abstract class GroupCheckpointRig
{
    static final int GROUP = 9;
    static final int NODE_ID = 3;
    static final int CHUNKS = 8;
    static final int CHUNK_BYTES = 64 << 10;
    static final int BLOCK_BYTES = 1280;
    static final PeerIdentity SELF = new PeerIdentity(NODE_ID, 7);
    static final int OTHER_GROUP = 8;
    static final View FIRST = View.first(OTHER_GROUP, List.of(SELF, new PeerIdentity(1, 5)));
    static final View VIEW = View.first(GROUP, List.of(new PeerIdentity(1, 5), SELF));
    static final TableDescriptor ALONE = table("alone", 6, NODE_ID, 0);
    static final TableDescriptor COPIED = table("copied", 7, GROUP, 2);

    static final View MIDDLE = View.first(GROUP, List.of(new PeerIdentity(1, 5), SELF, new PeerIdentity(2, 6)));

    @TempDir
    Path directory;
    final Arena arena = Arena.ofShared();
    final KeyHash hash = new KeyHash();
    final AtomicLong nowMs = new AtomicLong(1_000);
    final AtomicLong nowNs = new AtomicLong();
    GroupCoverage coverage;
    MemorySegment region = region();
    ChunkTable chunks;
    MemoryFolder folder;
    Checkpointer checkpointer;
    View answered = VIEW;
    List<View> others = List.of();

    static TableDescriptor table(final String name, final int tableId, final int homeId, final int chunk)
    {
        return new TableDescriptor(
            name, tableId, 0, 300, 99, new long[]{DirectoryEntry.stable(0, homeId, offset(chunk))});
    }

    @BeforeEach
    void open()
    {
        folder = MemoryFolder.open(directory.resolve("node"), 0, superblock().regionLengthBytes());
        folder.joined(NODE_ID, 99, SELF.incarnation());
        chunks = chunks();
        index(ALONE, 0, 0);
        index(COPIED, 2, GROUP);
        blocks(1, 0);
        blocks(3, GROUP);
        put(ALONE, 0, "a", offset(1));
        put(COPIED, 2, "b", offset(3));
        put(COPIED, 2, "c", offset(3) + BLOCK_BYTES);
        restart();
    }

    @AfterEach
    void close()
    {
        folder.close();
        arena.close();
    }

    /** As the node's thread does; where there is no answer, time passes. */
    void answer()
    {
        nowNs.addAndGet(100_000_000);
        if (null != answered)
        {
            coverage.answer(coverage.question(), SELF, Stream.concat(others.stream(), Stream.of(answered)).toList());
        }
    }

    static View next(final View view)
    {
        return view.closing(0, PeerIdentity.UNREGISTERED).reconciling().next();
    }

    /** The next process of the node, on the same memory. */
    void restart()
    {
        coverage = new GroupCoverage();
        checkpointer = new Checkpointer(folder, region, 0, nowNs::get, nowMs::incrementAndGet).coverGroups(
            new GroupCheckpoints(folder, region, coverage, nowNs::get, nowMs::get));
        checkpointer.pause(this::answer);
    }

    MemorySegment region()
    {
        final MemorySegment made = arena.allocate(superblock().regionLengthBytes(), 4096);
        SuperblockDescriptor.writeBoth(made, superblock());
        return made;
    }

    static Superblock superblock()
    {
        return new Superblock(NODE_ID, SELF.incarnation(),
            offset(CHUNKS) + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES, SuperblockDescriptor.SPACE_BYTES,
            CHUNK_BYTES, CHUNKS, offset(CHUNKS));
    }

    static long offset(final int chunk)
    {
        return SuperblockDescriptor.SPACE_BYTES + (long)chunk * CHUNK_BYTES;
    }

    ChunkTable chunks()
    {
        return new ChunkTable(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS,
            new ChunkHeaders(region, offset(CHUNKS), CHUNKS));
    }

    UnsafeBuffer at(final long offset, final int lengthBytes)
    {
        return new UnsafeBuffer(region.asSlice(offset, lengthBytes).address(), lengthBytes);
    }

    void index(final TableDescriptor table, final int chunk, final int group)
    {
        name(chunk, group);
        chunks.restoredIndex(chunk);
        final UnsafeBuffer index = at(offset(chunk), CHUNK_BYTES);
        for (int at = SubtableDescriptor.GROUPS_OFFSET; at < SubtableDescriptor.lengthBytes(table.groupCount());
            at += BucketDescriptor.BUCKET_BYTES)
        {
            index.putLong(at, BucketDescriptor.header(table.tableId(), 0, 0), LITTLE_ENDIAN);
        }
        SubtableDescriptor.write(index, 0, table.tableId(), 0, 0, table.groupCount(), table.hashSeed(), 0);
    }

    void blocks(final int chunk, final int group)
    {
        name(chunk, group);
        chunks.restoredBlocks(chunk);
    }

    void name(final int chunk, final int group)
    {
        if (0 != group)
        {
            chunks.leaseNames().name(chunk, group, 1, 4);
        }
    }

    void put(final TableDescriptor table, final int chunk, final String key, final long offset)
    {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        final UnsafeBuffer block = at(offset, BLOCK_BYTES);
        try (Arena shortly = Arena.ofConfined())
        {
            hash.compute(KeyHash.function(table.hashSeed()), shortly.allocateFrom(ValueLayout.JAVA_BYTE, bytes));
        }
        BlockDescriptor.writeHeader(
            block, 0, table.tableId(), bytes.length, 0, 1, 1, 1, hash.high(), 0, 0, 0);
        block.putBytes(BlockDescriptor.KEY_OFFSET, bytes);
        final long word = SlotWord.committed(KeyHash.fingerprint(hash.high()), KeyHash.window(hash.high(), 0),
            1, SizeClasses.classFor(BLOCK_BYTES), offset);
        BlockDescriptor.seal(block, 0, word);
        final long low = hash.low();
        long slot = offset(chunk) + SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.SLOTS_OFFSET +
            (long)KeyHash.group1(low, table.groupCount()) * BucketDescriptor.GROUP_BYTES +
            2L * KeyHash.side1(low) * BucketDescriptor.BUCKET_BYTES;
        while (0 != region.get(ValueLayout.JAVA_LONG, slot))
        {
            slot += Long.BYTES;
        }
        region.set(ValueLayout.JAVA_LONG, slot, word);
    }

    String property(final String name)
    {
        try (CheckpointStore store = folder.openCheckpoint(GROUP))
        {
            return store.state().getProperty(name);
        }
    }

    void make()
    {
        checkpointer.make();
        assertThat(checkpointer.failure()).isEmpty();
    }

    /** Into memory that is gone; what was restored of the group. */
    RestoredGroup restore(final View view, final TableDescriptor... tables)
    {
        region = region();
        chunks = chunks();
        final RestoredGroups restored = RestoredGroups.of(folder, false);
        RegionAdoption.restore(region, superblock(), folder,
            new GroupRestore(folder, List.of(view), restored, chunks), List.of(tables), (done, all) -> { });
        assertThat(RestoredGroups.of(folder, true).all()).as("the next process")
            .containsExactlyElementsOf(restored.all());
        return restored.of(GROUP);
    }

    int words(final int chunk)
    {
        int words = 0;
        for (long at = offset(chunk) + SubtableDescriptor.GROUPS_OFFSET; at < offset(chunk + 1); at += Long.BYTES)
        {
            final boolean isSlot = at % BucketDescriptor.BUCKET_BYTES != 0;
            words += isSlot && SlotWord.isCommitted(region.get(ValueLayout.JAVA_LONG, at)) ? 1 : 0;
        }
        return words;
    }

    /** Does something behind each copy of a block of the group. */
    static RegionLoads changing(final MemorySegment mapped, final Runnable change)
    {
        return new ChangingLoads(new MappedLoads(mapped), offset(3), BLOCK_BYTES, change);
    }
}
