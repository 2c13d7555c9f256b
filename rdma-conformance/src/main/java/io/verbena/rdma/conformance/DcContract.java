package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Dynamically connected transport: initiators that address each request, targets with an access key. */
abstract class DcContract extends VerbsHarness
{
    private static final long KEY = 0x0102_0304_0506_0708L;
    private static final int DEPTH = 32;

    private SharedReceiveQueue shared;
    private DcTarget target;
    private AddressHandle toB;

    private void prepare()
    {
        prepare(new QueuePairSteps(), AccessFlags.ALL_REMOTE);
    }

    private void prepare(final QueuePairSteps steps, final int rights)
    {
        a.use(a.options(QueuePairType.DC_INITIATOR));
        shared = own(b.domain.createSharedReceiveQueue(DEPTH));
        target = target(rights);
        toB = own(a.domain.createAddressHandle(b.device.address()));
        steps.bringUp(a.queuePair, b.device.address(), 0);
    }

    private DcTarget target(final int rights)
    {
        return own(b.domain.createDcTarget(new DcTargetOptions(b.completions, shared, KEY, rights, 4)));
    }

    private Runnable to(final DcTarget to, final long accessKey, final Runnable request)
    {
        return () ->
        {
            request.run();
            a.queuePair.toDcTarget(toB, to.number(), accessKey);
        };
    }

    private Runnable to(final Runnable request)
    {
        return to(target, KEY, request);
    }

    private void shareReceive(final long wrId, final long offset)
    {
        assertThat(shared.postReceive(wrId, b.address(offset), 8, b.key())).isZero();
    }

    @Test
    void shouldBeReadyToReceiveOnceCreated()
    {
        prepare();
        assertThat(target.state()).isEqualTo(QueuePairState.RTR);
        assertThat(target.number()).isBetween(1, 0xFF_FFFF);
        assertThat(target(0).number()).isNotEqualTo(target.number());
    }

    @Test
    void shouldReachReadyToSendWithoutDestination()
    {
        prepare();
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
        assertThat(a.queuePair.type()).isEqualTo(QueuePairType.DC_INITIATOR);
    }

    @Test
    void shouldCarryEveryOperationToTarget()
    {
        prepare();
        a.putLong(0, 5);
        shareReceive(1, 512);
        shareReceive(2, 520);
        post(a, to(write(3, SIGNALED, 0, 8, 0)), to(read(4, SIGNALED, 64, 8, 0)), to(fetchAdd(5, SIGNALED, 72, 0, 2)));
        assertThat(await(a, 3)).extracting(Completion::wrId, Completion::status)
            .containsExactly(tuple(3L, 0), tuple(4L, 0), tuple(5L, 0));
        post(a, to(compareSwap(6, SIGNALED, 80, 0, 7, 9)), to(send(7, SIGNALED, 0, 8)),
            to(writeWithImmediate(8, SIGNALED, 0, 8, 8, 33)));
        assertThat(await(a, 3)).extracting(Completion::status).containsOnly(0);
        assertThat(a.getLong(64)).isEqualTo(5);
        assertThat(a.getLong(72)).isEqualTo(5);
        assertThat(a.getLong(80)).isEqualTo(7);
        assertThat(b.getLong(0)).isEqualTo(9);
        assertThat(await(b, 2)).extracting(Completion::wrId, Completion::immediate, Completion::queuePair)
            .containsExactly(tuple(1L, 0, target.number()), tuple(2L, 33, target.number()));
    }

    @Test
    void shouldGatherAndScatterAtTarget()
    {
        if (a.device.attributes().maxSendSegments() < 2)
        {
            throw new UnsupportedVerbException("several segments of a request", a.device.name());
        }
        prepare();
        a.putLong(0, 5);
        a.putLong(256, 6);
        shareReceive(1, 512);
        post(a, to(() ->
        {
            writeWithImmediate(3, SIGNALED, 0, 8, 0, 33).run();
            a.queuePair.addSegment(a.address(256), 8, a.key());
        }), to(() ->
        {
            read(4, SIGNALED, 64, 8, 0).run();
            a.queuePair.addSegment(a.address(640), 8, a.key());
        }));
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status)
            .containsExactly(tuple(3L, 0), tuple(4L, 0));
        assertThat(awaitOne(b).byteLength()).isEqualTo(16);
        assertThat(b.getLong(0)).isEqualTo(5);
        assertThat(b.getLong(8)).isEqualTo(6);
        assertThat(a.getLong(64)).isEqualTo(5);
        assertThat(a.getLong(640)).isEqualTo(6);
    }

    @Test
    void shouldReachSeveralTargetsInPostingOrder()
    {
        prepare();
        final DcTarget other = target(AccessFlags.ALL_REMOTE);
        for (int i = 0; i < 6; i++)
        {
            shareReceive(i, 512 + i * 8);
            a.putLong(i * 8, 100 + i);
        }
        a.queuePair.begin();
        for (int i = 0; i < 6; i++)
        {
            to(i % 2 == 0 ? target : other, KEY, send(10 + i, SIGNALED, i * 8, 8)).run();
        }
        assertThat(a.queuePair.complete()).isZero();
        assertThat(await(a, 6)).extracting(Completion::wrId).containsExactly(10L, 11L, 12L, 13L, 14L, 15L);
        assertThat(await(b, 6)).extracting(Completion::queuePair).containsExactly(
            target.number(), other.number(), target.number(), other.number(), target.number(), other.number());
        for (int i = 0; i < 6; i++)
        {
            assertThat(b.getLong(512 + i * 8)).isEqualTo(100 + i);
        }
    }

    @Test
    void shouldServeOneTargetAtATime()
    {
        prepare();
        final DcTarget other = target(AccessFlags.ALL_REMOTE);
        a.putLong(0, 7);
        post(a, to(send(1, SIGNALED, 0, 8)), to(other, KEY, write(2, SIGNALED, 0, 8, 0)));
        settle();
        assertThat(poll(a)).isEmpty();
        assertThat(b.getLong(0)).as("request for the second target").isZero();
        shareReceive(3, 512);
        assertThat(await(a, 2)).extracting(Completion::wrId).containsExactly(1L, 2L);
        assertThat(b.getLong(0)).isEqualTo(7);
    }

    @Test
    void shouldRefuseWrongAccessKeyAndCountIt()
    {
        prepare();
        a.putLong(0, 7);
        post(a, to(target, KEY + 1, write(1, 0, 0, 8, 0)), to(write(2, 0, 0, 8, 8)));
        assertThat(await(a, 2)).satisfies(completions ->
        {
            assertThat(completions.get(0).status())
                .isIn(WorkCompletionStatus.REM_ACCESS_ERR, WorkCompletionStatus.RETRY_EXC_ERR);
            assertThat(completions.get(1).status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        });
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(target.accessKeyViolations()).isPositive();
        assertThat(target.state()).isEqualTo(QueuePairState.RTR);
        assertThat(b.bytes(0, 16)).containsOnly(0);
    }

    @Test
    void shouldFlushRequestsForAllTargetsAfterAnyError()
    {
        prepare();
        final DcTarget other = target(AccessFlags.ALL_REMOTE);
        post(a, to(write(1, 0, 0, 16, Endpoint.REGION_BYTES - 8)), to(other, KEY, write(2, 0, 0, 8, 0)),
            to(write(3, 0, 0, 8, 0)));
        assertThat(await(a, 3)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.REM_ACCESS_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR),
            tuple(3L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
        settle();
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldServeOtherInitiatorsAfterOneFailed()
    {
        prepare();
        assertThat(execute(to(target, KEY + 1, write(1, SIGNALED, 0, 8, 0))).status()).isNotZero();
        a.use(a.options(QueuePairType.DC_INITIATOR));
        new QueuePairSteps().bringUp(a.queuePair, b.device.address(), 0);
        a.putLong(0, 3);
        assertThat(execute(to(write(2, SIGNALED, 0, 8, 0))).status()).isZero();
        assertThat(b.getLong(0)).isEqualTo(3);
    }

    @Test
    void shouldRefuseWhatTargetGivesNoRightTo()
    {
        prepare(new QueuePairSteps(), AccessFlags.REMOTE_READ);
        assertThat(execute(to(read(1, SIGNALED, 0, 8, 0))).status()).isZero();
        assertThat(execute(to(write(2, SIGNALED, 0, 8, 0))).status())
            .isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldWaitForReceiveOfTarget()
    {
        prepare(new QueuePairSteps().receiverNotReady(7, 1), AccessFlags.ALL_REMOTE);
        post(a, to(send(1, SIGNALED, 0, 8)));
        settle();
        assertThat(poll(a)).isEmpty();
        shareReceive(2, 512);
        assertThat(awaitOne(a).status()).isZero();
        assertThat(awaitOne(b).wrId()).isEqualTo(2);
    }

    @Test
    void shouldFailWhenTargetWasClosed()
    {
        prepare(new QueuePairSteps().retries(8, 1), AccessFlags.ALL_REMOTE);
        final int number = target.number();
        target.close();
        a.putLong(0, 3);
        post(a, () ->
        {
            a.queuePair.write(1, SIGNALED, a.address(0), 8, a.key(), b.address(0), b.region.remoteKey());
            a.queuePair.toDcTarget(toB, number, KEY);
        });
        assertThat(awaitOne(a).status()).isNotZero();
        assertThat(b.getLong(0)).isZero();
    }

    @Test
    void shouldRefuseReceivesOnInitiator()
    {
        prepare();
        int status;
        try
        {
            status = a.queuePair.postReceive(1, a.address(0), 8, a.key());
        }
        catch (final UnsupportedVerbException ex)
        {
            throw ex;
        }
        catch (final RdmaException ex)
        {
            status = PostStatus.INVALID_STATE;
        }
        assertThat(status).isNegative();
    }

    @Test
    void shouldServeManyInitiatorsOnOneTarget()
    {
        prepare();
        final int count = 12;
        final QueuePair[] initiators = new QueuePair[count];
        for (int i = 0; i < count; i++)
        {
            initiators[i] = own(a.domain.createQueuePair(a.options(QueuePairType.DC_INITIATOR)));
            new QueuePairSteps().bringUp(initiators[i], b.device.address(), 0);
            shareReceive(i, 512 + i * 8);
        }
        for (int i = 0; i < count; i++)
        {
            initiators[i].begin();
            initiators[i].send(i, SIGNALED, a.address(0), 8, a.key());
            initiators[i].toDcTarget(toB, target.number(), KEY);
            assertThat(initiators[i].complete()).isZero();
        }
        assertThat(await(a, count)).extracting(Completion::status).containsOnly(0);
        assertThat(await(b, count)).extracting(Completion::wrId).doesNotHaveDuplicates();
    }

    /** As many as there are contexts wait for receives; one more is not served before one of these is done. */
    @Test
    void shouldServeAtMostAsManyInitiatorsAsThereAreContexts()
    {
        prepare(new QueuePairSteps().retries(8, 1), AccessFlags.ALL_REMOTE);
        final int count = b.device.attributes().maxDcContexts();
        assertThat(count).isPositive();
        a.putLong(0, 7);
        for (int i = 0; i < count; i++)
        {
            send(initiator(new QueuePairSteps().receiverNotReady(7, 1)), i);
        }
        settle();
        assertThat(execute(to(write(-1, SIGNALED, 0, 8, 0))).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(b.getLong(0)).isZero();
        final QueuePair patient = initiator(new QueuePairSteps().retries(20, 7));
        patient.begin();
        patient.write(-2, SIGNALED, a.address(0), 8, a.key(), b.address(0), b.region.remoteKey());
        patient.toDcTarget(toB, target.number(), KEY);
        assertThat(patient.complete()).isZero();
        settle();
        assertThat(poll(a)).isEmpty();
        final List<Completion> sent = new ArrayList<>();
        final List<Completion> received = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            final int wanted = i + 1;
            shareReceive(i, 512);
            await(() ->
            {
                sent.addAll(poll(a));
                received.addAll(poll(b));
                return received.size() >= wanted;
            });
        }
        await(() ->
        {
            sent.addAll(poll(a));
            return sent.size() > count;
        });
        assertThat(sent).hasSize(count + 1).extracting(Completion::status).containsOnly(0);
        assertThat(received).hasSize(count);
        assertThat(b.getLong(0)).isEqualTo(7);
    }

    private QueuePair initiator(final QueuePairSteps steps)
    {
        final QueuePair initiator = own(a.domain.createQueuePair(a.options(QueuePairType.DC_INITIATOR)));
        steps.bringUp(initiator, b.device.address(), 0);
        return initiator;
    }

    private void send(final QueuePair initiator, final long wrId)
    {
        initiator.begin();
        initiator.send(wrId, SIGNALED, a.address(0), 8, a.key());
        initiator.toDcTarget(toB, target.number(), KEY);
        assertThat(initiator.complete()).isZero();
    }
}
