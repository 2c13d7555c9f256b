package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.MemoryCalls;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code soft} takes memory of the caller: pages are exchanged, bytes and pointers stay, neighbours are left alone. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftRegisterTest
{
    private static final int PAGE_BYTES = MemoryCalls.pageBytes();

    private final Path directory = TestDirectories.next();
    private final Arena arena = Arena.ofShared();
    private SoftFabric fabric;
    private Device requesterDevice;
    private Device responderDevice;
    private Endpoint requester;
    private Endpoint responder;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        requesterDevice = fabric.openDevice("requester");
        responderDevice = fabric.openDevice("responder");
        requester = new Endpoint(requesterDevice);
        responder = new Endpoint(responderDevice);
        SoftConnections.connect(requester, responder);
    }

    @AfterEach
    void tearDown()
    {
        requester.close();
        responder.close();
        requesterDevice.close();
        responderDevice.close();
        fabric.close();
        if (arena.scope().isAlive())
        {
            arena.close();
        }
    }

    private int write(final long value, final long address, final int key)
    {
        requester.putLong(0, value);
        requester.queuePair.begin();
        requester.queuePair.write(1, SendFlags.SIGNALED, requester.address(0), 8, requester.key(), address, key);
        requester.queuePair.complete();
        return SoftConnections.awaitStatus(requester, new WorkCompletions(1));
    }

    private static void fill(final MemorySegment segment, final long seed)
    {
        for (long offset = 0; offset < segment.byteSize(); offset += Long.BYTES)
        {
            segment.set(JAVA_LONG, offset, seed + offset);
        }
    }

    private static void assertFilled(final MemorySegment segment, final long fromOffset, final long seed)
    {
        for (long offset = fromOffset; offset < segment.byteSize(); offset += Long.BYTES)
        {
            assertThat(segment.get(JAVA_LONG, offset)).isEqualTo(seed + offset);
        }
    }

    private long regionFileCount() throws IOException
    {
        try (Stream<Path> files = Files.list(directory))
        {
            return files.filter(file -> file.toString().endsWith(".region")).count();
        }
    }

    @Test
    void shouldKeepBytesPointersAndNeighboursThroughManyExchanges()
    {
        for (int round = 1; round <= 50; round++)
        {
            try (Arena own = Arena.ofShared())
            {
                final MemorySegment all = own.allocate((round % 7 + 3L) * PAGE_BYTES, PAGE_BYTES);
                final MemorySegment inner = all.asSlice(PAGE_BYTES, all.byteSize() - 2L * PAGE_BYTES);
                fill(all, round);
                final MemoryRegion region = responder.domain.register(inner, AccessFlags.ALL_REMOTE);
                assertThat(region.address()).isEqualTo(inner.address());
                assertFilled(all, 0, round);
                assertThat(write(-round, region.address(), region.remoteKey())).isZero();
                assertThat(inner.get(JAVA_LONG, 0)).isEqualTo(-round);
                region.close();
                assertThat(inner.get(JAVA_LONG, 0)).isEqualTo(-round);
                inner.set(JAVA_LONG, 0, (long)round + PAGE_BYTES);
                assertFilled(all, 0, round);
            }
        }
    }

    @Test
    void shouldUnlinkFileAndLeaveMemoryToCallerWhenClosed() throws IOException
    {
        final long before = regionFileCount();
        final MemorySegment segment = arena.allocate(PAGE_BYTES, PAGE_BYTES);
        final MemoryRegion region = responder.domain.register(segment, AccessFlags.ALL_REMOTE);
        assertThat(regionFileCount()).isEqualTo(before + 1);
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        region.close();
        assertThat(regionFileCount()).isEqualTo(before);
        assertThat(write(1, region.address(), region.remoteKey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        arena.close();
    }

    /** The second way to rights of its own on a part of a region, at any byte. */
    @Test
    void shouldRegisterPartOfRegionWithRightsOfItsOwn()
    {
        final MemoryRegion whole = responder.domain.allocateRegistered(PAGE_BYTES, 0);
        final MemoryRegion part =
            responder.domain.register(whole.segment().asSlice(72, 16), AccessFlags.ALL_REMOTE);
        whole.close();
        assertThat(write(5, part.address() + 8, part.remoteKey())).isZero();
        assertThat(part.segment().get(JAVA_LONG, 8)).isEqualTo(5);
        assertThat(write(5, part.address() + 16, part.remoteKey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        final MemorySegment segment = part.segment();
        part.close();
        assertThat(segment.scope().isAlive()).isFalse();
    }

    private void assertRefused(final MemorySegment segment, final String... words)
    {
        assertThatThrownBy(() -> responder.domain.register(segment, AccessFlags.ALL_REMOTE))
            .isInstanceOf(RdmaException.class).hasMessageContainingAll(words);
    }

    @Test
    void shouldSayWhatToDoWhenSegmentIsNotOfWholePages()
    {
        final MemorySegment segment = arena.allocate(2L * PAGE_BYTES, PAGE_BYTES);
        assertRefused(segment.asSlice(8, PAGE_BYTES), Integer.toString(PAGE_BYTES), "allocateRegistered");
        assertRefused(segment.asSlice(0, 8), Integer.toString(PAGE_BYTES), "allocateRegistered");
        arena.close();
    }

    @Test
    void shouldRefuseMemoryThatIsNotOfThisProcessAlone(@TempDir final Path temporary) throws IOException
    {
        final Path path = temporary.resolve("file");
        Files.write(path, new byte[PAGE_BYTES]);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            for (final FileChannel.MapMode mode : new FileChannel.MapMode[]{
                FileChannel.MapMode.READ_WRITE, FileChannel.MapMode.PRIVATE })
            {
                assertRefused(channel.map(mode, 0, PAGE_BYTES, arena), "this process alone");
            }
            assertRefused(channel.map(FileChannel.MapMode.READ_ONLY, 0, PAGE_BYTES, arena), "writable");
        }
        arena.close();
    }

    @Test
    void shouldRefuseMemoryThatOneThreadMayFree()
    {
        try (Arena confined = Arena.ofConfined())
        {
            assertRefused(confined.allocate(PAGE_BYTES, PAGE_BYTES), "Arena.ofShared");
        }
    }

    @Test
    void shouldRefusePartOfRegisteredMemoryTogetherWithOthers()
    {
        final MemorySegment segment = arena.allocate(2L * PAGE_BYTES, PAGE_BYTES);
        final MemoryRegion region = responder.domain.register(segment.asSlice(0, PAGE_BYTES), 0);
        assertRefused(segment, "part of what is registered");
        region.close();
        responder.domain.register(segment, 0).close();
    }
}
