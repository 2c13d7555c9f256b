package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/** UD: SEND to any datagram queue pair, 40 bytes of routing header before the payload, silent drops. */
abstract class DatagramContract extends TransitionHarness
{
    private static final int HEADER_BYTES = 40;
    private AddressHandle toB;

    private void bringUp()
    {
        a.use(a.options(QueuePairType.UD));
        b.use(b.options(QueuePairType.UD));
        connectBySteps(new QueuePairSteps());
        toB = own(a.domain.createAddressHandle(b.device.address()));
    }

    private Runnable datagram(final long wrId, final int flags, final int lengthBytes, final int qkey)
    {
        return () ->
        {
            a.queuePair.send(wrId, flags, a.address(0), lengthBytes, a.key());
            a.queuePair.toQueuePair(toB, b.queuePair.number(), qkey);
        };
    }

    @Test
    void shouldChangeNothingWhenAttributeOfDatagramQueuePairIsMissing()
    {
        final QueuePairSteps steps = new QueuePairSteps();
        final QueuePair queuePair = a.use(a.options(QueuePairType.UD));
        assertNeedsEach(queuePair, steps.init(QueuePairType.UD));
        queuePair.modify(steps.init(QueuePairType.UD));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        assertNeedsEach(queuePair, steps.readyToSend(QueuePairType.UD));
        queuePair.modify(steps.readyToSend(QueuePairType.UD));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldDeliverBehindRoutingHeaderAndTellSender()
    {
        bringUp();
        a.putLong(0, 99);
        receive(1, 512, HEADER_BYTES + 8);
        assertThat(execute(datagram(2, SIGNALED, 8, QueuePairSteps.QKEY)).status()).isZero();
        final WorkCompletions batch = new WorkCompletions(1);
        await(() -> b.completions.poll(batch) == 1);
        assertThat(batch.wrId(0)).isEqualTo(1);
        assertThat(batch.status(0)).isZero();
        assertThat(batch.byteLength(0)).isEqualTo(HEADER_BYTES + 8);
        assertThat(batch.sourceQueuePairNumber(0)).isEqualTo(a.queuePair.number());
        assertThat(batch.flags(0) & WorkCompletions.WITH_GRH).isNotZero();
        assertThat(b.getLong(512 + HEADER_BYTES)).isEqualTo(99);
    }

    @Test
    void shouldPostAllOrNothingWhenAddressHandleWasClosedAfterStaging()
    {
        bringUp();
        receive(1, 512, HEADER_BYTES + 8);
        final AddressHandle closed = a.domain.createAddressHandle(b.device.address());
        a.queuePair.begin();
        a.queuePair.send(2, SIGNALED, a.address(0), 8, a.key());
        a.queuePair.toQueuePair(closed, b.queuePair.number(), QueuePairSteps.QKEY);
        closed.close();
        try
        {
            assertThat(a.queuePair.complete()).isEqualTo(PostStatus.OK);
            assertThat(awaitOne(a).status()).isZero();
        }
        catch (final RdmaException ex)
        {
            assertThat(ex).hasMessageContaining("closed");
            assertThat(execute(datagram(3, SIGNALED, 8, QueuePairSteps.QKEY)).status()).isZero();
        }
        assertThat(awaitOne(b).wrId()).as("one datagram either way").isEqualTo(1);
        settle();
        assertThat(poll(a)).isEmpty();
    }

    @Test
    void shouldCarryImmediateInDatagram()
    {
        bringUp();
        receive(1, 512, HEADER_BYTES + 8);
        post(a, () ->
        {
            a.queuePair.sendWithImmediate(2, SIGNALED, a.address(0), 8, a.key(), 0xCAFE);
            a.queuePair.toQueuePair(toB, b.queuePair.number(), QueuePairSteps.QKEY);
        });
        assertThat(awaitOne(a).status()).isZero();
        assertThat(awaitOne(b).immediate()).isEqualTo(0xCAFE);
    }

    @Test
    void shouldReachSeveralQueuePairsFromOne()
    {
        bringUp();
        final QueuePair second = own(b.domain.createQueuePair(b.options(QueuePairType.UD)));
        new QueuePairSteps().bringUp(second, a.device.address(), 0);
        receive(1, 512, HEADER_BYTES + 8);
        second.postReceive(2, b.address(1024), HEADER_BYTES + 8, b.key());
        a.putLong(0, 3);
        post(a, datagram(3, 0, 8, QueuePairSteps.QKEY), () ->
        {
            a.queuePair.send(4, SIGNALED, a.address(0), 8, a.key());
            a.queuePair.toQueuePair(toB, second.number(), QueuePairSteps.QKEY);
        });
        awaitOne(a);
        assertThat(await(b, 2)).extracting(Completion::wrId, Completion::queuePair).containsExactlyInAnyOrder(
            tuple(1L, b.queuePair.number()), tuple(2L, second.number()));
        assertThat(b.getLong(1024 + HEADER_BYTES)).isEqualTo(3);
    }

    @Test
    void shouldDropSilentlyWhenDatagramMeetsNoReceive()
    {
        bringUp();
        assertThat(execute(datagram(1, SIGNALED, 8, QueuePairSteps.QKEY)).status()).isZero();
        settle();
        receive(2, 512, HEADER_BYTES + 8);
        settle();
        assertThat(poll(b)).isEmpty();
        assertThat(execute(datagram(3, SIGNALED, 8, QueuePairSteps.QKEY)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }

    @Test
    void shouldDropSilentlyWhenQkeyIsWrong()
    {
        bringUp();
        receive(1, 512, HEADER_BYTES + 8);
        assertThat(execute(datagram(2, SIGNALED, 8, QueuePairSteps.QKEY + 1)).status()).isZero();
        settle();
        assertThat(poll(b)).isEmpty();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(execute(datagram(3, SIGNALED, 8, QueuePairSteps.QKEY)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(1);
    }

    @Test
    void shouldDeliverNothingWhenDatagramIsTooLongForReceive()
    {
        bringUp();
        receive(1, 512, HEADER_BYTES + 8);
        assertThat(execute(datagram(2, SIGNALED, 16, QueuePairSteps.QKEY)).status()).isZero();
        settle();
        assertThat(poll(b)).allSatisfy(
            completion -> assertThat(completion.status()).isEqualTo(WorkCompletionStatus.LOC_LEN_ERR));
        assertThat(b.getLong(512 + HEADER_BYTES)).isZero();
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldDropSilentlyWhenDatagramQueuePairDoesNotExist()
    {
        bringUp();
        post(a, () ->
        {
            a.queuePair.send(1, SIGNALED, a.address(0), 8, a.key());
            a.queuePair.toQueuePair(toB, 0xFF_FFF0, QueuePairSteps.QKEY);
        });
        assertThat(awaitOne(a).status()).isZero();
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldRefuseDatagramLongerThanPathMtu()
    {
        bringUp();
        final int tooLong = a.device.port().pathMtuBytes() + 1;
        a.queuePair.begin();
        try
        {
            datagram(1, SIGNALED, tooLong, QueuePairSteps.QKEY).run();
        }
        catch (final RdmaException ex)
        {
            a.queuePair.abort();
            return;
        }
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.OK);
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.LOC_LEN_ERR);
    }

    @Test
    void shouldRefuseWriteOnDatagramQueuePair()
    {
        bringUp();
        assertRefused(write(1, SIGNALED, 0, 8, 0));
    }

    @Test
    void shouldRefuseReadOnDatagramQueuePair()
    {
        bringUp();
        assertRefused(read(1, SIGNALED, 0, 8, 0));
    }

    @Test
    void shouldRefuseAtomicsOnDatagramQueuePair()
    {
        bringUp();
        assertRefused(fetchAdd(1, SIGNALED, 0, 0, 1));
    }

    @Test
    void shouldRefuseWindowsOnDatagramQueuePair()
    {
        final MemoryWindow window = own(a.domain.allocateMemoryWindow());
        bringUp();
        assertRefused(() ->
        {
            a.queuePair.bindMemoryWindow(
                1, SIGNALED, window, window.nextRemoteKey(), a.region, a.address(0), 64, AccessFlags.REMOTE_READ);
            a.queuePair.toQueuePair(toB, b.queuePair.number(), QueuePairSteps.QKEY);
        });
    }

    @Test
    void shouldRefuseInvalidationOnDatagramQueuePair()
    {
        final MemoryWindow window = own(a.domain.allocateMemoryWindow());
        bringUp();
        assertRefused(() ->
        {
            a.queuePair.sendWithInvalidate(1, SIGNALED, a.address(0), 8, a.key(), window.remoteKey());
            a.queuePair.toQueuePair(toB, b.queuePair.number(), QueuePairSteps.QKEY);
        });
    }

    @Test
    void shouldRefuseFenceOnDatagramQueuePair()
    {
        bringUp();
        assertRefused(datagram(1, SIGNALED | SendFlags.FENCE, 8, QueuePairSteps.QKEY));
    }

    @Test
    void shouldRefuseDatagramWithoutAddress()
    {
        bringUp();
        receive(1, 512, HEADER_BYTES + 8);
        a.queuePair.begin();
        a.queuePair.send(2, SIGNALED, a.address(0), 8, a.key());
        assertThatThrownBy(() ->
        {
            datagram(3, SIGNALED, 8, QueuePairSteps.QKEY).run();
            assertThat(a.queuePair.complete()).isZero();
        }).isInstanceOf(RdmaException.class);
        settle();
        assertThat(poll(b)).isEmpty();
    }

    @Test
    void shouldEnterSendQueueErrorOnLocalErrorOfDatagram()
    {
        bringUp();
        post(a, () ->
        {
            a.queuePair.send(1, 0, a.address(0), 8, a.key() + 1);
            a.queuePair.toQueuePair(toB, b.queuePair.number(), QueuePairSteps.QKEY);
        });
        assertThat(awaitOne(a).status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.SQE);
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        receive(2, 512, HEADER_BYTES + 8);
        assertThat(execute(datagram(3, SIGNALED, 8, QueuePairSteps.QKEY)).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }
}
