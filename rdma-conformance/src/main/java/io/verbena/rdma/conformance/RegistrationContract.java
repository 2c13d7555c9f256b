package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.remote.RegionMemory;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The two ways of registering memory: allocated by the library, and owned by the caller. */
abstract class RegistrationContract extends VerbsHarness
{
    private static final long BEYOND_2_GIB = (1L << 31) + (1 << 16);
    /** A multiple of every page size. */
    private static final int PAGES_BYTES = 1 << 16;

    private void needsCallersMemory()
    {
        if (!a.device.attributes().supports(DeviceCapability.REGISTER_WHOLE_PAGES))
        {
            throw new UnsupportedVerbException("registering memory of the caller", a.device.name());
        }
    }

    /** Anywhere, if the device can take it; else whole pages. */
    private MemorySegment allocate(final Arena arena)
    {
        return a.device.attributes().supports(DeviceCapability.REGISTER_ANY_MEMORY) ?
            arena.allocate(128, 8) : arena.allocate(PAGES_BYTES, PAGES_BYTES);
    }

    @Test
    void shouldRegisterMemoryOfCallerForPeers()
    {
        needsCallersMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = allocate(arena);
            try (MemoryRegion region = a.domain.register(segment, AccessFlags.ALL_REMOTE))
            {
                assertThat(region.lengthBytes()).isEqualTo(segment.byteSize());
                assertThat(region.address()).isNotZero();
                b.putLong(0, 17);
                post(b, () -> b.queuePair.write(
                    1, SIGNALED, b.address(0), 8, b.key(), region.address() + 8, region.remoteKey()));
                assertThat(awaitOne(b).status()).isZero();
                assertThat(segment.get(JAVA_LONG, 8)).isEqualTo(17);
            }
            assertThat(segment.get(JAVA_LONG, 8)).isEqualTo(17);
        }
    }

    @Test
    void shouldExecuteAtomicsOnMemoryOfCaller()
    {
        needsCallersMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = allocate(arena);
            segment.set(JAVA_LONG, 0, 40);
            try (MemoryRegion region = a.domain.register(segment, AccessFlags.ALL_REMOTE))
            {
                segment.set(JAVA_LONG, 0, segment.get(JAVA_LONG, 0) + 1);
                post(b, () -> b.queuePair.fetchAdd(
                    1, SIGNALED, b.address(0), b.key(), region.address(), region.remoteKey(), 1));
                assertThat(awaitOne(b).status()).isZero();
                assertThat(b.getLong(0)).isEqualTo(41);
                assertThat(segment.get(JAVA_LONG, 0)).isEqualTo(42);
            }
        }
    }

    @Test
    void shouldReceiveIntoMemoryOfCaller()
    {
        needsCallersMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = allocate(arena);
            try (MemoryRegion region = a.domain.register(segment, AccessFlags.LOCAL_WRITE))
            {
                assertThat(a.queuePair.postReceive(3, region.address() + 8, 8, region.localKey())).isZero();
                b.putLong(0, 19);
                post(b, () -> b.queuePair.send(1, SIGNALED, b.address(0), 8, b.key()));
                assertThat(awaitOne(b).status()).isZero();
                assertThat(awaitOne(a).status()).isZero();
                assertThat(segment.get(JAVA_LONG, 8)).isEqualTo(19);
            }
        }
    }

    @Test
    void shouldRefuseToFreeMemoryOfCallerWhileRegistered()
    {
        needsCallersMemory();
        connect();
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = allocate(arena);
        final MemoryRegion region = a.domain.register(segment, AccessFlags.ALL_REMOTE);
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        b.putLong(0, 20);
        post(b, () -> b.queuePair.write(1, SIGNALED, b.address(0), 8, b.key(), region.address(), region.remoteKey()));
        assertThat(awaitOne(b).status()).isZero();
        assertThat(segment.get(JAVA_LONG, 0)).isEqualTo(20);
        region.close();
        arena.close();
        assertThat(segment.scope().isAlive()).isFalse();
    }

    @Test
    void shouldRegisterTheSameMemoryOfCallerTwice()
    {
        needsCallersMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = allocate(arena);
            final MemoryRegion first = a.domain.register(segment, AccessFlags.ALL_REMOTE);
            try (MemoryRegion second = a.domain.register(segment.asSlice(64, 64), AccessFlags.ALL_REMOTE))
            {
                first.close();
                b.putLong(0, 21);
                post(b, () -> b.queuePair.write(
                    1, SIGNALED, b.address(0), 8, b.key(), second.address() + 8, second.remoteKey()));
                assertThat(awaitOne(b).status()).isZero();
                assertThat(segment.get(JAVA_LONG, 72)).isEqualTo(21);
            }
            assertThat(segment.get(JAVA_LONG, 72)).isEqualTo(21);
        }
    }

    @Test
    void shouldRegisterMemoryOfCallerForLocalUse()
    {
        needsCallersMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = allocate(arena);
            try (MemoryRegion region = a.domain.register(segment, AccessFlags.LOCAL_WRITE))
            {
                b.putLong(0, 18);
                assertThat(execute(() -> a.queuePair.read(1, SIGNALED, region.address(), 8, region.localKey(),
                    b.address(0), b.region.remoteKey())).status()).isZero();
                assertThat(segment.get(JAVA_LONG, 0)).isEqualTo(18);
            }
        }
    }

    @Test
    void shouldRefuseOldKeyOfCallersMemory()
    {
        needsCallersMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = allocate(arena);
            final MemoryRegion region = a.domain.register(segment, AccessFlags.ALL_REMOTE);
            final long address = region.address();
            final int key = region.remoteKey();
            region.close();
            b.putLong(0, 18);
            post(b, () -> b.queuePair.write(1, SIGNALED, b.address(0), 8, b.key(), address, key));
            assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            assertThat(segment.get(JAVA_LONG, 0)).isZero();
        }
    }

    @Test
    void shouldRefuseToRegisterHeapMemory()
    {
        needsCallersMemory();
        assertThatThrownBy(() -> a.domain.register(MemorySegment.ofArray(new byte[64]), 0))
            .isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void shouldRefuseToRegisterFreedMemory()
    {
        needsCallersMemory();
        final MemorySegment segment;
        try (Arena arena = Arena.ofShared())
        {
            segment = allocate(arena);
        }
        assertThatThrownBy(() -> a.domain.register(segment, 0))
            .isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void shouldSayWhatToDoWhenDeviceCannotRegisterCallersMemory()
    {
        if (a.device.attributes().supports(DeviceCapability.REGISTER_ANY_MEMORY))
        {
            return;
        }
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = arena.allocate(64, 8);
            assertThatThrownBy(() -> a.domain.register(segment, 0))
                .isInstanceOf(RdmaException.class).hasMessageContaining("allocateRegistered");
        }
    }

    @Test
    void shouldGiveEachRegionKeysOfItsOwn()
    {
        final MemoryRegion first = own(a.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE));
        final MemoryRegion second = own(a.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE));
        assertThat(first.remoteKey()).isNotEqualTo(second.remoteKey());
        assertThat(first.localKey()).isNotEqualTo(second.localKey());
        assertThat(first.accessFlags()).isEqualTo(AccessFlags.ALL_REMOTE);
    }

    @Test
    void shouldKeepMemoryReadableUntilRegionIsClosed()
    {
        final MemoryRegion region = a.domain.allocateRegistered(4096, 0);
        RegionMemory.putLong(region, 0, 5);
        System.gc();
        assertThat(RegionMemory.getLong(region, 0)).isEqualTo(5);
        final MemorySegment segment = region.segment();
        region.close();
        assertThatThrownBy(() -> segment.get(JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldReachEveryByteOfRegionBeyondTwoGiB()
    {
        connect();
        try (MemoryRegion large = b.domain.allocateRegistered(BEYOND_2_GIB, AccessFlags.ALL_REMOTE))
        {
            assertThat(large.lengthBytes()).isEqualTo(BEYOND_2_GIB);
            a.putLong(0, 99);
            final long last = BEYOND_2_GIB - 8;
            assertThat(execute(() -> a.queuePair.write(1, SIGNALED, a.address(0), 8, a.key(),
                large.address() + last, large.remoteKey())).status()).isZero();
            assertThat(RegionMemory.getLong(large, last)).isEqualTo(99);
            assertThat(RegionMemory.getLong(large, last - (1L << 31))).as("2 GiB before").isZero();
            assertThat(execute(() -> a.queuePair.fetchAdd(2, SIGNALED, a.address(8), a.key(),
                large.address() + last, large.remoteKey(), 1)).status()).isZero();
            assertThat(a.getLong(8)).isEqualTo(99);
            assertThat(execute(() -> a.queuePair.read(3, SIGNALED, a.address(0), 8, a.key(),
                large.address() + last + 4, large.remoteKey())).status())
                .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }
}
