package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.engine.NetworkCompletionQueue;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a DC initiator and a DC target ask of each of their two parts, which do nothing by themselves here. */
class HostDcPartsTest
{
    private static final int DEPTH = 4;
    private static final int SIGNALED = SendFlags.SIGNALED;
    /** Added to an operation that carries an immediate. */
    private static final int WITH_IMMEDIATE = 100;
    private static final WorkCompletions NONE = new WorkCompletions(1);
    private static final AddressHandle PLACE = new HostAddressHandle(null, null, true);
    private static final AddressHandle HERE = new HostAddressHandle(PLACE, PLACE, true);
    private static final AddressHandle ELSEWHERE = new HostAddressHandle(PLACE, PLACE, false);

    /** A part that executes what is posted on it when it is allowed to. */
    private static final class Part extends StagedQueuePair
    {
        final List<Integer> posted = new ArrayList<>();
        QueuePairState state = QueuePairState.RTS;
        boolean isIdle = true;
        boolean isStubborn;
        boolean isOpen = true;
        private long seen;

        Part()
        {
            super(QueuePairType.DC_INITIATOR, new QueuePairCapabilities(DEPTH, 0, 0, 4), 1024, true);
        }

        @Override
        protected void onDoorbell()
        {
            for (; seen < sendTail(); seen++)
            {
                final WorkRequest request = request(seen);
                posted.add(request.operation + (request.hasImmediate ? WITH_IMMEDIATE : 0));
            }
        }

        /** As after the completion of the last request was polled. */
        void polled()
        {
            polledBefore(0);
        }

        /** As after that of the last but so many. */
        void polledBefore(final int requests)
        {
            releaseSends(sendTail() - requests);
        }

        @Override
        public void modify(final QueuePairAttributes change)
        {
            if (isStubborn)
            {
                throw new RdmaException("not now");
            }
            state = change.state();
            if (state == QueuePairState.RESET)
            {
                clearSends();
                seen = 0;
            }
        }

        @Override
        public boolean isIdle()
        {
            return isIdle;
        }

        @Override
        public int number()
        {
            return 77;
        }

        @Override
        public String transport()
        {
            return "none";
        }

        @Override
        public QueuePairState state()
        {
            return state;
        }

        @Override
        public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
        {
            return PostStatus.INVALID_STATE;
        }

        @Override
        public void moveToError()
        {
            state = QueuePairState.ERR;
        }

        @Override
        public void close()
        {
            isOpen = false;
        }
    }

    /** A part of a completion queue, which is always empty, or dead. */
    private static final class Queue implements NetworkCompletionQueue
    {
        boolean isDead;
        int polls;

        @Override
        public boolean hasCompletion()
        {
            return isDead;
        }

        @Override
        public int poll(final WorkCompletions completions)
        {
            polls++;
            if (isDead)
            {
                throw new RdmaException("overrun");
            }
            return 0;
        }

        @Override
        public int capacity()
        {
            return DEPTH;
        }

        @Override
        public void close()
        {
            isDead = true;
        }
    }

    /** A part of a target. */
    private static final class Target implements DcTarget
    {
        QueuePairState state = QueuePairState.RTR;

        @Override
        public int number()
        {
            return 78;
        }

        @Override
        public QueuePairState state()
        {
            return state;
        }

        @Override
        public long accessKeyViolations()
        {
            return 0;
        }

        @Override
        public void close()
        {
            state = QueuePairState.RESET;
        }
    }

    private final HostParts parts = new HostParts(null, null);
    private final Queue sharedSends = new Queue();
    private final Queue networkSends = new Queue();
    private final Queue networkReceives = new Queue();
    private final HostCompletionQueue sends = new HostCompletionQueue(parts, null, sharedSends, made -> networkSends);
    private final HostCompletionQueue receives =
        new HostCompletionQueue(parts, null, new Queue(), made -> networkReceives);
    private final Part shared = new Part();
    private final Part network = new Part();
    private final HostDcInitiator initiator =
        new HostDcInitiator(parts, sends, receives, shared, network, DEPTH);

    private int post(final AddressHandle way, final Runnable... requests)
    {
        initiator.begin();
        for (final Runnable request : requests)
        {
            request.run();
            initiator.toDcTarget(way, 1, 2);
        }
        return initiator.complete();
    }

    private void write(final int flags)
    {
        initiator.write(1, flags, 0, 8, 0, 0, 0);
    }

    private void polledBy(final HostCompletionQueue queue)
    {
        try
        {
            queue.poll(NONE);
        }
        catch (final RdmaException overrun)
        {
            // it is dead
        }
    }

    /** Every verb is staged on both parts, so that the one that the batch takes has it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPostEveryOperationOnEitherWay(final boolean isLocal)
    {
        final AddressHandle way = isLocal ? HERE : ELSEWHERE;
        final Part part = isLocal ? shared : network;
        assertThat(post(way, () -> initiator.read(1, 0, 0, 8, 0, 0, 0), () -> write(0),
            () -> initiator.writeWithImmediate(1, 0, 0, 8, 0, 0, 0, 5),
            () -> initiator.compareSwap(1, SIGNALED, 0, 0, 0, 0, 1, 2))).isZero();
        part.polled();
        assertThat(post(way, () -> initiator.fetchAdd(1, 0, 0, 0, 0, 0, 1), () -> initiator.send(1, 0, 0, 8, 0),
            () -> initiator.sendWithImmediate(1, SIGNALED, 0, 8, 0, 5))).isZero();
        assertThat(part.posted).containsExactly(WorkRequest.READ, WorkRequest.WRITE,
            WorkRequest.WRITE + WITH_IMMEDIATE, WorkRequest.COMPARE_SWAP, WorkRequest.FETCH_ADD, WorkRequest.SEND,
            WorkRequest.SEND + WITH_IMMEDIATE);
        assertThat((isLocal ? network : shared).posted).isEmpty();
    }

    @Test
    void shouldForgetRequestsWithoutCompletionsInReset()
    {
        assertThat(post(HERE, () -> write(0))).isZero();
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        assertThat(network.posted).hasSize(1);
        assertThat(post(HERE, () -> write(SIGNALED))).isEqualTo(PostStatus.QUEUE_FULL);
        network.polled();
        assertThat(post(HERE, () -> write(SIGNALED))).isZero();
    }

    @Test
    void shouldBeginWithThisHostAgainAfterReset()
    {
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        assertThat(initiator.isOnNetwork()).isTrue();
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThat(initiator.isOnNetwork()).isFalse();
    }

    /** They count, and take their places, until the way changes. */
    @Test
    void shouldCountRequestsWithoutCompletionsOfSeveralBatches()
    {
        assertThat(post(HERE, () -> write(0))).isZero();
        assertThat(post(HERE, () -> write(0))).isZero();
        assertThat(initiator.sendQueueSpace()).isEqualTo(DEPTH - 2);
        assertThat(post(ELSEWHERE, () -> write(0))).isZero();
        assertThat(post(HERE, () -> write(0))).isZero();
        assertThat(post(HERE, () -> write(SIGNALED), () -> write(0))).isZero();
        assertThat(initiator.sendQueueSpace()).isEqualTo(DEPTH - 3);
        assertThat(post(ELSEWHERE, () -> write(0))).as("not polled").isEqualTo(PostStatus.QUEUE_FULL);
        shared.polledBefore(1);
        assertThat(post(ELSEWHERE, () -> write(0))).isZero();
        assertThat(initiator.sendQueueSpace()).isEqualTo(DEPTH - 1);
    }

    @Test
    void shouldNotCountRequestsOfAnAbortedBatch()
    {
        initiator.begin();
        write(0);
        initiator.abort();
        assertThat(post(HERE, () -> write(0))).isZero();
        assertThat(post(ELSEWHERE, () -> write(0))).isZero();
    }

    @Test
    void shouldNotCountRequestsOfRefusedBatches()
    {
        assertThat(post(HERE, () -> write(0), () -> write(0), () -> write(0), () -> write(0), () -> write(0)))
            .isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        assertThat(post(HERE, () -> write(0))).as("the other way is busy").isEqualTo(PostStatus.QUEUE_FULL);
        network.polled();
        assertThat(post(HERE, () -> write(0))).isZero();
        assertThat(shared.posted).hasSize(1);
    }

    @Test
    void shouldStayWhereAnErrorIsAndWhereSomethingIsUnderWay()
    {
        shared.isIdle = false;
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(initiator.isOnNetwork()).isFalse();
        shared.state = QueuePairState.ERR;
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        assertThat(shared.posted).hasSize(1);
        assertThat(network.posted).isEmpty();
    }

    @Test
    void shouldMoveBothPartsToError()
    {
        initiator.moveToError();
        assertThat(shared.state).isEqualTo(QueuePairState.ERR);
        assertThat(network.state).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldBeInErrorWhenOnlyOnePartCouldBeChanged()
    {
        network.isStubborn = true;
        assertThatThrownBy(() -> initiator.modify(new QueuePairAttributes().state(QueuePairState.SQD)))
            .hasMessage("not now");
        assertThat(initiator.state()).isEqualTo(QueuePairState.ERR);
        assertThat(network.state).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void shouldOwnTheEventsOfThePartThatItUses()
    {
        assertThat(parts.whole(shared)).isSameAs(initiator);
        assertThat(parts.whole(network)).isNull();
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        assertThat(parts.whole(shared)).isNull();
        assertThat(parts.whole(network)).isSameAs(initiator);
        initiator.close();
        assertThat(parts.whole(shared)).isNull();
        assertThat(parts.whole(network)).isNull();
        assertThat(shared.isOpen || network.isOpen).isFalse();
    }

    /** The network costs a system call for each poll that finds nothing. */
    @Test
    void shouldHaveTheNetworkPolledOnlyWhileItUsesIt()
    {
        sends.poll(NONE);
        receives.poll(NONE);
        assertThat(networkSends.polls + networkReceives.polls).isZero();
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        sends.poll(NONE);
        receives.poll(NONE);
        assertThat(networkSends.polls).isEqualTo(1);
        assertThat(networkReceives.polls).isEqualTo(1);
        network.polled();
        assertThat(post(HERE, () -> write(SIGNALED))).isZero();
        sends.poll(NONE);
        receives.poll(NONE);
        assertThat(networkSends.polls + networkReceives.polls).isEqualTo(2);
        shared.polled();
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        initiator.close();
        sends.poll(NONE);
        receives.poll(NONE);
        assertThat(networkSends.polls + networkReceives.polls).isEqualTo(2);
    }

    /** The queue has lost completions of another queue pair. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldFailWithTheQueueItCompletesIn(final boolean isOfSends)
    {
        assertThat(post(ELSEWHERE, () -> write(SIGNALED))).isZero();
        (isOfSends ? networkSends : networkReceives).isDead = true;
        polledBy(isOfSends ? sends : receives);
        assertThat(initiator.state()).isEqualTo(QueuePairState.ERR);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldBeForgottenByItsQueuesWhenItIsClosed(final boolean isOfSends)
    {
        initiator.close();
        final HostCompletionQueue queue = isOfSends ? sends : receives;
        queue.networkBegins();
        (isOfSends ? networkSends : networkReceives).isDead = true;
        polledBy(queue);
        assertThat(shared.state).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldShowTheErrorOfEitherPartOfATarget()
    {
        final Target near = new Target();
        final Target far = new Target();
        final HostDcTarget target = new HostDcTarget(sends, near, far);
        assertThat(target.state()).isEqualTo(QueuePairState.RTR);
        far.state = QueuePairState.ERR;
        assertThat(target.state()).isEqualTo(QueuePairState.ERR);
        far.state = QueuePairState.RTR;
        near.state = QueuePairState.ERR;
        assertThat(target.state()).isEqualTo(QueuePairState.ERR);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldServeByNeitherPartOfATargetAfterAnOverrunOfEither(final boolean isOfShared)
    {
        final Target near = new Target();
        final Target far = new Target();
        final HostDcTarget target = new HostDcTarget(sends, near, far);
        (isOfShared ? sharedSends : networkSends).isDead = true;
        polledBy(sends);
        assertThat(near.state).isEqualTo(QueuePairState.RESET);
        assertThat(far.state).isEqualTo(QueuePairState.RESET);
        assertThat(target.state()).isEqualTo(QueuePairState.ERR);
        target.close();
        assertThat(target.state()).isEqualTo(QueuePairState.RESET);
    }

    /** A target that is gone costs the poll nothing. */
    @Test
    void shouldBeForgottenByItsQueueWhenATargetIsClosed()
    {
        final HostDcTarget target = new HostDcTarget(sends, new Target(), new Target());
        networkSends.isDead = true;
        assertThatThrownBy(() -> sends.poll(NONE)).isInstanceOf(RdmaException.class);
        target.close();
        assertThat(sends.poll(NONE)).isZero();
    }

    @Test
    void shouldHaveNoRequestsOfOtherTypes()
    {
        initiator.begin();
        assertThatThrownBy(() -> initiator.sendWithInvalidate(1, 0, 0, 8, 0, 5)).hasMessageContaining("SEND_WITH_INV");
        assertThatThrownBy(() -> initiator.bindMemoryWindow(1, 0, null, 0, null, 0, 0, 0))
            .hasMessageContaining("BIND_MW");
        assertThatThrownBy(() -> initiator.localInvalidate(1, 0, 5)).hasMessageContaining("LOCAL_INV");
        write(0);
        assertThatThrownBy(() -> initiator.toQueuePair(HERE, 1, 2)).isInstanceOf(RdmaException.class);
        initiator.abort();
    }
}
