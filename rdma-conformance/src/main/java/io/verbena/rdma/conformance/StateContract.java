package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** States of RC queue pairs and the way between them; what the other types do otherwise stands in their contracts. */
abstract class StateContract extends TransitionHarness
{
    private final QueuePairSteps steps = new QueuePairSteps();

    private QueuePairAttributes readyToReceive()
    {
        return steps.readyToReceive(QueuePairType.RC, b.device.address(b.queuePair), b.queuePair.number());
    }

    private void toInit(final Endpoint endpoint)
    {
        endpoint.queuePair.modify(steps.init(QueuePairType.RC));
    }

    private void toReadyToReceive(final Endpoint endpoint, final Endpoint peer)
    {
        toInit(endpoint);
        endpoint.queuePair.modify(
            steps.readyToReceive(QueuePairType.RC, peer.device.address(peer.queuePair), peer.queuePair.number()));
    }

    @Test
    void shouldChangeNothingWhenAttributeForInitIsMissing()
    {
        assertNeedsEach(a.queuePair, steps.init(QueuePairType.RC));
        a.queuePair.modify(steps.init(QueuePairType.RC));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.INIT);
    }

    @Test
    void shouldChangeNothingWhenAttributeForReadyToReceiveIsMissing()
    {
        toInit(a);
        assertNeedsEach(a.queuePair, readyToReceive());
        a.queuePair.modify(readyToReceive());
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTR);
    }

    @Test
    void shouldChangeNothingWhenAttributeForReadyToSendIsMissing()
    {
        toReadyToReceive(a, b);
        assertNeedsEach(a.queuePair, steps.readyToSend(QueuePairType.RC));
        a.queuePair.modify(steps.readyToSend(QueuePairType.RC));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldChangeNothingWhenAttributeIsNotOfTheTransition()
    {
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC).qkey(1));
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC).sqPsn(1));
        toInit(a);
        assertChangesNothing(a.queuePair, readyToReceive().sqPsn(1));
        assertChangesNothing(a.queuePair, readyToReceive().port(1));
    }

    @Test
    void shouldChangeNothingWhenValueIsOutOfRange()
    {
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC).port(0));
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC).port(200));
        toInit(a);
        assertChangesNothing(a.queuePair, readyToReceive().pathMtuBytes(1000));
        assertChangesNothing(a.queuePair, readyToReceive().minRnrTimer(32));
        assertChangesNothing(a.queuePair, readyToReceive().destinationNumber(1 << 24));
        assertChangesNothing(a.queuePair, readyToReceive().maxDestinationReadAtomic(1 << 20));
        a.queuePair.modify(readyToReceive());
        final QueuePairType type = QueuePairType.RC;
        assertChangesNothing(a.queuePair, steps.readyToSend(type).timeout(32));
        assertChangesNothing(a.queuePair, steps.readyToSend(type).retryCount(8));
        assertChangesNothing(a.queuePair, steps.readyToSend(type).rnrRetry(8));
        assertChangesNothing(a.queuePair, steps.readyToSend(type).maxReadAtomic(1 << 20));
    }

    @Test
    void shouldRefuseTransitionsThatDoNotExist()
    {
        assertChangesNothing(a.queuePair, readyToReceive());
        assertChangesNothing(a.queuePair, steps.readyToSend(QueuePairType.RC));
        toInit(a);
        assertChangesNothing(a.queuePair, steps.readyToSend(QueuePairType.RC));
        a.queuePair.modify(readyToReceive());
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC));
        a.queuePair.modify(steps.readyToSend(QueuePairType.RC));
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC));
        assertChangesNothing(a.queuePair, readyToReceive());
    }

    @Test
    void shouldLeaveErrorOnlyToReset()
    {
        connectBySteps(steps);
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertChangesNothing(a.queuePair, steps.init(QueuePairType.RC));
        assertChangesNothing(a.queuePair, steps.readyToSend(QueuePairType.RC));
        assertChangesNothing(a.queuePair, new QueuePairAttributes().state(QueuePairState.SQD));
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RESET);
    }

    @Test
    void shouldMoveToErrorAndToResetFromEveryState()
    {
        final QueuePairAttributes error = new QueuePairAttributes().state(QueuePairState.ERR);
        final QueuePairAttributes reset = new QueuePairAttributes().state(QueuePairState.RESET);
        for (final QueuePairAttributes last : List.of(error, reset))
        {
            for (int count = 1; count <= 3; count++)
            {
                toInit(a);
                if (count > 1)
                {
                    a.queuePair.modify(readyToReceive());
                }
                if (count > 2)
                {
                    a.queuePair.modify(steps.readyToSend(QueuePairType.RC));
                }
                a.queuePair.modify(last);
                assertThat(a.queuePair.state()).isEqualTo(last.state());
                a.queuePair.modify(reset);
            }
        }
    }

    @Test
    void shouldShowAttributesThatWereSet()
    {
        connectBySteps(new QueuePairSteps().accessFlags(AccessFlags.REMOTE_READ).readAtomic(3, 2).retries(15, 5));
        final QueuePairAttributes shown = new QueuePairAttributes();
        a.queuePair.query(shown);
        assertThat(shown.state()).isEqualTo(QueuePairState.RTS);
        assertThat(shown.accessFlags() & AccessFlags.ALL_REMOTE & ~AccessFlags.LOCAL_WRITE)
            .isEqualTo(AccessFlags.REMOTE_READ);
        assertThat(shown.destinationNumber()).isEqualTo(b.queuePair.number());
        assertThat(shown.pathMtuBytes()).isEqualTo(QueuePairSteps.PATH_MTU_BYTES);
        assertThat(shown.maxReadAtomic()).isEqualTo(3);
        assertThat(shown.maxDestinationReadAtomic()).isEqualTo(2);
        assertThat(shown.timeout()).isEqualTo(15);
        assertThat(shown.retryCount()).isEqualTo(5);
    }

    @Test
    void shouldWorkWhenConnectedByStates()
    {
        connectBySteps(steps);
        b.putLong(0, 77);
        assertThat(execute(read(1, SIGNALED, 0, 8, 0)).status()).isZero();
        assertThat(a.getLong(0)).isEqualTo(77);
        receive(2, 512, 8);
        assertThat(execute(send(3, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }

    // What each state takes.

    @Test
    void shouldTakeReceivesButNoSendsInInitByStates()
    {
        toInit(b);
        assertThat(receive(1, 0, 8)).isEqualTo(PostStatus.OK);
        b.queuePair.begin();
        b.queuePair.send(2, SIGNALED, b.address(0), 8, b.key());
        assertThat(b.queuePair.complete()).isEqualTo(PostStatus.INVALID_STATE);
        settle();
        assertThat(poll(b)).isEmpty();
    }

    @Test
    void shouldServeInboundButTakeNoSendsInReadyToReceive()
    {
        toReadyToReceive(b, a);
        receive(1, 512, 8);
        steps.bringUp(a.queuePair, b.device.address(b.queuePair), b.queuePair.number());
        b.putLong(0, 5);
        assertThat(execute(read(2, SIGNALED, 0, 8, 0)).status()).isZero();
        assertThat(a.getLong(0)).isEqualTo(5);
        assertThat(execute(send(3, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(1);
        assertThat(b.getLong(512)).isEqualTo(5);
        b.queuePair.begin();
        b.queuePair.send(4, SIGNALED, b.address(0), 8, b.key());
        assertThat(b.queuePair.complete()).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTR);
    }

    @Test
    void shouldTellThatCommunicationBeganWhenFirstMessageArrivesInReadyToReceive()
    {
        toReadyToReceive(b, a);
        receive(1, 512, 8);
        steps.bringUp(a.queuePair, b.device.address(b.queuePair), b.queuePair.number());
        assertThat(execute(send(3, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitEvent(b.device, AsyncEventType.COMM_EST).source()).isEqualTo(b.queuePair);
    }

    @Test
    void shouldDropInboundInInit()
    {
        toInit(b);
        new QueuePairSteps().retries(8, 1).bringUp(a.queuePair, b.device.address(b.queuePair), b.queuePair.number());
        a.putLong(0, 9);
        assertThat(execute(write(1, SIGNALED, 0, 8, 0)).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(b.getLong(0)).isZero();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.INIT);
    }

    @Test
    void shouldDropInboundInReset()
    {
        new QueuePairSteps().retries(8, 1).bringUp(a.queuePair, b.device.address(b.queuePair), b.queuePair.number());
        a.putLong(0, 9);
        assertThat(execute(write(1, SIGNALED, 0, 8, 0)).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldDiscardOutstandingWithoutCompletionsWhenMovedToReset()
    {
        connectBySteps(steps);
        receive(1, 0, 8);
        post(a, send(2, SIGNALED, 0, 8), send(3, SIGNALED, 0, 8));
        assertThat(awaitOne(a).wrId()).isEqualTo(2);
        assertThat(awaitOne(b).wrId()).isEqualTo(1);
        receive(4, 0, 8);
        b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        settle();
        assertThat(poll(a)).isEmpty();
        assertThat(poll(b)).isEmpty();
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(Endpoint.CAPABILITIES.maxSendRequests());
        connectBySteps(steps);
        assertThat(execute(read(5, SIGNALED, 0, 8, 0)).wrId()).isEqualTo(5);
    }

    // Send queue draining.

    private static QueuePairAttributes drain()
    {
        return new QueuePairAttributes().state(QueuePairState.SQD);
    }

    @Test
    void shouldTellThatSendQueueIsDrained()
    {
        connectBySteps(steps);
        post(a, write(1, 0, 0, 4096, 0), read(2, SIGNALED, 8192, 4096, 0));
        a.queuePair.modify(drain());
        assertThat(awaitEvent(a.device, AsyncEventType.SQ_DRAINED).source()).isEqualTo(a.queuePair);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.SQD);
        // What had begun is complete now; what had not stays back until RTS: nothing comes in between.
        final int completed = poll(a).size();
        settle();
        assertThat(poll(a)).isEmpty();
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(await(a, 1 - completed)).allMatch(completion -> completion.wrId() == 2);
        settle();
        assertThat(poll(a)).isEmpty();
    }

    @Test
    void shouldKeepSendsBackWhileDrainedAndStartThemAfterwards()
    {
        connectBySteps(steps);
        a.queuePair.modify(drain());
        a.putLong(0, 6);
        assertThat(post(a, write(1, SIGNALED, 0, 8, 0))).isEqualTo(PostStatus.OK);
        settle();
        assertThat(poll(a)).isEmpty();
        assertThat(b.getLong(0)).isZero();
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(awaitOne(a).wrId()).isEqualTo(1);
        assertThat(b.getLong(0)).isEqualTo(6);
    }

    @Test
    void shouldServeInboundWhileDrained()
    {
        connectBySteps(steps);
        b.queuePair.modify(drain());
        receive(1, 0, 8);
        a.putLong(0, 6);
        assertThat(execute(send(2, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(1);
        assertThat(b.getLong(0)).isEqualTo(6);
    }
}
