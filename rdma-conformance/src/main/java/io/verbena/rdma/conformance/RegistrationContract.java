package io.verbena.rdma.conformance;

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

    private void needsAnyMemory()
    {
        if (!a.device.attributes().supports(DeviceCapability.REGISTER_ANY_MEMORY))
        {
            throw new UnsupportedVerbException("registering memory of the caller", a.device.name());
        }
    }

    @Test
    void shouldRegisterMemoryOfCallerForPeers()
    {
        needsAnyMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = arena.allocate(128, 8);
            try (MemoryRegion region = a.domain.register(segment, AccessFlags.ALL_REMOTE))
            {
                assertThat(region.lengthBytes()).isEqualTo(128);
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
    void shouldRegisterMemoryOfCallerForLocalUse()
    {
        needsAnyMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = arena.allocate(128, 8);
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
        needsAnyMemory();
        connect();
        try (Arena arena = Arena.ofShared())
        {
            final MemorySegment segment = arena.allocate(128, 8);
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
        needsAnyMemory();
        assertThatThrownBy(() -> a.domain.register(MemorySegment.ofArray(new byte[64]), 0))
            .isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void shouldRefuseToRegisterFreedMemory()
    {
        needsAnyMemory();
        final MemorySegment segment;
        try (Arena arena = Arena.ofShared())
        {
            segment = arena.allocate(64, 8);
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
