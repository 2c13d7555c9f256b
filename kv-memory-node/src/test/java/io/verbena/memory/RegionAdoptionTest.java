package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.test.Mutation;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What is found again of a region, after its writer was killed anywhere; and what is refused as damage. */
class RegionAdoptionTest
{
    private static final int CHUNKS = 8;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final long HEADERS = SuperblockDescriptor.SPACE_BYTES + (long)CHUNKS * CHUNK_BYTES;
    private static final long LENGTH = HEADERS + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES;
    private static final Superblock SUPERBLOCK =
        new Superblock(3, 7, LENGTH, SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, HEADERS);
    private static final PeerIdentity OWNER = new PeerIdentity(5, 6);
    /** As MemoryMutation of the tests of whole clusters. */
    private static final Mutation OUTDATED = Mutation.returning(RegionAdoption.class, "isOutdated", false);

    @TempDir
    private Path directory;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment region = arena.allocate(LENGTH, 4096);

    @AfterEach
    void free()
    {
        arena.close();
    }

    private MemoryFolder folder()
    {
        return MemoryFolder.open(directory.resolve("node"), 0, LENGTH);
    }

    private boolean isFound()
    {
        return RegionAdoption.Kind.FOUND == look();
    }

    private RegionAdoption.Kind look()
    {
        try (MemoryFolder folder = folder())
        {
            return RegionAdoption.look(region, folder, SUPERBLOCK);
        }
    }

    private void join()
    {
        try (MemoryFolder folder = folder())
        {
            folder.joined(3, 99, 7);
        }
        SuperblockDescriptor.writeBoth(region, SUPERBLOCK);
    }

    private void flip(final long offset)
    {
        region.set(ValueLayout.JAVA_BYTE, offset, (byte)~region.get(ValueLayout.JAVA_BYTE, offset));
    }

    private ChunkTable restore()
    {
        return restore(false);
    }

    private ChunkTable restore(final boolean acceptsDamage)
    {
        return ChunkTable.restore(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS,
            new ChunkHeaders(region, HEADERS, CHUNKS), acceptsDamage);
    }

    private static long offset(final int chunk)
    {
        return SuperblockDescriptor.SPACE_BYTES + (long)chunk * CHUNK_BYTES;
    }

    private static long header(final int chunk)
    {
        return HEADERS + (long)chunk * ChunkDescriptor.HEADER_BYTES;
    }

    /** One of each state: blocks, an index, orphans that somebody has claimed, free. */
    private long tableWithDamagedHeaders()
    {
        final ChunkTable before = newTable();
        before.lease(OWNER, 1, ChunkPurpose.BLOCKS, 1, false);
        before.lease(OWNER, 2, ChunkPurpose.INDEX, 1, false);
        before.lease(OWNER, 3, ChunkPurpose.BLOCKS, 2, false);
        before.claim(OWNER, List.of(new ChunkRun(offset(2), 1)));
        before.lease(OWNER, 4, ChunkPurpose.BLOCKS, 1, false); // the last header, which would be written once more
        for (final int chunk : new int[] {0, 1, 2, 5})
        {
            flip(header(chunk) + chunk * 11);
        }
        return before.newestLease();
    }

    @Test
    void shouldQuarantineChunksWithDamagedHeadersWhenThatIsAccepted()
    {
        final long newestLease = tableWithDamagedHeaders();
        assertThatThrownBy(this::restore).isInstanceOf(FormatException.class)
            .hasMessageContaining("chunk 0: ").hasMessageContaining("--accept-damage");
        final ChunkTable chunks = restore(true);
        assertThat(chunks.damagedCount()).isEqualTo(4);
        assertThat(chunks.quarantinedCount()).isEqualTo(4);
        assertThat(chunks.newestLease()).as("unlike any that was read by somebody").isGreaterThan(newestLease + CHUNKS);
        final BitSet indexes = new BitSet();
        indexes.set(1);
        chunks.acceptDamaged(indexes);
        assertThat(chunks.quarantinedCount()).isEqualTo(3);
        assertThat(chunks.indexCount()).isEqualTo(1);

        // Nobody gets the others, in any way, nor after all nodes have ended.
        chunks.orphanUnless((node) -> false);
        final PeerIdentity other = new PeerIdentity(9, 1);
        for (final int chunk : new int[] {0, 2, 5})
        {
            final List<ChunkRun> run = List.of(new ChunkRun(offset(chunk), 1));
            assertThat(chunks.claim(other, run)).isEmpty();
            assertThatThrownBy(() -> chunks.takeBack(other, run, 0)).isInstanceOf(ControlException.class);
            assertThatThrownBy(() -> chunks.adopt(other, run)).isInstanceOf(ControlException.class);
        }
        assertThat(chunks.lease(other, 4, ChunkPurpose.BLOCKS, 2, false))
            .containsExactly(new ChunkRun(offset(6), 2));
        chunks.takeBack(other, List.of(new ChunkRun(offset(1), 1)), 0);
        assertThat(restore().quarantinedCount()).as("headers are whole from now on").isEqualTo(3);
    }

    @Test
    void shouldLeaveDamagedHeadersAsTheyWereWhenTheNodeDoesNotStart()
    {
        tableWithDamagedHeaders();
        final byte[] before = region.asSlice(HEADERS).toArray(ValueLayout.JAVA_BYTE);
        restore(true).refuseDamaged();
        assertThat(region.asSlice(HEADERS).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        assertThatThrownBy(this::restore).isInstanceOf(FormatException.class);
    }

    private ChunkTable newTable()
    {
        return new ChunkTable(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS,
            new ChunkHeaders(region, HEADERS, CHUNKS));
    }

    @Test
    void shouldTakeARegionAsNewOnlyWhenNobodyWasEverLetIn()
    {
        assertThat(look()).isEqualTo(RegionAdoption.Kind.NEW);
        join();
        assertThat(look()).isEqualTo(RegionAdoption.Kind.FOUND);
        region.fill((byte)0);
        assertThat(look()).isEqualTo(RegionAdoption.Kind.TO_RESTORE);
    }

    @Test
    void shouldNotGoBackToMemoryThatTheNodeHasLeft()
    {
        join();
        try (MemoryFolder folder = folder())
        {
            folder.joined(3, 99, 8); // on another host, from a checkpoint; then the folder came back
        }
        assertThat(look()).as("no checkpoint came along").isEqualTo(RegionAdoption.Kind.TO_RESTORE);
        try (MemoryFolder folder = folder())
        {
            newTable();
            new Checkpointer(folder, region, 0, SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE).make();
            assertThat(folder.hasCheckpoint()).isTrue();
            assertThat(RegionAdoption.look(region, folder, SUPERBLOCK)).isEqualTo(RegionAdoption.Kind.TO_RESTORE);
            try (Mutation.Opened _ = OUTDATED.open())
            {
                assertThat(RegionAdoption.look(region, folder, SUPERBLOCK)).isEqualTo(RegionAdoption.Kind.FOUND);
            }
        }
    }

    @Test
    void shouldTakeARegionAsNewWhenItsNodeWasKilledBeforeItWroteDownWhoItIs()
    {
        SuperblockDescriptor.writeBoth(region, SUPERBLOCK);
        try (MemoryFolder folder = folder())
        {
            assertThat(RegionAdoption.look(region, folder, SUPERBLOCK)).isEqualTo(RegionAdoption.Kind.NEW);
        }
    }

    @Test
    void shouldMendASuperblockThatIsTornAtAnyByte()
    {
        join();
        for (int torn = 0; torn < SuperblockDescriptor.LENGTH; torn++)
        {
            flip(torn);
            assertThat(isFound()).as("superblock, byte %d", torn).isTrue();
            assertThat(SuperblockDescriptor.read(region)).isEqualTo(SUPERBLOCK);
            flip(SuperblockDescriptor.COPY_OFFSET + torn);
            assertThat(isFound()).as("copy, byte %d", torn).isTrue();
            flip(SuperblockDescriptor.COPY_OFFSET + torn);
        }
    }

    @Test
    void shouldRefuseASuperblockThatIsDamagedWithItsCopy()
    {
        join();
        flip(20);
        flip(SuperblockDescriptor.COPY_OFFSET + 21);
        assertThatThrownBy(this::isFound).isInstanceOf(FormatException.class).hasMessageContaining("damaged");
        flip(20);
        flip(8);
        assertThatThrownBy(this::isFound).isInstanceOf(FormatException.class).hasMessageContaining("format version");
        assertThat(region.get(ValueLayout.JAVA_BYTE, SuperblockDescriptor.COPY_OFFSET + 21L))
            .as("nothing was overwritten").isNotZero();
    }

    @Test
    void shouldRefuseTheMemoryOfAnotherNode()
    {
        join();
        SuperblockDescriptor.writeBoth(region, new Superblock(
            4, 7, LENGTH, SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, HEADERS));
        assertThatThrownBy(this::isFound).isInstanceOf(FormatException.class)
            .hasMessageContaining("not the memory of this node");
    }

    @Test
    void shouldKnowWhoHasWhichChunk()
    {
        final ChunkTable table = newTable();
        table.lease(OWNER, 1, ChunkPurpose.INDEX, 2, true);
        table.lease(OWNER, 2, ChunkPurpose.BLOCKS, 3, false);
        final PeerIdentity reaper = new PeerIdentity(9, 9);
        table.claim(OWNER, table.lease(OWNER, 3, ChunkPurpose.BLOCKS, 1, false));
        final PeerIdentity dead = new PeerIdentity(8, 8);
        table.lease(dead, 1, ChunkPurpose.BLOCKS, 1, false);
        table.orphan(dead);
        final long version = SuperblockDescriptor.viewVersion(region);

        final ChunkTable found = restore();
        assertThat(found.indexCount()).isEqualTo(2);
        assertThat(found.blockCount()).isEqualTo(3);
        assertThat(found.orphanCount()).isEqualTo(2);
        assertThat(found.freeCount()).isEqualTo(1);
        assertThat(found.blockChunksByOwner()).isEqualTo(table.blockChunksByOwner());
        assertThat(found.lease(reaper, 1, ChunkPurpose.BLOCKS, 1, false)).hasSize(1);
        assertThat(SuperblockDescriptor.viewVersion(region)).isGreaterThan(version);
    }

    @Test
    void shouldGiveTheSameChunksWhenARequestComesAgainAfterARestart()
    {
        final ChunkTable table = newTable();
        final List<ChunkRun> index = table.lease(OWNER, 1, ChunkPurpose.INDEX, 2, false);
        final List<ChunkRun> blocks = table.lease(OWNER, 2, ChunkPurpose.BLOCKS, 3, false);

        final ChunkTable found = restore();
        assertThat(found.newestLease()).isEqualTo(table.newestLease());
        assertThat(found.lease(OWNER, 2, ChunkPurpose.BLOCKS, 3, false)).isEqualTo(blocks);
        assertThat(found.lease(OWNER, 1, ChunkPurpose.INDEX, 2, false)).isEqualTo(index);
        assertThat(found.freeCount()).isEqualTo(table.freeCount());
        found.takeBack(OWNER, index, table.newestLease());
        assertThat(found.lease(OWNER, 3, ChunkPurpose.INDEX, 1, false)).isNotEqualTo(index);
        found.takeBack(OWNER, index, table.newestLease());
        assertThat(found.indexCount()).isEqualTo(1);
    }

    @Test
    void shouldLeaseAnewWhatWasLeasedByHalfWhenItsWriterWasKilled()
    {
        newTable().lease(OWNER, 1, ChunkPurpose.INDEX, 2, false);

        final ChunkTable found = restore();
        assertThat(found.lease(OWNER, 1, ChunkPurpose.INDEX, 3, false)).hasSize(1);
        assertThat(found.indexCount()).isEqualTo(3);
    }

    @Test
    void shouldEndTheHeaderThatWasBeingWrittenWhenItsWriterWasKilled()
    {
        final ChunkTable table = newTable();
        table.lease(OWNER, 1, ChunkPurpose.INDEX, 1, false);
        for (int torn = 0; torn < ChunkDescriptor.HEADER_BYTES; torn++)
        {
            flip(HEADERS + torn);
            assertThat(restore().indexCount()).as("torn at %d, journal whole", torn).isEqualTo(1);
            flip(SuperblockDescriptor.JOURNAL_OFFSET + Long.BYTES + torn);
            assertThat(restore().indexCount()).as("header whole, journal torn at %d", torn).isEqualTo(1);
            flip(SuperblockDescriptor.JOURNAL_OFFSET + Long.BYTES + torn);
        }
    }

    @Test
    void shouldNotTakeAHeaderFromTheJournalToAnotherChunk()
    {
        final ChunkTable table = newTable();
        table.lease(OWNER, 1, ChunkPurpose.INDEX, 1, false);
        // The next one was about to be written: its index is there, the rest is still the one before.
        region.set(ValueLayout.JAVA_LONG, SuperblockDescriptor.JOURNAL_OFFSET, 5);
        final ChunkTable found = restore();
        assertThat(found.indexCount()).isEqualTo(1);
        assertThat(found.freeCount()).isEqualTo(CHUNKS - 1);
    }

    @Test
    void shouldRefuseAHeaderThatIsDamagedWithoutAJournal()
    {
        newTable();
        flip(HEADERS + 3L * ChunkDescriptor.HEADER_BYTES + 8);
        assertThatThrownBy(this::restore).isInstanceOf(FormatException.class).hasMessageContaining("chunk 3: ")
            .hasMessageContaining("start it with --accept-damage to serve what is in the chunk");
    }

    @Test
    void shouldRefuseFoldersThatAreNotItsOwn() throws IOException
    {
        try (MemoryFolder first = folder())
        {
            assertThat(first.nodeId()).isZero();
            assertThatThrownBy(this::folder).isInstanceOf(MemoryNodeException.class).hasMessageContaining("in use");
        }
        final Path node = directory.resolve("node");
        assertThatThrownBy(() -> MemoryFolder.open(node, LENGTH + 1, 0)).isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("cannot change its size");
        final Path properties = node.resolve("node.properties");
        final String text = Files.readString(properties);
        Files.writeString(properties, text.replace("format_version=1", "format_version=2"));
        assertThatThrownBy(this::folder).isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("format version 2, this build knows version 1");
        Files.writeString(properties, text.replace("memory_id", "memory"));
        assertThatThrownBy(this::folder).isInstanceOf(MemoryNodeException.class).hasMessageContaining("no memory_id");
        Files.writeString(node.resolve("poem.txt"), "roses");
        assertThatThrownBy(this::folder).isInstanceOf(MemoryNodeException.class)
            .hasMessageContaining("holds something else ('poem.txt')");
    }
}
