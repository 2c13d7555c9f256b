package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** READ and atomic depth, receiver not ready, answers that do not come. */
abstract class RetryContract extends VerbsHarness
{
    private static final int RNR_10_US = 1;
    private static final int RNR_1_28_MS = 14;
    private static final int RNR_41_MS = 24;
    private static final int RNR_655_MS = 0;

    private QueuePairAttributes attributes(final Endpoint endpoint)
    {
        final QueuePairAttributes shown = new QueuePairAttributes();
        endpoint.queuePair.query(shown);
        return shown;
    }

    // READ and atomic depth.

    @Test
    void shouldStallAndNotFailBeyondReadDepthOfOne()
    {
        connectBySteps(new QueuePairSteps().readAtomic(1, 1));
        for (int i = 0; i < 12; i++)
        {
            b.putLong(i * 8, i + 1);
        }
        a.queuePair.begin();
        for (int i = 0; i < 12; i++)
        {
            read(i, SIGNALED, i * 8, 8, i * 8).run();
        }
        a.queuePair.complete();
        assertThat(await(a, 12)).extracting(Completion::wrId)
            .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L);
        for (int i = 0; i < 12; i++)
        {
            assertThat(a.getLong(i * 8)).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldRefuseReadWhenResponderAnswersNone()
    {
        connectBySteps(new QueuePairSteps().readAtomic(1, 0));
        assertThat(execute(read(1, SIGNALED, 0, 8, 0)).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        awaitState(b.queuePair, QueuePairState.ERR);
    }

    @Test
    void shouldRefuseAtomicWhenResponderAnswersNone()
    {
        connectBySteps(new QueuePairSteps().readAtomic(1, 0));
        assertThat(execute(fetchAdd(1, SIGNALED, 0, 0, 1)).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldWriteAndSendWhenResponderAnswersNoReads()
    {
        connectBySteps(new QueuePairSteps().readAtomic(0, 0));
        a.putLong(0, 4);
        receive(1, 8, 8);
        post(a, write(2, SIGNALED, 0, 8, 0), send(3, SIGNALED, 0, 8));
        assertThat(await(a, 2)).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(b.getLong(0)).isEqualTo(4);
    }

    @Test
    void shouldNegotiateRequesterDepthWithinResponderResources()
    {
        connect();
        assertThat(attributes(a).maxReadAtomic()).isBetween(1, attributes(b).maxDestinationReadAtomic());
        assertThat(attributes(b).maxReadAtomic()).isBetween(1, attributes(a).maxDestinationReadAtomic());
    }

    @Test
    void shouldExecuteEachAtomicExactlyOnce()
    {
        connect();
        for (int round = 0; round < 20; round++)
        {
            a.queuePair.begin();
            for (int i = 0; i < 15; i++)
            {
                fetchAdd(i, i == 14 ? SIGNALED : 0, i * 8, 64, 1).run();
            }
            a.queuePair.complete();
            assertThat(awaitOne(a).status()).isZero();
            for (int i = 0; i < 15; i++)
            {
                assertThat(a.getLong(i * 8)).isEqualTo(round * 15 + i);
            }
        }
        assertThat(b.getLong(64)).isEqualTo(300);
    }

    @Test
    void shouldLoseNoAdditionOfSeveralQueuePairs()
    {
        connect();
        final Endpoint c = own(new Endpoint(rig.requester()));
        final Endpoint d = own(new Endpoint(rig.responder()));
        d.queuePair.close();
        d.queuePair = b.domain.createQueuePair(b.completions, b.completions, Endpoint.CAPABILITIES);
        connect(c, d, AccessFlags.ALL_REMOTE);
        for (int round = 0; round < 10; round++)
        {
            a.queuePair.begin();
            c.queuePair.begin();
            for (int i = 0; i < 10; i++)
            {
                final int flags = i == 9 ? SIGNALED : 0;
                fetchAdd(i, flags, i * 8, 64, 1).run();
                c.queuePair.fetchAdd(i, flags, c.address(i * 8), c.key(), b.address(64), b.region.remoteKey(), 1);
            }
            a.queuePair.complete();
            c.queuePair.complete();
            assertThat(awaitOne(a).status()).isZero();
            assertThat(awaitOne(c).status()).isZero();
            for (int i = 0; i < 10; i++)
            {
                final long found = a.getLong(i * 8);
                assertThat(found).isBetween(round * 20L, round * 20L + 19).isNotEqualTo(c.getLong(i * 8));
            }
        }
        assertThat(b.getLong(64)).isEqualTo(200);
    }

    @Test
    void shouldConsumeOneReceiveForEachMessage()
    {
        connect();
        for (int round = 0; round < 20; round++)
        {
            a.putLong(0, round);
            receive(round, 512, 8);
            receive(round + 100, 520, 8);
            post(a, send(1, SIGNALED, 0, 8), send(2, SIGNALED, 0, 8));
            assertThat(await(a, 2)).extracting(Completion::wrId).containsExactly(1L, 2L);
            assertThat(await(b, 2)).extracting(Completion::wrId).containsExactly((long)round, round + 100L);
            assertThat(poll(b)).isEmpty();
        }
        receive(7, 512, 8);
        settle();
        assertThat(poll(b)).isEmpty();
    }

    // Receiver not ready.

    @Test
    void shouldFailAtOnceWhenReceiverIsNotReadyAndNoRetryIsAllowed()
    {
        connectBySteps(new QueuePairSteps().receiverNotReady(0, RNR_655_MS));
        final long startNs = rig.requester().clock().nanoTime();
        assertThat(execute(send(1, SIGNALED, 0, 8)).status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        assertThat(rig.requester().clock().nanoTime() - startNs).isLessThan(TimeUnit.MILLISECONDS.toNanos(600));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldWaitForEverWhenReceiverNotReadyRetryIsSeven()
    {
        connectBySteps(new QueuePairSteps().receiverNotReady(7, RNR_10_US));
        post(a, send(1, SIGNALED, 0, 8));
        rig.pass(TimeUnit.MILLISECONDS.toNanos(400));
        assertThat(poll(a)).isEmpty();
        receive(2, 0, 8);
        assertThat(awaitOne(a).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }

    @Test
    void shouldWaitAtLeastAsLongAsResponderAsksBeforeEachRetry()
    {
        connectBySteps(new QueuePairSteps().receiverNotReady(3, RNR_1_28_MS));
        final long startNs = rig.requester().clock().nanoTime();
        post(a, send(1, 0, 0, 8), write(2, 0, 0, 8, 0));
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.RNR_RETRY_EXC_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(rig.requester().clock().nanoTime() - startNs).isGreaterThanOrEqualTo(3 * 1_280_000L);
    }

    @Test
    void shouldTakeTimerCodeZeroAsTheLongest()
    {
        connectBySteps(new QueuePairSteps().receiverNotReady(1, RNR_655_MS));
        final long startNs = rig.requester().clock().nanoTime();
        assertThat(execute(send(1, SIGNALED, 0, 8)).status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        assertThat(rig.requester().clock().nanoTime() - startNs).isGreaterThanOrEqualTo(655_360_000L);
    }

    @Test
    void shouldRaiseReceiverNotReadyForWriteWithImmediateToo()
    {
        connectBySteps(new QueuePairSteps().receiverNotReady(0, RNR_10_US));
        assertThat(execute(writeWithImmediate(1, SIGNALED, 0, 8, 0, 5)).status())
            .isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        assertThat(poll(b)).isEmpty();
    }

    @Test
    void shouldBeginRetriesAnewAfterProgress()
    {
        // Two retries each time, eight in all; a busy machine has the time of four more to be late.
        connectBySteps(new QueuePairSteps().receiverNotReady(6, RNR_41_MS));
        for (int i = 0; i < 4; i++)
        {
            post(a, send(i, SIGNALED, 0, 8));
            rig.pass(83_000_000);
            receive(10 + i, 0, 8);
            assertThat(awaitOne(a).status()).isZero();
            assertThat(awaitOne(b).wrId()).isEqualTo(10 + i);
        }
    }

    // Answers that do not come.

    @Test
    void shouldFailAsRetryExceededWhenPeerDoesNotAnswer()
    {
        connectBySteps(new QueuePairSteps().retries(8, 2));
        b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        post(a, read(1, 0, 0, 8, 0), write(2, 0, 0, 8, 0));
        final List<Completion> completions = await(a, 2);
        assertThat(completions).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.RETRY_EXC_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldFailAsRetryExceededWhenNumberBelongsToNobody()
    {
        new QueuePairSteps().retries(8, 1).bringUp(a.queuePair, b.device.address(), 0xFF_FFF0);
        assertThat(execute(write(1, SIGNALED, 0, 8, 0)).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }
}
