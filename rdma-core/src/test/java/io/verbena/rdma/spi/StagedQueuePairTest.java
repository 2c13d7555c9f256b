package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Staging of every operation on every type, without any provider behind. */
class StagedQueuePairTest
{
    private static final AddressHandle SOMEWHERE = new AddressHandle()
    {
        @Override
        public DeviceAddress target()
        {
            return new DeviceAddress(1, 1);
        }

        @Override
        public void close()
        {
        }
    };

    /** Keeps what was posted. */
    private static final class Kept extends StagedQueuePair
    {
        private QueuePairState state = QueuePairState.RTS;
        private long seen;

        private Kept(final QueuePairType type, final boolean hasWindows)
        {
            super(type, new QueuePairCapabilities(4, 4, 16, 4), 1 << 12, hasWindows);
        }

        @Override
        protected void onDoorbell()
        {
            seen = sendTail();
        }

        private WorkRequest posted(final long position)
        {
            return request(position);
        }

        @Override
        public int number()
        {
            return 1;
        }

        @Override
        public QueuePairState state()
        {
            return state;
        }

        @Override
        public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
        {
            return PostStatus.OK;
        }

        @Override
        public void moveToError()
        {
            state = QueuePairState.ERR;
        }

        @Override
        public void close()
        {
        }
    }

    @Test
    void shouldStageWindowOperations()
    {
        final Kept queuePair = new Kept(QueuePairType.RC, true);
        queuePair.begin();
        queuePair.bindMemoryWindow(1, SendFlags.SIGNALED, null, 77, null, 4096, 1L << 33, 3);
        queuePair.localInvalidate(2, SendFlags.FENCE, 77);
        queuePair.sendWithInvalidate(3, SendFlags.SOLICITED, 0, 0, 0, 78);
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        final WorkRequest bind = queuePair.posted(0);
        assertThat(bind.windowBytes).isEqualTo(1L << 33);
        assertThat(bind.remoteKey).isEqualTo(77);
        assertThat(bind.isLocal()).isTrue();
        assertThat(bind.isReadOrAtomic()).isFalse();
        assertThat(queuePair.posted(1).operation).isEqualTo(WorkRequest.LOCAL_INV);
        assertThat(queuePair.posted(2).invalidates).isTrue();
        assertThat(queuePair.counters().localOperations).isEqualTo(2);
        assertThat(queuePair.counters().sends).isEqualTo(1);
        assertThat(queuePair.counters().payloadBytes).isZero();
    }

    @Test
    void shouldUseTheFirstSlotAgainOnlyWhenNothingIsOutstanding()
    {
        final Kept queuePair = new Kept(QueuePairType.RC, false);
        post(queuePair, 10);
        final WorkRequest first = queuePair.posted(0);
        post(queuePair, 11);
        queuePair.releaseSends(1);
        queuePair.reuseSends();
        post(queuePair, 12);
        assertThat(queuePair.posted(1).wrId).as("outstanding still").isEqualTo(11);
        assertThat(queuePair.posted(2).wrId).isEqualTo(12);
        queuePair.releaseSends(3);
        queuePair.reuseSends();
        for (int i = 0; i < 4; i++)
        {
            post(queuePair, 20 + i);
        }
        assertThat(queuePair.posted(3)).isSameAs(first);
        for (int i = 0; i < 4; i++)
        {
            assertThat(queuePair.posted(3 + i).wrId).isEqualTo(20 + i);
        }
        assertThat(queuePair.sendQueueSpace()).isZero();
    }

    @Test
    void shouldKeepWhatIsStagedWhenTheRestCompletes()
    {
        final Kept queuePair = new Kept(QueuePairType.RC, false);
        post(queuePair, 10);
        queuePair.begin();
        queuePair.send(11, 0, 0, 8, 0);
        queuePair.releaseSends(1);
        queuePair.reuseSends();
        queuePair.send(12, 0, 0, 8, 0);
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(queuePair.posted(1).wrId).isEqualTo(11);
        assertThat(queuePair.posted(2).wrId).isEqualTo(12);
    }

    private static void post(final Kept queuePair, final long wrId)
    {
        queuePair.begin();
        queuePair.send(wrId, 0, 0, 8, 0);
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldRefuseWindowOperationsWithoutWindows()
    {
        final Kept queuePair = new Kept(QueuePairType.RC, false);
        queuePair.begin();
        assertThatThrownBy(() -> queuePair.localInvalidate(1, 0, 1)).isInstanceOf(UnsupportedVerbException.class);
        assertThatThrownBy(() -> queuePair.bindMemoryWindow(1, 0, null, 1, null, 0, 0, 0))
            .isInstanceOf(UnsupportedVerbException.class);
        assertThatThrownBy(() -> queuePair.sendWithInvalidate(1, 0, 0, 0, 0, 1))
            .isInstanceOf(UnsupportedVerbException.class);
        assertThat(queuePair.sendQueueSpace()).isEqualTo(4);
    }

    @Test
    void shouldStageNothingWhenOperationOrFlagIsWrong()
    {
        final Kept datagram = new Kept(QueuePairType.UD, true);
        datagram.begin();
        assertThatThrownBy(() -> datagram.write(1, 0, 0, 8, 0, 0, 0))
            .isInstanceOf(RdmaException.class).hasMessageContaining("WRITE").hasMessageContaining("UD");
        assertThatThrownBy(() -> datagram.send(1, SendFlags.FENCE, 0, 8, 0)).hasMessageContaining("FENCE");
        assertThatThrownBy(() -> datagram.send(1, 0, 0, 4097, 0)).hasMessageContaining("4097");
        final Kept reliable = new Kept(QueuePairType.RC, true);
        reliable.begin();
        assertThatThrownBy(() -> reliable.read(1, SendFlags.INLINE, 0, 8, 0, 0, 0)).hasMessageContaining("INLINE");
        assertThatThrownBy(() -> reliable.write(1, SendFlags.SOLICITED, 0, 8, 0, 0, 0))
            .hasMessageContaining("SOLICITED");
        assertThatThrownBy(() -> reliable.send(1, SendFlags.INLINE, 0, 17, 0)).hasMessageContaining("17");
        assertThat(reliable.sendQueueSpace()).isEqualTo(4);
        assertThat(reliable.complete()).isEqualTo(PostStatus.OK);
        assertThat(reliable.seen).isZero();
    }

    @Test
    void shouldPostNothingWhenDestinationIsMissing()
    {
        final Kept queuePair = new Kept(QueuePairType.UD, false);
        queuePair.begin();
        assertThatThrownBy(() -> queuePair.toQueuePair(SOMEWHERE, 1, 2)).isInstanceOf(RdmaException.class);
        queuePair.send(1, 0, 0, 8, 0);
        queuePair.toQueuePair(SOMEWHERE, 9, 0x8001_0203);
        queuePair.send(2, 0, 0, 8, 0);
        assertThatThrownBy(queuePair::complete).isInstanceOf(RdmaException.class).hasMessageContaining("wrId=2");
        assertThat(queuePair.sendQueueSpace()).isEqualTo(4);
        assertThat(queuePair.seen).isZero();
        queuePair.begin();
        queuePair.send(1, 0, 0, 8, 0);
        queuePair.toQueuePair(SOMEWHERE, 9, 0x8001_0203);
        assertThatThrownBy(() -> queuePair.toDcTarget(SOMEWHERE, 9, 1)).isInstanceOf(RdmaException.class);
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(queuePair.posted(0).destinationNumber).isEqualTo(9);
        assertThat((int)queuePair.posted(0).destinationKey).isEqualTo(0x8001_0203);
    }

    @Test
    void shouldPostInStatesThatTakeSendsOnly()
    {
        final Kept queuePair = new Kept(QueuePairType.RC, false);
        for (final QueuePairState state : QueuePairState.values())
        {
            queuePair.state = state;
            queuePair.releaseSends(queuePair.seen);
            queuePair.begin();
            queuePair.send(1, 0, 0, 8, 0);
            assertThat(queuePair.complete()).as(state.toString()).isEqualTo(
                state.compareTo(QueuePairState.RTS) >= 0 ? PostStatus.OK : PostStatus.INVALID_STATE);
        }
    }
}
