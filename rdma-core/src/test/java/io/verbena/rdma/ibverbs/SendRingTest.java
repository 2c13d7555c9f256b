package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.HeldPointer;
import io.verbena.rdma.ibverbs.library.SendRing;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SendRingTest
{
    private static SendRing staging(final QueuePairType type)
    {
        final SendRing ring = new SendRing(type, new QueuePairCapabilities(4, 0, 16, 0, 3), 1024);
        ring.begin("test");
        return ring;
    }

    @Test
    void shouldFindRequestOfInitiatorThatNamesNoTarget()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        ring.stage(SendRing.RDMA_READ, 1, 0, 0, 8, 0);
        ring.toDcTarget(new HeldPointer(1), 2, 3);
        assertThat(ring.hasUnaddressed(1)).isFalse();
        ring.stage(SendRing.RDMA_READ, 2, 0, 0, 8, 0);
        assertThat(ring.hasUnaddressed(2)).isTrue();
    }

    @Test
    void shouldForgetTargetOfTheRequestThatUsedTheSlotBefore()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        ring.stage(SendRing.SEND, 1, 0, 0, 8, 0);
        ring.toDcTarget(new HeldPointer(1), 2, 3);
        ring.abort();
        ring.begin("test");
        ring.stage(SendRing.SEND, 1, 0, 0, 8, 0);
        assertThat(ring.hasUnaddressed(1)).isTrue();
    }

    @Test
    void shouldWantNoTargetOnConnectedQueuePair()
    {
        final SendRing ring = staging(QueuePairType.RC);
        ring.stage(SendRing.RDMA_READ, 1, 0, 0, 8, 0);
        assertThat(ring.hasUnaddressed(1)).isFalse();
    }

    @Test
    void shouldRefuseWindowsOnInitiator()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        assertThatThrownBy(() -> ring.stage(SendRing.BIND_MW, 1, 0, 0, 0, 0))
            .isInstanceOf(RdmaException.class).hasMessageContaining("no such operation");
    }

    @Test
    void shouldLayBindOutWithoutTheImmediateOfARequestBefore()
    {
        final SendRing ring = staging(QueuePairType.RC);
        ring.invalidate(ring.stage(SendRing.LOCAL_INV, 1, 0, 0, 0, 0), 0x1234);
        ring.abort();
        ring.begin("test");
        final long slot = ring.stage(SendRing.BIND_MW, 2, 0, 0, 0, 0);
        ring.bind(slot, null, new HeldPointer(11), 12, new HeldPointer(13), 14, 15, 16);
        final MemorySegment memory = ring.memory();
        assertThat(memory.get(JAVA_INT, slot + SendRing.IMMEDIATE)).isZero();
        assertThat(memory.get(JAVA_LONG, slot + 80)).as("mw").isEqualTo(11);
        assertThat(memory.get(JAVA_INT, slot + 88)).as("rkey").isEqualTo(12);
        assertThat(memory.get(JAVA_LONG, slot + 96)).as("mr").isEqualTo(13);
        assertThat(memory.get(JAVA_LONG, slot + 104)).as("addr").isEqualTo(14);
        assertThat(memory.get(JAVA_LONG, slot + 112)).as("length").isEqualTo(15);
        assertThat(memory.get(JAVA_INT, slot + 120)).as("mw_access_flags").isEqualTo(16);
    }

    @Test
    void shouldBindWindowOnceInABatch()
    {
        final SendRing ring = staging(QueuePairType.RC);
        ring.checkBinds(null);
        ring.bind(ring.stage(SendRing.BIND_MW, 1, 0, 0, 0, 0), null, new HeldPointer(11), 12, new HeldPointer(13), 14,
            15, 16);
        assertThatThrownBy(() -> ring.checkBinds(null))
            .isInstanceOf(RdmaException.class).hasMessageContaining("binds this window already");
        ring.abort();
        ring.begin("test");
        ring.checkBinds(null);
    }

    @Test
    void shouldLayPlacesOutOneBehindTheOtherAndLeaveOutThoseWithoutBytes()
    {
        final SendRing ring = staging(QueuePairType.RC);
        for (int i = 0; i < 4; i++)
        {
            final long slot = ring.stage(SendRing.RDMA_WRITE, i, 0, 100, 8, 11);
            ring.addSegment(200, 0, 12);
            ring.addSegment(300 + i, 9, 13);
            final MemorySegment memory = ring.memory();
            assertThat(memory.get(JAVA_INT, slot + SendRing.NUM_SGE)).isEqualTo(2);
            final long list = memory.get(JAVA_LONG, slot + 16) - memory.address();
            assertThat(list).as("sg_list").isEqualTo(slot + SendRing.SGE);
            assertThat(memory.get(JAVA_LONG, list)).isEqualTo(100);
            assertThat(memory.get(JAVA_INT, list + 8)).isEqualTo(8);
            assertThat(memory.get(JAVA_INT, list + 12)).isEqualTo(11);
            assertThat(memory.get(JAVA_LONG, list + 16)).isEqualTo(300 + i);
            assertThat(memory.get(JAVA_INT, list + 24)).isEqualTo(9);
            assertThat(memory.get(JAVA_INT, list + 28)).isEqualTo(13);
        }
        assertThat(ring.length(3)).isEqualTo(17);
    }

    @Test
    void shouldTakeTheSecondPlaceForTheFirstWhenThatHasNoBytes()
    {
        final SendRing ring = staging(QueuePairType.RC);
        final long slot = ring.stage(SendRing.SEND, 1, 0, 100, 0, 11);
        ring.addSegment(300, 9, 13);
        assertThat(ring.memory().get(JAVA_INT, slot + SendRing.NUM_SGE)).isEqualTo(1);
        assertThat(ring.memory().get(JAVA_LONG, slot + SendRing.SGE)).isEqualTo(300);
        assertThat(ring.memory().get(JAVA_INT, slot + SendRing.SGE_LENGTH)).isEqualTo(9);
        assertThat(ring.memory().get(JAVA_INT, slot + SendRing.SGE_KEY)).isEqualTo(13);
    }

    @Test
    @SuppressWarnings("restricted")
    void shouldPutInlinePlacesTogether()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final SendRing ring = staging(QueuePairType.RC);
            final MemorySegment payload = arena.allocateFrom("headerinput");
            for (int i = 0; i < 2; i++)
            {
                final long slot = ring.stage(
                    SendRing.SEND, 1, SendFlags.INLINE, payload.address(), i == 0 ? 6 : 0, 0);
                ring.addSegment(payload.address() + 6 * i, i == 0 ? 0 : 3, 0);
                ring.addSegment(payload.address() + 6, 5, 0);
                assertThat(ring.memory().get(JAVA_INT, slot + SendRing.NUM_SGE)).isEqualTo(1);
                final int length = ring.memory().get(JAVA_INT, slot + SendRing.SGE_LENGTH);
                assertThat(new String(MemorySegment.ofAddress(ring.memory().get(JAVA_LONG, slot + SendRing.SGE))
                    .reinterpret(length).toArray(JAVA_BYTE), StandardCharsets.US_ASCII))
                    .isEqualTo(i == 0 ? "headerinput" : "inpinput");
                assertThat(ring.length(i)).isEqualTo(length);
            }
            assertThatThrownBy(() -> ring.addSegment(payload.address(), 1, 0)).hasMessageContaining("of at most 3");
            ring.stage(SendRing.SEND, 1, SendFlags.INLINE, payload.address(), 11, 0);
            assertThatThrownBy(() -> ring.addSegment(payload.address(), 6, 0)).hasMessageContaining("of at most 16");
        }
    }

    @Test
    void shouldRefuseWhatIsNoPlaceOfARequest()
    {
        final SendRing ring = staging(QueuePairType.RC);
        assertThatThrownBy(() -> ring.addSegment(0, 1, 0)).hasMessageContaining("no request is staged");
        for (final int opcode : new int[] {
            SendRing.ATOMIC_CMP_AND_SWP, SendRing.ATOMIC_FETCH_AND_ADD, SendRing.LOCAL_INV})
        {
            ring.stage(opcode, 1, 0, 0, 8, 0);
            assertThatThrownBy(() -> ring.addSegment(0, 1, 0)).hasMessageContaining("only SEND, WRITE and READ");
        }
        ring.stage(SendRing.RDMA_READ, 1, 0, 0, 8, 0);
        assertThatThrownBy(() -> ring.addSegment(0, -1, 0)).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> ring.addSegment(0, 1017, 0)).hasMessageContaining("1017 behind 8 of at most 1024");
        ring.addSegment(0, 1016, 0);
        ring.addSegment(0, 0, 0);
        assertThatThrownBy(() -> ring.addSegment(0, 0, 0)).hasMessageContaining("3 of at most 3");
    }

    @Test
    void shouldTakePlacesOfARequestBeyondTheDepthAndPostNothing()
    {
        final SendRing ring = staging(QueuePairType.RC);
        for (int i = 0; i < 5; i++)
        {
            ring.stage(SendRing.RDMA_READ, i, 0, 0, 8, 0);
            ring.addSegment(0, 8, 0);
        }
        assertThat(ring.end("test")).isEqualTo(-1);
    }

    @Test
    void shouldAddressOnlyWhatWasStaged()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        assertThatThrownBy(() -> ring.toDcTarget(new HeldPointer(1), 2, 3)).isInstanceOf(RdmaException.class);
    }

    @Test
    void shouldHoldWhatRequestsNameUntilItIsReleased()
    {
        final SendRing ring = staging(QueuePairType.UD);
        final HeldPointer way = new HeldPointer(1);
        ring.stage(SendRing.SEND, 1, 0, 0, 8, 0);
        ring.toQueuePair(way, 2, 3);
        ring.stage(SendRing.SEND, 2, 0, 0, 8, 0);
        ring.toQueuePair(way, 2, 3);
        assertThat(ring.hold(2)).isTrue();
        assertThat(freed(way, ring)).as("after the release").isTrue();
        assertThat(ring.hold(2)).as("closed since").isFalse();
    }

    /** Closes on another thread, which has to wait for the ring. */
    private static boolean freed(final HeldPointer pointer, final SendRing ring)
    {
        final AtomicBoolean isReleased = new AtomicBoolean();
        final AtomicBoolean isFreedInTime = new AtomicBoolean();
        final Thread closer = Thread.ofPlatform().start(() -> pointer.close(() -> isFreedInTime.set(isReleased.get())));
        while (!pointer.isClosed())
        {
            Thread.onSpinWait();
        }
        isReleased.set(true);
        ring.release();
        try
        {
            closer.join();
        }
        catch (final InterruptedException ex)
        {
            throw new AssertionError(ex);
        }
        return isFreedInTime.get();
    }

    @Test
    void shouldHoldNothingWhenOneOfTheBatchWasClosedAfterStaging()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        final HeldPointer open = new HeldPointer(1);
        final HeldPointer closed = new HeldPointer(2);
        ring.stage(SendRing.SEND, 1, 0, 0, 8, 0);
        ring.toDcTarget(open, 2, 3);
        ring.stage(SendRing.SEND, 2, 0, 0, 8, 0);
        ring.toDcTarget(closed, 2, 3);
        assertThat(closed.close(() -> {})).isTrue();
        assertThat(ring.hold(2)).isFalse();
        assertThat(open.close(() -> {})).as("at once, as nothing holds it").isTrue();
    }

    @Test
    void shouldNeitherHoldTheWindowWhenTheRegionOfItsBindWasClosed()
    {
        final SendRing ring = staging(QueuePairType.RC);
        final HeldPointer window = new HeldPointer(11);
        final HeldPointer region = new HeldPointer(13);
        ring.bind(ring.stage(SendRing.BIND_MW, 1, 0, 0, 0, 0), null, window, 12, region, 14, 15, 16);
        region.close(() -> {});
        assertThat(ring.hold(1)).isFalse();
        assertThat(window.close(() -> {})).isTrue();
        ring.abort();
        ring.begin("test");
        ring.stage(SendRing.SEND, 2, 0, 0, 8, 0);
        assertThat(ring.hold(1)).as("what the slot's request before named").isTrue();
    }

    @Test
    void shouldBeOpenAgainWhenItCouldNotBeFreed()
    {
        final HeldPointer pointer = new HeldPointer(1);
        assertThatThrownBy(() -> pointer.close(() ->
        {
            throw new RdmaException("busy");
        })).hasMessage("busy");
        assertThat(pointer.hold()).isTrue();
        pointer.release();
        assertThat(pointer.close(() -> {})).isTrue();
        assertThat(pointer.close(() -> {})).isFalse();
        assertThat(pointer.hold()).isFalse();
    }
}
