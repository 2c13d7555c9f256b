package io.verbena.memory;

import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A tool that looks at the memory of a stopped node leaves it there, whatever it finds. */
class StoppedMemoryTest
{
    private static final int CHUNKS = 2;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final long HEADERS = SuperblockDescriptor.SPACE_BYTES + (long)CHUNKS * CHUNK_BYTES;
    private static final long LENGTH = HEADERS + (long)CHUNKS * ChunkDescriptor.HEADER_BYTES;
    private static final Superblock SUPERBLOCK =
        new Superblock(3, 7, LENGTH, SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, HEADERS);
    private static final long RECORD = SuperblockDescriptor.SPACE_BYTES + 512;

    @TempDir
    private Path directory;
    private final SimFabric fabric = new SimFabric(1, new SimFabricOptions());

    @BeforeEach
    void join()
    {
        try (MemoryFolder folder = folder())
        {
            folder.joined(3, 99, 7);
        }
    }

    @AfterEach
    void close()
    {
        fabric.close();
    }

    private MemoryFolder folder()
    {
        return MemoryFolder.open(directory.resolve("node"), 0, LENGTH);
    }

    private String name()
    {
        return MemoryFolder.memoryName(directory.resolve("node"));
    }

    private void onMemory(final Consumer<MemorySegment> work)
    {
        try (Device device = fabric.openDevice("node");
            ProtectionDomain domain = device.allocateProtectionDomain();
            MemoryRegion region = domain.allocateNamed(name(), LENGTH, AccessFlags.ALL_REMOTE))
        {
            work.accept(region.segment());
        }
    }

    private void fill()
    {
        onMemory((memory) ->
        {
            SuperblockDescriptor.writeBoth(memory, SUPERBLOCK);
            memory.set(ValueLayout.JAVA_LONG, RECORD, 42);
            new ChunkTable(SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS,
                new ChunkHeaders(memory, HEADERS, CHUNKS));
        });
    }

    @Test
    void shouldMakeNoMemoryForACheckpointOfWhatIsNotThere()
    {
        try (MemoryFolder folder = folder())
        {
            assertThat(OfflineCheckpoint.make(fabric, folder)).as("the one before is good").isTrue();
        }
        assertThat(fabric.hasNamed(name())).isFalse();
    }

    private void assertRecordIsThere()
    {
        assertThat(fabric.hasNamed(name())).isTrue();
        onMemory((memory) -> assertThat(memory.get(ValueLayout.JAVA_LONG, RECORD)).isEqualTo(42));
    }

    private void assertRefusedAfterChangeAt(final int offset)
    {
        fill();
        onMemory((memory) ->
        {
            memory.set(ValueLayout.JAVA_BYTE, offset, (byte)99);
            memory.set(ValueLayout.JAVA_BYTE, SuperblockDescriptor.COPY_OFFSET + offset, (byte)99);
        });
        assertThatThrownBy(() -> StoppedMemory.open(fabric, folder())).isInstanceOf(FormatException.class);
        assertRecordIsThere();
        folder().close(); // it was given up
    }

    @Test
    void shouldOpenWhatIsWhole()
    {
        fill();
        try (StoppedMemory memory = StoppedMemory.open(fabric, folder()))
        {
            assertThat(memory.nodeId()).isEqualTo(3);
        }
        assertRecordIsThere();
    }

    @Test
    void shouldLeaveMemoryWhoseSuperblockIsDamaged()
    {
        assertRefusedAfterChangeAt(SuperblockDescriptor.CHECKSUM_OFFSET);
    }

    @Test
    void shouldLeaveMemoryOfAnotherFormatVersion()
    {
        assertRefusedAfterChangeAt(SuperblockDescriptor.VERSION_OFFSET);
    }

    @Test
    void shouldLeaveMemoryWithoutASuperblock()
    {
        onMemory((memory) -> memory.set(ValueLayout.JAVA_LONG, RECORD, 42));
        assertThat(StoppedMemory.open(fabric, folder())).isNull();
        assertRecordIsThere();
    }

    @Test
    void shouldMakeNoneWhereThereIsNone()
    {
        assertThat(StoppedMemory.open(fabric, folder())).isNull();
        assertThat(fabric.hasNamed(name())).isFalse();
    }
}
