package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SendRingTest
{
    private static SendRing staging(final QueuePairType type)
    {
        final SendRing ring = new SendRing(type, 4, 1024, 0);
        ring.begin("test");
        return ring;
    }

    @Test
    void shouldFindRequestOfInitiatorThatNamesNoTarget()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        ring.stage(SendRing.RDMA_READ, 1, 0, 0, 8, 0);
        ring.toDcTarget(1, 2, 3);
        assertThat(ring.hasUnaddressed(1)).isFalse();
        ring.stage(SendRing.RDMA_READ, 2, 0, 0, 8, 0);
        assertThat(ring.hasUnaddressed(2)).isTrue();
    }

    @Test
    void shouldForgetTargetOfTheRequestThatUsedTheSlotBefore()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        ring.stage(SendRing.SEND, 1, 0, 0, 8, 0);
        ring.toDcTarget(1, 2, 3);
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
        ring.bind(slot, null, 11, 12, 13, 14, 15, 16);
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
        ring.bind(ring.stage(SendRing.BIND_MW, 1, 0, 0, 0, 0), null, 11, 12, 13, 14, 15, 16);
        assertThatThrownBy(() -> ring.checkBinds(null))
            .isInstanceOf(RdmaException.class).hasMessageContaining("binds this window already");
        ring.abort();
        ring.begin("test");
        ring.checkBinds(null);
    }

    @Test
    void shouldAddressOnlyWhatWasStaged()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        assertThatThrownBy(() -> ring.toDcTarget(1, 2, 3)).isInstanceOf(RdmaException.class);
    }
}
