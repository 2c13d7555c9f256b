package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.MemoryCalls;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What cannot be made, because the device file gets no more blocks, leaves nothing behind and is counted nowhere. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftUndoTest
{
    private static final int DEEP = 1 << 15;

    private final Path directory = TestDirectories.next();
    private final SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
    private final Device device = fabric.openDevice("full");
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final Path file = ((SoftDevice)device).host().file().path();
    private final Path hidden = file.resolveSibling("hidden");

    @AfterEach
    void leaveNothing()
    {
        domain.close();
        device.close();
        fabric.close();
        assertThat(directory).doesNotExist();
    }

    private void refuseBlocks() throws IOException
    {
        Files.move(file, hidden);
    }

    private void allowBlocks() throws IOException
    {
        Files.move(hidden, file);
    }

    private static void assertRefused(final ThrowingCallable call)
    {
        assertThatThrownBy(call).isInstanceOf(RdmaException.class).hasMessageContaining("cannot allocate");
    }

    private long regionFileCount() throws IOException
    {
        try (Stream<Path> files = Files.list(directory))
        {
            return files.filter(path -> path.toString().endsWith(".region")).count();
        }
    }

    @Test
    void shouldCloseDomainWhenQueuesCouldNotBeMade() throws IOException
    {
        final CompletionQueue completions = device.createCompletionQueue(16);
        final SharedReceiveQueue shared = domain.createSharedReceiveQueue(16);
        refuseBlocks();
        assertRefused(() -> domain.createQueuePair(completions, completions, Endpoint.CAPABILITIES));
        assertRefused(() -> domain.createDcTarget(
            new DcTargetOptions(completions, shared, 1, AccessFlags.ALL_REMOTE, 4)));
        assertRefused(() -> domain.createSharedReceiveQueue(DEEP));
        assertThatThrownBy(() -> domain.createAddressHandle(null)).isInstanceOf(NullPointerException.class);
        allowBlocks();
        shared.close();
        completions.close();
    }

    @Test
    void shouldCloseWindowThatTheSecondWayDidNotTake()
    {
        final List<BoundWindow> removed = new ArrayList<>();
        final ProtectionDomain twoWays = ((SoftDevice)device).allocateProtectionDomain(null, new FullWay(removed));
        assertThatThrownBy(twoWays::allocateMemoryWindow).isInstanceOf(RdmaException.class).hasMessage("full");
        assertThat(removed).hasSize(1);
        twoWays.close();
    }

    /** Takes no window. */
    private record FullWay(List<BoundWindow> removed) implements SecondWay
    {
        @Override
        public void regionAdded(final RegisteredRegion region)
        {
            throw new RdmaException("full");
        }

        @Override
        public void regionWithdrawn(final RegisteredRegion region)
        {
            // has none
        }

        @Override
        public void windowAdded(final BoundWindow window)
        {
            throw new RdmaException("full");
        }

        @Override
        public void windowRemoved(final BoundWindow window)
        {
            removed.add(window);
        }
    }

    @Test
    void shouldGiveMemoryBackWhenItCouldNotBeRegistered() throws IOException
    {
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = arena.allocate(MemoryCalls.pageBytes(), MemoryCalls.pageBytes());
        refuseBlocks();
        assertRefused(() -> domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE));
        assertRefused(() -> domain.allocateNamed("named", 4096, AccessFlags.ALL_REMOTE));
        assertRefused(() -> domain.register(segment, AccessFlags.ALL_REMOTE));
        allowBlocks();
        assertThat(regionFileCount()).isZero();
        assertThat(((SoftDevice)device).host().keys().local().openRegions()).isEmpty();
        // Both throw while somebody holds on to them.
        arena.close();
        assertThat(fabric.discardNamed("named")).isTrue();
    }
}
