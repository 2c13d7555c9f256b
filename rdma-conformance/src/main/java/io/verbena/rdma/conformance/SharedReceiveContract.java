package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/** Receives that several queue pairs share. */
abstract class SharedReceiveContract extends VerbsHarness
{
    private static final int DEPTH = 8;
    private SharedReceiveQueue shared;
    private QueuePair second;
    private QueuePair secondPeer;

    /** Two queue pairs of the responder on one shared receive queue, each with a peer. */
    private void connectShared()
    {
        shared = b.domain.createSharedReceiveQueue(DEPTH);
        b.use(b.options(QueuePairType.RC).sharedReceiveQueue(shared));
        own(() ->
        {
            b.queuePair.close();
            shared.close();
        });
        second = own(b.domain.createQueuePair(b.options(QueuePairType.RC).sharedReceiveQueue(shared)));
        secondPeer = own(a.domain.createQueuePair(a.options(QueuePairType.RC)));
        connect();
        connectBySteps(secondPeer, second, new QueuePairSteps());
    }

    private int shareReceive(final long wrId, final long offset, final int lengthBytes)
    {
        return shared.postReceive(wrId, b.address(offset), lengthBytes, b.key());
    }

    private void sendOn(final QueuePair queuePair, final long wrId)
    {
        queuePair.begin();
        queuePair.send(wrId, SIGNALED, a.address(0), 8, a.key());
        assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(a).status()).isZero();
    }

    private static void assertRefusedByThrowing(final ThrowingCallable call)
    {
        assertThatThrownBy(call).isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void shouldHandOutSharedReceivesInPostingOrderAndTellWhoConsumedThem()
    {
        connectShared();
        for (int i = 0; i < 4; i++)
        {
            assertThat(shareReceive(i, 512 + i * 8, 8)).isEqualTo(PostStatus.OK);
        }
        sendOn(a.queuePair, 10);
        sendOn(secondPeer, 11);
        sendOn(secondPeer, 12);
        sendOn(a.queuePair, 13);
        assertThat(await(b, 4)).extracting(Completion::wrId, Completion::queuePair).containsExactly(
            tuple(0L, b.queuePair.number()), tuple(1L, second.number()),
            tuple(2L, second.number()), tuple(3L, b.queuePair.number()));
    }

    @Test
    void shouldConsumeSharedReceiveForImmediate()
    {
        connectShared();
        shareReceive(1, 512, 8);
        assertThat(execute(writeWithImmediate(2, SIGNALED, 0, 8, 0, 9)).status()).isZero();
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::opcode, Completion::immediate)
            .containsExactly(1L, WorkCompletionOpcode.RECV_RDMA_WITH_IMM, 9);
    }

    @Test
    void shouldWaitForSharedReceiveWhenThereIsNone()
    {
        connectShared();
        post(a, send(1, SIGNALED, 0, 8));
        settle();
        assertThat(poll(a)).isEmpty();
        shareReceive(2, 512, 8);
        assertThat(awaitOne(a).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }

    @Test
    void shouldRefuseSharedReceivesBeyondDepthUntilOneIsPolled()
    {
        connectShared();
        for (int i = 0; i < shared.capacity(); i++)
        {
            assertThat(shareReceive(i, 512, 8)).isEqualTo(PostStatus.OK);
        }
        assertThat(shareReceive(99, 512, 8)).isEqualTo(PostStatus.QUEUE_FULL);
        sendOn(a.queuePair, 1);
        assertThat(awaitOne(b).wrId()).isZero();
        assertThat(shareReceive(99, 512, 8)).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldRefuseOwnReceivesOfQueuePairOnSharedQueue()
    {
        connectShared();
        try
        {
            assertThat(b.queuePair.postReceive(1, b.address(0), 8, b.key())).isNegative();
        }
        catch (final UnsupportedVerbException ex)
        {
            throw ex;
        }
        catch (final RdmaException ex)
        {
            assertThat(ex).hasMessageContaining("shared");
        }
    }

    @Test
    void shouldIgnoreOwnReceiveDepthOfQueuePairOnSharedQueue()
    {
        connectShared();
        for (int i = 0; i < DEPTH; i++)
        {
            shareReceive(i, 512, 8);
        }
        final QueuePair without = own(b.domain.createQueuePair(b.options(QueuePairType.RC)
            .capabilities(new QueuePairCapabilities(4, 0, 0, 1)).sharedReceiveQueue(shared)));
        final QueuePair peer = own(a.domain.createQueuePair(a.options(QueuePairType.RC)));
        connectBySteps(peer, without, new QueuePairSteps().readAtomic(1, 1));
        sendOn(peer, 1);
        assertThat(awaitOne(b).queuePair()).isEqualTo(without.number());
    }

    @Test
    void shouldRefuseSharedQueueOnUnreliableConnection()
    {
        connectShared();
        final QueuePair plain = own(a.domain.createQueuePair(a.options(QueuePairType.UC)));
        assertThat(plain.type()).isEqualTo(QueuePairType.UC);
        assertRefusedByThrowing(
            () -> b.domain.createQueuePair(b.options(QueuePairType.UC).sharedReceiveQueue(shared)));
    }

    @Test
    void shouldRefuseSharedQueueOfOtherDomain()
    {
        connectShared();
        final ProtectionDomain other = own(b.device.allocateProtectionDomain());
        assertRefusedByThrowing(
            () -> other.createQueuePair(b.options(QueuePairType.RC).sharedReceiveQueue(shared)));
    }

    // The limit.

    @Test
    void shouldRaiseLimitEventOnceWhenFewerReceivesAreLeftAndDisarmIt()
    {
        connectShared();
        for (int i = 0; i < 6; i++)
        {
            shareReceive(i, 512, 8);
        }
        shared.armLimit(4);
        assertThat(shared.armedLimit()).isEqualTo(4);
        sendOn(a.queuePair, 10);
        sendOn(a.queuePair, 11);
        assertThat(events(b.device)).extracting(AsyncEvent::type).doesNotContain(AsyncEventType.SRQ_LIMIT_REACHED);
        sendOn(a.queuePair, 12);
        assertThat(awaitEvent(b.device, AsyncEventType.SRQ_LIMIT_REACHED).source()).isEqualTo(shared);
        assertThat(shared.armedLimit()).isZero();
        sendOn(a.queuePair, 13);
        assertThat(events(b.device)).extracting(AsyncEvent::type).doesNotContain(AsyncEventType.SRQ_LIMIT_REACHED);
    }

    @Test
    void shouldRaiseLimitEventAgainWhenArmedAgain()
    {
        connectShared();
        for (int i = 0; i < 6; i++)
        {
            shareReceive(i, 512, 8);
        }
        shared.armLimit(6);
        sendOn(a.queuePair, 10);
        awaitEvent(b.device, AsyncEventType.SRQ_LIMIT_REACHED);
        shared.armLimit(5);
        sendOn(a.queuePair, 11);
        awaitEvent(b.device, AsyncEventType.SRQ_LIMIT_REACHED);
    }

    @Test
    void shouldRefuseLimitBeyondDepth()
    {
        connectShared();
        assertRefusedByThrowing(() -> shared.armLimit(shared.capacity() + 1));
        assertRefusedByThrowing(() -> shared.armLimit(-1));
        assertThat(shared.armedLimit()).isZero();
    }

    // Queue pairs that fail.

    @Test
    void shouldKeepSharedReceivesWhenQueuePairFails()
    {
        connectShared();
        shareReceive(1, 512, 8);
        shareReceive(2, 520, 8);
        b.queuePair.moveToError();
        settle();
        assertThat(poll(b)).isEmpty();
        sendOn(secondPeer, 10);
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::queuePair)
            .containsExactly(1L, second.number());
    }

    @Test
    void shouldTellThatFailedQueuePairConsumesNoMore()
    {
        connectShared();
        shareReceive(1, 512, 8);
        b.queuePair.moveToError();
        assertThat(awaitEvent(b.device, AsyncEventType.QP_LAST_WQE_REACHED).source()).isEqualTo(b.queuePair);
    }

    @Test
    void shouldConsumeOnlyTheReceiveInUseWhenMessageIsTooLong()
    {
        connectShared();
        shareReceive(1, 512, 4);
        shareReceive(2, 520, 8);
        assertThat(execute(send(10, SIGNALED, 0, 8)).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(awaitOne(b)).extracting(Completion::wrId, Completion::status, Completion::queuePair)
            .containsExactly(1L, WorkCompletionStatus.LOC_LEN_ERR, b.queuePair.number());
        awaitState(b.queuePair, QueuePairState.ERR);
        sendOn(secondPeer, 11);
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }

    @Test
    void shouldRefuseToCloseSharedQueueInUse()
    {
        connectShared();
        assertRefusedByThrowing(() -> shared.close());
        assertThat(shareReceive(1, 512, 8)).isEqualTo(PostStatus.OK);
    }

    @Test
    void shouldServeDatagramsFromSharedQueue()
    {
        shared = own(b.domain.createSharedReceiveQueue(DEPTH));
        final QueuePair receiver =
            own(b.domain.createQueuePair(b.options(QueuePairType.UD).sharedReceiveQueue(shared)));
        a.use(a.options(QueuePairType.UD));
        connectBySteps(a.queuePair, receiver, new QueuePairSteps());
        final var toB = own(a.domain.createAddressHandle(b.device.address()));
        shareReceive(1, 512, 48);
        post(a, () ->
        {
            a.queuePair.send(2, SIGNALED, a.address(0), 8, a.key());
            a.queuePair.toQueuePair(toB, receiver.number(), QueuePairSteps.QKEY);
        });
        assertThat(awaitOne(a).status()).isZero();
        final List<Completion> received = await(b, 1);
        assertThat(received).extracting(Completion::wrId, Completion::queuePair)
            .containsExactly(tuple(1L, receiver.number()));
    }
}
