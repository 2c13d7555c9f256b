package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** States by the caller, where soft has ways of its own: waits in SQD, what RESET forgets, peers that come late. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SoftStatesTest
{
    private static final int MIN_RNR_TIMER = 1;

    private final WorkCompletions batch = new WorkCompletions(8);
    private SoftFabric fabric;
    private Device requesterDevice;
    private Device responderDevice;
    private Endpoint requester;
    private Endpoint responder;

    @BeforeEach
    void setUp()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
        requesterDevice = fabric.openDevice("requester");
        responderDevice = fabric.openDevice("responder");
        requester = new Endpoint(requesterDevice);
        responder = new Endpoint(responderDevice);
    }

    @AfterEach
    void tearDown()
    {
        requester.close();
        responder.close();
        requesterDevice.close();
        responderDevice.close();
        fabric.close();
    }

    private static QueuePairAttributes to(final QueuePairState state)
    {
        return new QueuePairAttributes().state(state);
    }

    private static void toReadyToReceive(final QueuePair queuePair, final Device peerDevice, final QueuePair peer)
    {
        queuePair.modify(to(QueuePairState.INIT).pkeyIndex(0).port(1).accessFlags(AccessFlags.ALL_REMOTE));
        queuePair.modify(to(QueuePairState.RTR)
            .destination(peerDevice.address()).destinationNumber(peer.number()).pathMtuBytes(4096).rqPsn(0)
            .maxDestinationReadAtomic(4).minRnrTimer(MIN_RNR_TIMER));
    }

    private static void toReadyToSend(final QueuePair queuePair, final int timeout)
    {
        queuePair.modify(to(QueuePairState.RTS)
            .sqPsn(0).timeout(timeout).retryCount(7).rnrRetry(7).maxReadAtomic(4));
    }

    private void connectRequester(final int timeout)
    {
        toReadyToReceive(requester.queuePair, responderDevice, responder.queuePair);
        toReadyToSend(requester.queuePair, timeout);
    }

    private void connectBoth()
    {
        toReadyToReceive(responder.queuePair, requesterDevice, requester.queuePair);
        toReadyToSend(responder.queuePair, 14);
        connectRequester(14);
    }

    private void send(final long wrId)
    {
        requester.queuePair.begin();
        requester.queuePair.send(wrId, SendFlags.SIGNALED, requester.address(0), 8, requester.key());
        assertThat(requester.queuePair.complete()).isEqualTo(PostStatus.OK);
    }

    private void receive(final long wrId)
    {
        assertThat(responder.queuePair.postReceive(wrId, responder.address(0), 8, responder.key()))
            .isEqualTo(PostStatus.OK);
    }

    private AsyncEventType nextEvent(final Device device)
    {
        final AsyncEvent event = device.pollAsyncEvent();
        return event == null ? null : event.type();
    }

    @Test
    void shouldFinishInSendQueueDrainOnlyWhatHasBegunAndTellOnce()
    {
        connectBoth();
        send(1);
        send(2);
        requester.queuePair.modify(to(QueuePairState.SQD));
        assertThat(nextEvent(requesterDevice)).isNull();
        receive(11);
        receive(12);
        assertThat(SoftConnections.awaitStatus(requester, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(batch.wrId(0)).isEqualTo(1);
        assertThat(nextEvent(requesterDevice)).isEqualTo(AsyncEventType.SQ_DRAINED);
        assertThat(nextEvent(requesterDevice)).isNull();
        assertThat(requester.completions.poll(batch)).isZero();
        requester.queuePair.modify(to(QueuePairState.RTS));
        assertThat(SoftConnections.awaitStatus(requester, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(batch.wrId(0)).isEqualTo(2);
    }

    @Test
    void shouldTellOnceThatCommunicationBeganAndAgainInTheNextLife()
    {
        for (int life = 0; life < 2; life++)
        {
            toReadyToReceive(responder.queuePair, requesterDevice, requester.queuePair);
            connectRequester(14);
            receive(1);
            receive(2);
            send(3);
            send(4);
            assertThat(nextEvent(responderDevice)).isEqualTo(AsyncEventType.COMM_EST);
            assertThat(nextEvent(responderDevice)).isNull();
            requester.queuePair.modify(to(QueuePairState.RESET));
            responder.queuePair.modify(to(QueuePairState.RESET));
        }
    }

    @Test
    void shouldForgetCompletionsNotPolledWhenMovedToReset()
    {
        connectBoth();
        receive(1);
        send(2);
        requester.queuePair.modify(to(QueuePairState.RESET));
        responder.queuePair.modify(to(QueuePairState.RESET));
        assertThat(requester.completions.poll(batch)).isZero();
        assertThat(responder.completions.poll(batch)).isZero();
        connectBoth();
        for (int i = 0; i < Endpoint.CAPABILITIES.maxReceiveRequests(); i++)
        {
            receive(100 + i);
        }
        send(3);
        assertThat(SoftConnections.awaitStatus(responder, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(batch.wrId(0)).isEqualTo(100);
    }

    @Test
    void shouldGoOnWhenPeerBecomesReadyWithinRetryTime()
    {
        connectRequester(0);
        send(1);
        assertThat(requester.completions.poll(batch)).isZero();
        toReadyToReceive(responder.queuePair, requesterDevice, requester.queuePair);
        receive(2);
        assertThat(SoftConnections.awaitStatus(requester, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldTakeAttributesOverFromConnectionService()
    {
        SoftConnections.connect(requester, responder);
        final QueuePairAttributes ofRequester = new QueuePairAttributes();
        final QueuePairAttributes ofResponder = new QueuePairAttributes();
        requester.queuePair.query(ofRequester);
        responder.queuePair.query(ofResponder);
        assertThat(ofRequester.destination()).isEqualTo(responderDevice.address());
        assertThat(ofRequester.destinationNumber()).isEqualTo(responder.queuePair.number());
        assertThat(ofResponder.destinationNumber()).isEqualTo(requester.queuePair.number());
        assertThat(ofRequester.maxReadAtomic()).isEqualTo(Endpoint.CAPABILITIES.maxReadAtomic());
        requester.queuePair.modify(to(QueuePairState.RESET));
        requester.queuePair.query(ofRequester);
        assertThat(ofRequester.mask()).isEqualTo(QueuePairAttributes.STATE);
    }

    @Test
    void shouldConnectByServiceAfterReset()
    {
        connectBoth();
        requester.queuePair.modify(to(QueuePairState.RESET));
        responder.queuePair.modify(to(QueuePairState.RESET));
        SoftConnections.connect(requester, responder);
        receive(1);
        send(2);
        assertThat(SoftConnections.awaitStatus(requester, batch)).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldRefuseToModifyClosedQueuePair()
    {
        requester.queuePair.close();
        assertThatThrownBy(() -> requester.queuePair.modify(to(QueuePairState.RESET)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("closed");
    }

    @Test
    void shouldNotServeFormerPeerInTheNextLife()
    {
        connectBoth();
        final QueuePair other = requester.domain.createQueuePair(
            requester.completions, requester.completions, Endpoint.CAPABILITIES);
        responder.queuePair.modify(to(QueuePairState.RESET));
        toReadyToReceive(responder.queuePair, requesterDevice, other);
        receive(1);
        send(2);
        assertThat(SoftConnections.awaitStatus(requester, batch)).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(responder.completions.poll(batch)).isZero();
        other.close();
    }

    /** As an RNIC, which tries again without any poll: who waits for an answer looks where answers come. */
    @Test
    void shouldBringWhatWaitsForThePeerWhenOnlyTheQueueOfReceivesIsPolled()
    {
        try (CompletionQueue receives = requesterDevice.createCompletionQueue(16);
            QueuePair asking = requester.domain.createQueuePair(
                requester.completions, receives, Endpoint.CAPABILITIES))
        {
            toReadyToReceive(asking, responderDevice, responder.queuePair);
            toReadyToSend(asking, 14);
            asking.begin();
            asking.send(2, 0, requester.address(0), 8, requester.key());
            assertThat(asking.complete()).isEqualTo(PostStatus.OK);
            assertThat(receives.poll(batch)).as("the peer is not ready").isZero();
            toReadyToReceive(responder.queuePair, requesterDevice, asking);
            receive(1);
            while (0 == responder.completions.poll(batch))
            {
                assertThat(receives.poll(batch)).isZero();
                assertThat(Thread.currentThread().isInterrupted()).as("interrupted while waiting").isFalse();
                Thread.yield();
            }
            assertThat(batch.wrId(0)).isEqualTo(1);
        }
    }
}
