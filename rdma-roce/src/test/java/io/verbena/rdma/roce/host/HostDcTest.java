package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** DC where peers are on this host and elsewhere: an initiator that goes to both, and a target that serves both. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class HostDcTest
{
    private static final long KEY = 0x0102_0304_0506_0708L;
    private static final int SIGNALED = SendFlags.SIGNALED;
    private static final int DEPTH = 8;
    private static final int FOR_EVER = 7;

    /** A node with a target, receives for it, and a way there from the client. */
    private final class Server
    {
        final HostNode node;
        final SharedReceiveQueue receives;
        final DcTarget target;
        final AddressHandle way;

        Server(final HostNode node)
        {
            this.node = node;
            receives = node.domain.createSharedReceiveQueue(DEPTH);
            target = node.domain.createDcTarget(
                new DcTargetOptions(node.completions, receives, KEY, AccessFlags.ALL_REMOTE, 4));
            way = client.domain.createAddressHandle(node.device.address());
        }

        void receive(final long wrId)
        {
            assertThat(receives.postReceive(wrId, node.region.address() + 1024, 8, node.region.localKey())).isZero();
        }

        long word(final int offset)
        {
            return node.region.segment().get(ValueLayout.JAVA_LONG, offset);
        }

        void close()
        {
            target.close();
            receives.close();
            way.close();
        }
    }

    private final HostNode client = HostNode.on(HostNode.directory());
    private final HostNode besideNode = new HostNode(client.fabricName);
    private final HostNode elsewhereNode = HostNode.on(HostNode.directory());
    private Server beside;
    private Server elsewhere;
    private QueuePair initiator;

    @BeforeEach
    void open()
    {
        beside = new Server(besideNode);
        elsewhere = new Server(elsewhereNode);
        initiator = initiator(client);
        client.region.segment().set(ValueLayout.JAVA_LONG, 0, 7);
    }

    @AfterEach
    void close()
    {
        beside.close();
        elsewhere.close();
        client.close();
        besideNode.close();
        elsewhereNode.close();
    }

    private static QueuePair initiator(final HostNode node)
    {
        final QueuePair made = node.newQueuePair(new QueuePairOptions().type(QueuePairType.DC_INITIATOR)
            .completions(node.completions, node.completions)
            .capabilities(new QueuePairCapabilities(DEPTH, 0, 64, 4)));
        ready(made);
        return made;
    }

    private static void ready(final QueuePair made)
    {
        made.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1));
        made.modify(new QueuePairAttributes().state(QueuePairState.RTR).pathMtuBytes(1024));
        made.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0).timeout(14).retryCount(7)
            .rnrRetry(FOR_EVER).maxReadAtomic(4));
    }

    private void stageWrite(final Server to, final long wrId, final int flags, final int offset)
    {
        initiator.write(wrId, flags, client.region.address(), 8, client.region.localKey(),
            to.node.region.address() + offset, to.node.region.remoteKey());
        initiator.toDcTarget(to.way, to.target.number(), KEY);
    }

    private int write(final Server to, final long wrId, final int flags, final int offset)
    {
        initiator.begin();
        stageWrite(to, wrId, flags, offset);
        return initiator.complete();
    }

    private int send(final Server to, final long wrId)
    {
        initiator.begin();
        initiator.send(wrId, SIGNALED, client.region.address(), 8, client.region.localKey());
        initiator.toDcTarget(to.way, to.target.number(), KEY);
        return initiator.complete();
    }

    private void awaitWrId(final HostNode node, final long wrId, final int status)
    {
        assertThat(node.await()).isEqualTo(status);
        assertThat(node.polled.wrId(0)).isEqualTo(wrId);
    }

    private void await(final BooleanSupplier condition)
    {
        final long endNs = System.nanoTime() + HostNode.PATIENCE_NS;
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - endNs).isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldReachTargetsOfThisHostBySharedMemoryAndOthersByTheNetwork()
    {
        assertThat(client.device.attributes().supports(DeviceCapability.DC)).isTrue();
        for (int i = 1; i < 5; i++)
        {
            final Server to = i % 2 == 0 ? elsewhere : beside;
            assertThat(write(to, i, SIGNALED, 8 * i)).isEqualTo(PostStatus.OK);
            assertThat(((HostDcInitiator)initiator).isOnNetwork()).isEqualTo(to == elsewhere);
            awaitWrId(client, i, WorkCompletionStatus.SUCCESS);
            assertThat(to.word(8 * i)).isEqualTo(7);
        }
        assertThat(initiator.counters().writes).isEqualTo(4);
        assertThat(client.device.address(initiator)).isEqualTo(client.device.address());
    }

    @Test
    void shouldRefuseTheOtherWayUntilWhatWasPostedIsPolled()
    {
        assertThat(send(elsewhere, 1)).isEqualTo(PostStatus.OK);
        assertThat(write(beside, 2, SIGNALED, 64)).isEqualTo(PostStatus.QUEUE_FULL);
        elsewhere.receive(9);
        awaitWrId(elsewhereNode, 9, WorkCompletionStatus.SUCCESS);
        // It is done, but its completion is still to be polled, and comes first.
        assertThat(write(beside, 2, SIGNALED, 64)).isEqualTo(PostStatus.QUEUE_FULL);
        assertThat(beside.word(64)).isZero();
        awaitWrId(client, 1, WorkCompletionStatus.SUCCESS);
        assertThat(write(beside, 2, SIGNALED, 64)).isEqualTo(PostStatus.OK);
        assertThat(write(elsewhere, 3, SIGNALED, 64)).as("done, not polled").isEqualTo(PostStatus.QUEUE_FULL);
        awaitWrId(client, 2, WorkCompletionStatus.SUCCESS);
        initiator.begin();
        initiator.send(4, 0, client.region.address(), 8, client.region.localKey());
        initiator.toDcTarget(beside.way, beside.target.number(), KEY);
        assertThat(initiator.complete()).isEqualTo(PostStatus.OK);
        assertThat(write(elsewhere, 5, SIGNALED, 64)).as("waits for a receive").isEqualTo(PostStatus.QUEUE_FULL);
        beside.receive(10);
        await(() -> client.completions.poll(client.polled) == 0 &&
            write(elsewhere, 5, SIGNALED, 64) == PostStatus.OK);
        awaitWrId(client, 5, WorkCompletionStatus.SUCCESS);
        awaitWrId(besideNode, 10, WorkCompletionStatus.SUCCESS);
    }

    /** Requests without a completion leave their places when the way changes: they are executed then. */
    @Test
    void shouldChangeTheWayAgainAndAgainBehindRequestsWithoutCompletions()
    {
        for (int i = 0; i < 3 * DEPTH; i++)
        {
            final Server to = i % 2 == 0 ? beside : elsewhere;
            final int offset = 64 + 8 * i;
            await(() -> write(to, 1, 0, offset) == PostStatus.OK);
        }
        assertThat(initiator.sendQueueSpace()).isEqualTo(DEPTH - 1);
        await(() -> elsewhere.word(64 + 8 * (3 * DEPTH - 1)) == 7);
        for (int i = 0; i < 3 * DEPTH; i++)
        {
            assertThat((i % 2 == 0 ? beside : elsewhere).word(64 + 8 * i)).isEqualTo(7);
        }
    }

    /** Of a batch and of several, with and without completions, all in order. */
    @Test
    void shouldKnowWhichRequestsHaveCompletions()
    {
        initiator.begin();
        stageWrite(beside, 1, SIGNALED, 64);
        stageWrite(beside, 2, 0, 72);
        assertThat(initiator.complete()).isEqualTo(PostStatus.OK);
        assertThat(write(beside, 3, 0, 80)).isEqualTo(PostStatus.OK);
        assertThat(write(elsewhere, 4, SIGNALED, 64)).isEqualTo(PostStatus.QUEUE_FULL);
        awaitWrId(client, 1, WorkCompletionStatus.SUCCESS);
        assertThat(write(elsewhere, 4, SIGNALED, 64)).isEqualTo(PostStatus.OK);
        awaitWrId(client, 4, WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldRefuseBatchOfBothWays()
    {
        initiator.begin();
        stageWrite(beside, 1, SIGNALED, 64);
        stageWrite(elsewhere, 2, SIGNALED, 64);
        assertThatThrownBy(initiator::complete).isInstanceOf(RdmaException.class)
            .hasMessageContaining("nothing was posted").hasMessageContaining("one for each");
        assertThat(initiator.sendQueueSpace()).isEqualTo(DEPTH);
        assertThat(write(beside, 3, SIGNALED, 64)).isEqualTo(PostStatus.OK);
        awaitWrId(client, 3, WorkCompletionStatus.SUCCESS);
        initiator.begin();
        stageWrite(elsewhere, 4, SIGNALED, 64);
        initiator.abort();
        assertThatThrownBy(initiator::complete).hasMessageContaining("begin()");
    }

    @Test
    void shouldFlushRequestsOfEitherWayAfterAnError()
    {
        for (final Server first : List.of(beside, elsewhere))
        {
            final QueuePair broken = initiator;
            assertThat(write(first, 1, 0, 1 << 20)).isEqualTo(PostStatus.OK);
            await(() -> broken.state() == QueuePairState.ERR);
            assertThat(write(first == beside ? elsewhere : beside, 2, SIGNALED, 64)).isEqualTo(PostStatus.OK);
            awaitWrId(client, 1, WorkCompletionStatus.REM_ACCESS_ERR);
            awaitWrId(client, 2, WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat((first == beside ? elsewhere : beside).word(64)).isZero();
            assertThat(initiator.state()).isEqualTo(QueuePairState.ERR);
            initiator = initiator(client);
        }
    }

    @Test
    void shouldKeepBothWaysInOneState()
    {
        assertThat(write(elsewhere, 1, SIGNALED, 64)).isEqualTo(PostStatus.OK);
        awaitWrId(client, 1, WorkCompletionStatus.SUCCESS);
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThat(((HostDcInitiator)initiator).isOnNetwork()).isFalse();
        assertThat(write(elsewhere, 3, SIGNALED, 72)).isEqualTo(PostStatus.INVALID_STATE);
        initiator.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1));
        initiator.moveToError();
        assertThat(write(elsewhere, 4, SIGNALED, 72)).isEqualTo(PostStatus.OK);
        awaitWrId(client, 4, WorkCompletionStatus.WR_FLUSH_ERR);
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        ready(initiator);
        assertThat(write(elsewhere, 5, SIGNALED, 80)).isEqualTo(PostStatus.OK);
        awaitWrId(client, 5, WorkCompletionStatus.SUCCESS);
        assertThat(elsewhere.word(72)).isZero();
    }

    @Test
    void shouldTakeReceivesOfOneQueueForBothWays()
    {
        final QueuePair near = initiator(besideNode);
        final List<Long> taken = new ArrayList<>();
        final Server both = new Server(client);
        final AddressHandle fromBeside = besideNode.domain.createAddressHandle(client.device.address());
        final AddressHandle fromElsewhere = elsewhereNode.domain.createAddressHandle(client.device.address());
        final QueuePair far = initiator(elsewhereNode);
        for (int i = 0; i < 40; i++)
        {
            both.receive(i);
            final HostNode from = i % 2 == 0 ? besideNode : elsewhereNode;
            final QueuePair sender = i % 2 == 0 ? near : far;
            sender.begin();
            sender.send(i, SIGNALED, from.region.address(), 8, from.region.localKey());
            sender.toDcTarget(i % 2 == 0 ? fromBeside : fromElsewhere, both.target.number(), KEY);
            assertThat(sender.complete()).isEqualTo(PostStatus.OK);
            awaitWrId(from, i, WorkCompletionStatus.SUCCESS);
            assertThat(client.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(client.polled.queuePairNumber(0)).isEqualTo(both.target.number());
            taken.add(client.polled.wrId(0));
        }
        assertThat(taken).doesNotHaveDuplicates().hasSize(40);
        fromBeside.close();
        fromElsewhere.close();
        both.close();
    }

    @Test
    void shouldCountWrongKeysOfBothWays()
    {
        final Server both = new Server(client);
        for (final HostNode from : List.of(besideNode, elsewhereNode))
        {
            final QueuePair wrong = initiator(from);
            final AddressHandle way = from.domain.createAddressHandle(client.device.address());
            wrong.begin();
            wrong.write(1, SIGNALED, from.region.address(), 8, from.region.localKey(), client.region.address(),
                client.region.remoteKey());
            wrong.toDcTarget(way, both.target.number(), KEY + 1);
            assertThat(wrong.complete()).isEqualTo(PostStatus.OK);
            awaitWrId(from, 1, WorkCompletionStatus.REM_ACCESS_ERR);
            way.close();
            if (from == besideNode)
            {
                assertThat(both.target.accessKeyViolations()).as("by shared memory").isEqualTo(1);
            }
        }
        // On the network a request whose refusal comes late is sent, and refused, again.
        assertThat(both.target.accessKeyViolations()).as("by both").isGreaterThanOrEqualTo(2);
        assertThat(both.target.state()).isEqualTo(QueuePairState.RTR);
        both.target.close();
        assertThat(both.target.state()).isEqualTo(QueuePairState.RESET);
        both.close();
    }

    @Test
    void shouldServeNobodyAfterCompletionsOfEitherWayWereLost()
    {
        long first = 0;
        for (final Server lost : List.of(beside, elsewhere))
        {
            final CompletionQueue small = lost.node.device.createCompletionQueue(1);
            final DcTarget narrow = lost.node.domain.createDcTarget(
                new DcTargetOptions(small, lost.receives, KEY, AccessFlags.ALL_REMOTE, 4));
            for (int i = 0; i < 4; i++)
            {
                lost.receive(i);
            }
            initiator = initiator(client);
            initiator.begin();
            for (int i = 0; i < 4; i++)
            {
                initiator.send(
                    first + i, i == 3 ? SIGNALED : 0, client.region.address(), 8, client.region.localKey());
                initiator.toDcTarget(lost.way, narrow.number(), KEY);
            }
            assertThat(initiator.complete()).isEqualTo(PostStatus.OK);
            // Whatever becomes of the last: all that is there waits to be polled. What was left of the initiator before
            // says nothing of that: polled while requests arrive, the queue is never full.
            do
            {
                client.await();
            }
            while (client.polled.wrId(0) != first + 3);
            first += 4;
            final WorkCompletions one = new WorkCompletions(1);
            await(() -> fails(small, one));
            assertThat(narrow.state()).isEqualTo(QueuePairState.ERR);
            narrow.close();
            assertThat(narrow.state()).isEqualTo(QueuePairState.RESET);
            small.close();
            initiator.moveToError();
        }
    }

    private static boolean fails(final CompletionQueue queue, final WorkCompletions one)
    {
        try
        {
            queue.poll(one);
            return false;
        }
        catch (final RdmaException ex)
        {
            return true;
        }
    }

    @Test
    void shouldRefuseWhatIsNotOfDcOrOfTheDevice()
    {
        assertThatThrownBy(() -> client.device.connect(
            initiator, elsewhereNode.device.address(), 7, 0, new byte[0], 1_000_000))
            .isInstanceOf(RdmaException.class).hasMessageContaining("address each request");
        assertThatThrownBy(() -> client.domain.createDcTarget(
            new DcTargetOptions(client.completions, beside.receives, KEY, 0, 4)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("not a shared receive queue");
        final SharedReceiveQueue own = client.domain.createSharedReceiveQueue(1);
        assertThatThrownBy(() -> client.domain.createDcTarget(
            new DcTargetOptions(client.completions, own, KEY, 0, 100_000)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("maxReadAtomic=100000");
        own.close();
        assertThat(initiator.postReceive(1, client.region.address(), 8, client.region.localKey()))
            .isEqualTo(PostStatus.INVALID_STATE);
    }
}
