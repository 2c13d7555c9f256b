package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

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
    void shouldAddressOnlyWhatWasStaged()
    {
        final SendRing ring = staging(QueuePairType.DC_INITIATOR);
        assertThatThrownBy(() -> ring.toDcTarget(1, 2, 3)).isInstanceOf(RdmaException.class);
    }
}
