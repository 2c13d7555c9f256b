package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/** Depths, signalling, overrun and counts; what happens when a side goes away; lifetimes. */
public abstract class QueueContract extends VerbsHarness
{
    @Test
    void shouldStaySilentForUnsignaledSuccess()
    {
        connect();
        post(a, write(1, 0, 0, 8, 0), read(2, 0, 0, 8, 0), write(3, SIGNALED, 0, 8, 0), write(4, 0, 0, 8, 0));
        assertThat(awaitOne(a).wrId()).isEqualTo(3);
        settle();
        assertThat(poll(a)).isEmpty();
    }

    @Test
    void shouldCompleteErrorOfUnsignaledRequestAndNoEarlierOne()
    {
        connect();
        post(a, write(1, 0, 0, 8, 0), write(2, 0, 0, 8, -8), write(3, 0, 0, 8, 0), write(4, SIGNALED, 0, 8, 0));
        assertThat(await(a, 3)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(2L, WorkCompletionStatus.REM_ACCESS_ERR),
            tuple(3L, WorkCompletionStatus.WR_FLUSH_ERR),
            tuple(4L, WorkCompletionStatus.WR_FLUSH_ERR));
    }

    @Test
    void shouldReclaimUnsignaledSlotsOnlyWhenLaterSignaledCompletionIsPolled()
    {
        connect();
        for (int i = 0; i < 15; i++)
        {
            assertThat(post(a, write(i, 0, 0, 8, 0))).isEqualTo(PostStatus.OK);
        }
        settle();
        poll(a);
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(1);
        assertThat(post(a, write(16, SIGNALED, 0, 8, 0))).isEqualTo(PostStatus.OK);
        settle();
        assertThat(a.queuePair.sendQueueSpace()).isZero();
        assertThat(post(a, write(17, SIGNALED, 0, 8, 0))).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(awaitOne(a).wrId()).isEqualTo(16);
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(16);
    }

    @Test
    void shouldPostNothingOfBatchWhenItDoesNotFit()
    {
        connect();
        a.putLong(0, 9);
        a.queuePair.begin();
        for (int i = 0; i < 17; i++)
        {
            write(i, SIGNALED, 0, 8, i * 8).run();
        }
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.QUEUE_FULL);
        settle();
        assertThat(poll(a)).isEmpty();
        assertThat(b.getLong(0)).isZero();
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(16);
        assertThat(a.queuePair.counters().verbs()).isZero();
        assertThat(post(a, write(1, SIGNALED, 0, 8, 0))).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(a).wrId()).isEqualTo(1);
    }

    @Test
    void shouldPostNothingWhenAborted()
    {
        connect();
        a.queuePair.begin();
        write(1, SIGNALED, 0, 8, 0).run();
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(15);
        a.queuePair.abort();
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(16);
        settle();
        assertThat(poll(a)).isEmpty();
    }

    @Test
    void shouldRefuseReceivesBeyondDepthUntilOneIsPolled()
    {
        connect();
        for (int i = 0; i < 16; i++)
        {
            assertThat(receive(i, i * 8, 8)).isEqualTo(PostStatus.OK);
        }
        assertThat(receive(16, 0, 8)).isEqualTo(PostStatus.QUEUE_FULL);
        post(a, send(1, SIGNALED, 0, 8));
        awaitOne(a);
        assertThat(receive(16, 0, 8)).isEqualTo(PostStatus.QUEUE_FULL);
        awaitOne(b);
        assertThat(receive(16, 0, 8)).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldKillQueueAndItsQueuePairsWhenCompletionsOverrun()
    {
        b.close();
        disown(b);
        b = own(new Endpoint(rig.responder(), AccessFlags.ALL_REMOTE, 2, Endpoint.CAPABILITIES));
        connect();
        for (int i = 0; i < 3; i++)
        {
            receive(i, 0, 8);
        }
        post(a, send(1, 0, 0, 8), send(2, 0, 0, 8), send(3, SIGNALED, 0, 8));
        settle();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        final WorkCompletions batch = new WorkCompletions(8);
        assertThat(b.completions.poll(batch)).isEqualTo(2);
        assertThatThrownBy(() -> b.completions.poll(batch))
            .isInstanceOf(RdmaException.class).hasMessageContaining("overrun").hasMessageContaining("capacity=2");
    }

    @Test
    void shouldTakeNoMoreThanBatchHolds()
    {
        connect();
        post(a, write(1, SIGNALED, 0, 8, 0), write(2, SIGNALED, 0, 8, 0), write(3, SIGNALED, 0, 8, 0));
        settle();
        final WorkCompletions batch = new WorkCompletions(2);
        assertThat(a.completions.poll(batch)).isEqualTo(2);
        assertThat(batch.wrId(0)).isEqualTo(1);
        assertThat(a.completions.poll(batch)).isEqualTo(1);
        assertThat(batch.wrId(0)).isEqualTo(3);
        assertThat(a.completions.poll(batch)).isZero();
    }

    @Test
    void shouldCountEachVerbAndDoorbellExactly()
    {
        connect();
        receive(1, 0, 8);
        receive(2, 0, 8);
        receive(3, 0, 8);
        post(a, read(1, 0, 0, 64, 0), write(2, 0, 0, 32, 0), compareSwap(3, 0, 0, 0, 0, 0));
        post(a, fetchAdd(4, 0, 0, 0, 0), send(5, 0, 0, 8), writeWithImmediate(6, 0, 0, 16, 0, 1));
        post(a);
        post(a, () -> a.queuePair.sendWithImmediate(7, SIGNALED, a.address(0), 4, a.key(), 1));
        awaitOne(a);
        final VerbCounters counters = a.queuePair.counters();
        assertThat(counters.toString()).isEqualTo(
            "VerbCounters{reads=1, writes=2, compareSwaps=1, fetchAdds=1, sends=2, localOperations=0, " +
            "doorbells=3, payloadBytes=140}");
        assertThat(counters.verbs()).isEqualTo(7);
        assertThat(b.queuePair.counters().verbs()).isZero();
    }

    @Test
    void shouldRefuseMisuseOfBatches()
    {
        connect();
        assertThatThrownBy(() -> a.queuePair.complete()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> read(1, 0, 0, 8, 0).run()).isInstanceOf(RdmaException.class);
        a.queuePair.begin();
        assertThatThrownBy(() -> a.queuePair.begin()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> read(1, 0, 0, -1, 0).run()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> read(1, 1 << 9, 0, 8, 0).run()).isInstanceOf(RdmaException.class);
        a.queuePair.abort();
    }

    @Test
    void shouldTellRequestAndQueuePairOfFailure()
    {
        connect();
        assertThat(execute(write(77, 0, 0, 8, -8))).extracting(Completion::wrId, Completion::queuePair)
            .containsExactly(77L, a.queuePair.number());
    }

    @Test
    void shouldFlagImmediatesAndNothingElse()
    {
        connect();
        receive(1, 0, 8);
        receive(2, 0, 8);
        post(a, send(3, 0, 0, 8), () -> a.queuePair.sendWithImmediate(4, SIGNALED, a.address(0), 0, a.key(), 0));
        awaitOne(a);
        final WorkCompletions batch = new WorkCompletions(1);
        await(() -> b.completions.poll(batch) == 1);
        assertThat(batch.flags(0) & (WorkCompletions.WITH_IMMEDIATE | WorkCompletions.WITH_INVALIDATION)).isZero();
        await(() -> b.completions.poll(batch) == 1);
        assertThat(batch.wrId(0)).isEqualTo(2);
        assertThat(batch.flags(0)).isEqualTo(WorkCompletions.WITH_IMMEDIATE);
    }

    @Test
    void shouldCompleteSendsAndReceivesOnQueuesOfTheirOwn()
    {
        final CompletionQueue receives = own(b.device.createCompletionQueue(16));
        b.queuePair.close();
        b.queuePair = own(b.domain.createQueuePair(b.completions, receives, Endpoint.CAPABILITIES));
        connect();
        receive(1, 0, 8);
        assertThat(execute(send(2, SIGNALED, 0, 8)).status()).isZero();
        final WorkCompletions batch = new WorkCompletions(4);
        await(() -> receives.poll(batch) == 1);
        assertThat(batch.wrId(0)).isEqualTo(1);
        assertThat(poll(b)).isEmpty();
    }

    // Peers that go away.

    @Test
    void shouldFailAsRetryExceededWhenPeerQueuePairWasClosed()
    {
        connect();
        b.queuePair.close();
        post(a, write(1, 0, 0, 8, 0), write(2, 0, 0, 8, 8));
        settle();
        assertThat(await(a, 2)).extracting(Completion::status)
            .containsExactly(WorkCompletionStatus.RETRY_EXC_ERR, WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldFailAsRetryExceededWhenPeerQueuePairIsInError()
    {
        connect();
        b.queuePair.moveToError();
        post(a, read(1, 0, 0, 8, 0));
        settle();
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }

    @Test
    void shouldDropCompletionsOfClosedQueuePair()
    {
        connect();
        receive(1, 0, 8);
        post(a, write(1, SIGNALED, 0, 8, 0), send(2, SIGNALED, 0, 8));
        settle();
        a.queuePair.close();
        b.queuePair.close();
        settle();
        assertThat(poll(a)).isEmpty();
        assertThat(poll(b)).isEmpty();
        assertThat(a.queuePair.postReceive(1, 0, 0, 0)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(post(a, write(1, SIGNALED, 0, 8, 0))).isEqualTo(PostStatus.INVALID_STATE);
    }

    @Test
    void shouldServeOtherQueuePairsWhenOneFails()
    {
        connect();
        final QueuePair a2 = own(a.domain.createQueuePair(a.completions, a.completions, Endpoint.CAPABILITIES));
        final QueuePair b2 = own(b.domain.createQueuePair(b.completions, b.completions, Endpoint.CAPABILITIES));
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            final ConnectionAttempt attempt = a.device.connect(
                a2, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
            awaitRequest(listener).accept(b2, AccessFlags.ALL_REMOTE, NOTHING);
            assertThat(await(attempt)).isEqualTo(State.ESTABLISHED);
        }
        assertThat(a2.number()).isNotEqualTo(a.queuePair.number());
        post(a, read(1, 0, 0, 8, -8));
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        b.putLong(0, 3);
        a2.begin();
        a2.read(2, SIGNALED, a.address(0), 8, a.key(), b.address(0), b.region.remoteKey());
        a2.complete();
        assertThat(awaitOne(a)).extracting(Completion::status, Completion::queuePair).containsExactly(0, a2.number());
        assertThat(a.getLong(0)).isEqualTo(3);
    }

    // Lifetimes and limits.

    @Test
    void shouldRefuseToCloseParentsBeforeChildren()
    {
        assertThatThrownBy(() -> a.device.close()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.domain.close()).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.completions.close()).isInstanceOf(RdmaException.class);
    }

    @Test
    void shouldCloseTwiceWithoutEffect()
    {
        a.queuePair.close();
        a.queuePair.close();
        a.region.close();
        a.region.close();
        a.completions.close();
        a.completions.close();
        a.domain.close();
        a.domain.close();
        assertThatThrownBy(() -> a.domain.allocateRegistered(64, 0)).isInstanceOf(RdmaException.class);
    }

    @Test
    void shouldRefuseSizesBeyondAttributes()
    {
        final DeviceAttributes attributes = a.device.attributes();
        assertThatThrownBy(() -> a.domain.createQueuePair(a.completions, a.completions,
            new QueuePairCapabilities(attributes.maxQueuePairRequests() + 1, 0, 0, 0)))
            .isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.domain.createQueuePair(a.completions, a.completions,
            new QueuePairCapabilities(0, 0, 0, 0))).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.domain.createQueuePair(a.completions, a.completions,
            new QueuePairCapabilities(1, 0, 0, attributes.maxReadAtomic() + 1))).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.domain.createQueuePair(b.completions, a.completions, Endpoint.CAPABILITIES))
            .isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.device.createCompletionQueue(0)).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> a.device.createCompletionQueue(attributes.maxCompletions() + 1))
            .isInstanceOf(RdmaException.class);
        assertThat(attributes.supports(DeviceCapability.GLOBAL_ATOMICS)).isTrue();
    }

    @Test
    void shouldHandOutZeroedMemory()
    {
        assertThat(a.bytes(0, Endpoint.REGION_BYTES)).containsOnly(0);
        assertThat(a.region.lengthBytes()).isEqualTo(Endpoint.REGION_BYTES);
        assertThat(a.region.segment().byteSize()).isEqualTo(Endpoint.REGION_BYTES);
        assertThat(a.region.address() % 4096).isZero();
    }
}
