package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** UC: SEND and WRITE with one peer, no answers: what cannot be delivered is dropped without a word. */
abstract class UnreliableContract extends TransitionHarness
{
    private void connectUnreliably()
    {
        a.use(a.options(QueuePairType.UC));
        b.use(b.options(QueuePairType.UC));
        connectBySteps(new QueuePairSteps());
    }

    @Test
    void shouldChangeNothingWhenAttributeOfUnreliableQueuePairIsMissing()
    {
        final QueuePairType type = QueuePairType.UC;
        final QueuePairSteps steps = new QueuePairSteps();
        a.use(a.options(type));
        b.use(b.options(type));
        assertNeedsEach(a.queuePair, steps.init(type));
        a.queuePair.modify(steps.init(type));
        final QueuePairAttributes next =
            steps.readyToReceive(type, b.device.address(b.queuePair), b.queuePair.number());
        assertNeedsEach(a.queuePair, next);
        a.queuePair.modify(next);
        assertNeedsEach(a.queuePair, steps.readyToSend(type));
        a.queuePair.modify(steps.readyToSend(type));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldRefuseReliableAttributesOnUnreliableQueuePair()
    {
        final QueuePairType type = QueuePairType.UC;
        final QueuePairSteps steps = new QueuePairSteps();
        a.use(a.options(type));
        a.queuePair.modify(steps.init(type));
        assertChangesNothing(
            a.queuePair,
            steps.readyToReceive(type, b.device.address(b.queuePair), b.queuePair.number()).minRnrTimer(1));
    }

    @Test
    void shouldWriteAndSendUnreliably()
    {
        connectUnreliably();
        a.putLong(0, 42);
        receive(1, 512, 8);
        receive(2, 520, 8);
        receive(3, 528, 8);
        post(a, write(4, SIGNALED, 0, 8, 0), send(5, SIGNALED, 0, 8), writeWithImmediate(6, SIGNALED, 0, 8, 8, 77),
            () -> a.queuePair.sendWithImmediate(7, SIGNALED, a.address(0), 8, a.key(), 78));
        assertThat(await(a, 4)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(4L, 0), tuple(5L, 0), tuple(6L, 0), tuple(7L, 0));
        assertThat(await(b, 3)).extracting(Completion::wrId, Completion::opcode, Completion::immediate)
            .containsExactly(
                tuple(1L, WorkCompletionOpcode.RECV, 0),
                tuple(2L, WorkCompletionOpcode.RECV_RDMA_WITH_IMM, 77),
                tuple(3L, WorkCompletionOpcode.RECV, 78));
        assertThat(b.getLong(0)).isEqualTo(42);
        assertThat(b.getLong(8)).isEqualTo(42);
        assertThat(b.getLong(512)).isEqualTo(42);
    }

    @Test
    void shouldRefuseReadOnUnreliableQueuePair()
    {
        connectUnreliably();
        assertRefused(read(1, SIGNALED, 0, 8, 0));
    }

    @Test
    void shouldRefuseAtomicsOnUnreliableQueuePair()
    {
        connectUnreliably();
        assertRefused(compareSwap(1, SIGNALED, 0, 0, 0, 1));
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldRefuseFenceOnUnreliableQueuePair()
    {
        connectUnreliably();
        assertRefused(write(1, SIGNALED | SendFlags.FENCE, 0, 8, 0));
    }

    @Test
    void shouldDropSilentlyWhenUnreliablePeerHasNoReceive()
    {
        connectUnreliably();
        a.putLong(0, 1);
        assertThat(execute(send(1, SIGNALED, 0, 8)).status()).isZero();
        settle();
        receive(2, 512, 8);
        settle();
        assertThat(poll(b)).isEmpty();
        a.putLong(0, 2);
        assertThat(execute(send(3, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
        assertThat(b.getLong(512)).isEqualTo(2);
    }

    @Test
    void shouldStaySilentAtUnreliableRequesterWhenWriteIsRefused()
    {
        connectUnreliably();
        a.putLong(0, 1);
        assertThat(execute(write(1, SIGNALED, 0, 16, Endpoint.REGION_BYTES - 8)).status()).isZero();
        settle();
        assertThat(b.getLong(Endpoint.REGION_BYTES - 8)).isZero();
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldEnterSendQueueErrorOnLocalErrorAndLeaveItByModify()
    {
        connectUnreliably();
        receive(9, 512, 8);
        post(a,
            () -> a.queuePair.write(1, 0, a.address(0), 8, a.key() + 1, b.address(0), b.region.remoteKey()),
            write(2, 0, 0, 8, 0));
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.LOC_PROT_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.SQE);
        assertThat(post(a, write(3, 0, 0, 8, 0))).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        a.putLong(0, 8);
        assertThat(execute(send(4, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(9);
        assertThat(b.getLong(512)).isEqualTo(8);
    }

    @Test
    void shouldReceiveInSendQueueError()
    {
        connectUnreliably();
        post(b, () -> b.queuePair.write(1, 0, b.address(0), 8, b.key() + 1, a.address(0), a.region.remoteKey()));
        assertThat(awaitOne(b).status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.SQE);
        receive(2, 512, 8);
        a.putLong(0, 5);
        assertThat(execute(send(3, SIGNALED, 0, 8)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
        assertThat(b.getLong(512)).isEqualTo(5);
    }
}
