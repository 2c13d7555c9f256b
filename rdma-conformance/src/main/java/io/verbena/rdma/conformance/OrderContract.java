package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt.State;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** States of a queue pair, and the order of requests and completions. */
public abstract class OrderContract extends VerbsHarness
{
    @Test
    void shouldRefuseEveryPostInReset()
    {
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RESET);
        assertThat(post(a, read(1, SIGNALED, 0, 8, 0))).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(receive(1, 0, 8)).isEqualTo(PostStatus.INVALID_STATE);
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(16);
        assertThat(a.queuePair.counters().verbs()).isZero();
    }

    @Test
    void shouldTakeReceivesButNoSendsInInit()
    {
        try (ConnectionListener listener = b.device.listen(PORT))
        {
            final ConnectionAttempt attempt =
                a.device.connect(a.queuePair, b.device.address(), PORT, NOTHING, rig.connectTimeoutNs());
            final ConnectionRequest request = awaitRequest(listener);
            request.prepare(b.queuePair);
            assertThat(b.queuePair.state()).isEqualTo(QueuePairState.INIT);
            assertThat(a.queuePair.state()).isEqualTo(QueuePairState.INIT);
            assertThat(receive(9, 0, 64)).isEqualTo(PostStatus.OK);
            b.queuePair.begin();
            b.queuePair.send(1, SIGNALED, b.address(0), 8, b.key());
            assertThat(b.queuePair.complete()).isEqualTo(PostStatus.INVALID_STATE);
            assertThat(a.queuePair.postReceive(5, a.address(0), 64, a.key())).isEqualTo(PostStatus.OK);
            request.accept(b.queuePair, AccessFlags.ALL_REMOTE, NOTHING);
            // The acceptor may send at once, although the other side has not looked yet.
            b.queuePair.begin();
            b.queuePair.send(2, SIGNALED, b.address(0), 8, b.key());
            assertThat(b.queuePair.complete()).isEqualTo(PostStatus.OK);
            assertThat(await(attempt)).isEqualTo(State.ESTABLISHED);
            assertThat(awaitOne(a).wrId()).isEqualTo(5);
            assertThat(awaitOne(b).wrId()).isEqualTo(2);
            post(a, send(3, 0, 0, 8));
            assertThat(awaitOne(b).wrId()).isEqualTo(9);
        }
    }

    @Test
    void shouldFlushEverythingOutstandingWhenMovedToError()
    {
        connect();
        receive(1, 0, 8);
        receive(2, 8, 8);
        b.queuePair.moveToError();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        final List<Completion> flushed = await(b, 2);
        assertThat(flushed).extracting(Completion::wrId).containsExactly(1L, 2L);
        assertThat(flushed).extracting(Completion::status).containsOnly(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    @Test
    void shouldAcceptAndFlushPostsInError()
    {
        connect();
        a.queuePair.moveToError();
        assertThat(post(a, read(1, 0, 0, 8, 0), write(2, 0, 0, 8, 0))).isEqualTo(PostStatus.OK);
        assertThat(a.queuePair.postReceive(3, a.address(0), 8, a.key())).isEqualTo(PostStatus.OK);
        final List<Completion> flushed = await(a, 3);
        assertThat(flushed).extracting(Completion::wrId).containsExactlyInAnyOrder(1L, 2L, 3L);
        assertThat(flushed).extracting(Completion::status).containsOnly(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(16);
    }

    @Test
    void shouldFlushWaitingSendsWhenMovedToError()
    {
        connect();
        post(a, send(1, SIGNALED, 0, 8), write(2, 0, 0, 8, 0));
        settle();
        assertThat(poll(a)).isEmpty();
        a.queuePair.moveToError();
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.WR_FLUSH_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
    }

    // Ordering.

    @Test
    void shouldCompleteInPostingOrder()
    {
        connect();
        receive(0, 0, 64);
        post(a,
            write(1, SIGNALED, 0, 200, 1024), read(2, SIGNALED, 512, 200, 1024), compareSwap(3, SIGNALED, 0, 8, 0, 1),
            send(4, SIGNALED, 0, 8), fetchAdd(5, SIGNALED, 8, 8, 1), read(6, SIGNALED, 16, 8, 8));
        assertThat(await(a, 6)).extracting(Completion::wrId).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
    }

    @Test
    void shouldExecuteLaterRequestsAfterEarlierWritesAndAtomics()
    {
        connect();
        for (int round = 0; round < 50; round++)
        {
            a.putLong(0, round + 1);
            b.putLong(800, 0);
            final int fence = a.device.attributes().readAfterAtomicNeedsFence() ? SendFlags.FENCE : 0;
            post(a,
                write(1, 0, 0, 8, 800),
                read(2, 0, 8, 8, 800),
                compareSwap(3, 0, 16, 800, round + 1, -1),
                read(4, fence, 24, 8, 800),
                fetchAdd(5, SIGNALED, 32, 800, 1));
            assertThat(awaitOne(a).status()).isZero();
            assertThat(a.getLong(8)).isEqualTo(round + 1);
            assertThat(a.getLong(16)).isEqualTo(round + 1);
            assertThat(a.getLong(24)).isEqualTo(-1);
            assertThat(a.getLong(32)).isEqualTo(-1);
        }
    }

    @Test
    void shouldReadOldBytesWhenLaterWriteIsFenced()
    {
        connect();
        for (int round = 0; round < 50; round++)
        {
            b.putLong(800, round);
            a.putLong(0, -1);
            post(a, read(1, 0, 8, 512, 800), write(2, SendFlags.FENCE | SIGNALED, 0, 8, 800));
            assertThat(awaitOne(a).status()).isZero();
            assertThat(a.getLong(8)).isEqualTo(round);
            assertThat(b.getLong(800)).isEqualTo(-1);
        }
    }

    @Test
    void shouldShowWrittenBytesToTargetWhenLaterSendHasArrived()
    {
        connect();
        a.putLong(0, 123);
        receive(1, 0, 64);
        post(a, write(1, 0, 0, 8, 800), send(2, 0, 0, 0));
        awaitOne(b);
        assertThat(b.getLong(800)).isEqualTo(123);
    }

    @Test
    void shouldShowWrittenBytesToTargetWhenLaterImmediateHasArrived()
    {
        connect();
        for (int round = 0; round < 20; round++)
        {
            a.fill(0, 1024, round + 1);
            receive(1, 0, 0);
            post(a, write(1, 0, 0, 1024, 1024), writeWithImmediate(2, SIGNALED, 0, 8, 4096, round));
            assertThat(awaitOne(b).immediate()).isEqualTo(round);
            assertThat(b.bytes(1024, 1024)).containsOnly(round + 1);
            assertThat(awaitOne(a).status()).isZero();
        }
    }

    @Test
    void shouldExecuteAllWhenMoreReadsAndAtomicsArePostedThanLimit()
    {
        connect();
        for (int i = 0; i < 15; i++)
        {
            b.putLong(i * 8, i + 1);
        }
        a.queuePair.begin();
        for (int i = 0; i < 15; i++)
        {
            read(i, i == 14 ? SIGNALED : 0, i * 8, 8, i * 8).run();
        }
        a.queuePair.complete();
        assertThat(awaitOne(a).status()).isZero();
        for (int i = 0; i < 15; i++)
        {
            assertThat(a.getLong(i * 8)).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldRefuseReadAsInvalidWhenResponderHasNoReadResources()
    {
        b.queuePair.close();
        b.queuePair = b.domain.createQueuePair(
            b.completions, b.completions, new QueuePairCapabilities(16, 16, 0, 0));
        connect();
        assertThat(execute(read(1, SIGNALED, 0, 8, 0)).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    // Receiver not ready.

    @Test
    void shouldWaitForReceiveAndKeepOrderWhenPeerIsNotReady()
    {
        connect();
        a.putLong(0, 7);
        post(a, send(1, SIGNALED, 0, 8), write(2, SIGNALED, 0, 8, 800));
        assertThat(poll(a)).isEmpty();
        assertThat(b.getLong(800)).isZero();
        post(a, write(3, SIGNALED, 0, 8, 808));
        receive(9, 0, 8);
        assertThat(await(a, 3)).extracting(Completion::wrId).containsExactly(1L, 2L, 3L);
        assertThat(awaitOne(b).wrId()).isEqualTo(9);
        assertThat(b.getLong(808)).isEqualTo(7);
    }

    @Test
    void shouldFailSendWhenPeerNeverPostsReceive()
    {
        connect();
        a.putLong(0, 7);
        post(a, send(1, 0, 0, 8), write(2, 0, 0, 8, 800));
        assertThat(poll(a)).isEmpty();
        settle();
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.RNR_RETRY_EXC_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
        settle();
        assertThat(b.getLong(800)).isZero();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldPlacePayloadOnlyOnceWhenWriteWithImmediateWaits()
    {
        connect();
        a.putLong(0, 7);
        post(a, writeWithImmediate(1, SIGNALED, 0, 8, 800, 5));
        settle();
        assertThat(b.getLong(800)).isEqualTo(7);
        b.putLong(800, 8);
        poll(a);
        settle();
        receive(9, 0, 0);
        assertThat(awaitOne(a).status()).isZero();
        assertThat(awaitOne(b).immediate()).isEqualTo(5);
        assertThat(b.getLong(800)).isEqualTo(8);
    }
}
