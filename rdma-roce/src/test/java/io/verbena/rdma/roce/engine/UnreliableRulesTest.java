package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/** UC and UD queue pairs, and receives shared by several. */
class UnreliableRulesTest
{
    private static final int QKEY = 0x4321;
    private static final int GRH_BYTES = 40;
    private static final LossyNetwork.Faults LOSSY = new LossyNetwork.Faults(50, 50, 20, 50, 5_000);

    /** Only what is a little late is dropped: however many were lost, the next message counts. */
    @Test
    void shouldTakeMessageThatBeginsMuchLaterThanTheLast()
    {
        final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
        final EngineNode a = network.addNode(8, 4);
        final EngineNode b = network.addNode(8, 4);
        final RoceQueuePair qa = a.createQueuePair(QueuePairType.UC, null);
        final RoceQueuePair qb = b.createQueuePair(QueuePairType.UC, null);
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
        final int first = ConnectOptions.DEFAULT.firstSequence();
        final int[] starts = {first, first, first + (1 << 23) + 100, first + (1 << 23) + 90, first + 50};
        final int[] expected = {1, 1, 3, 3, 5};
        for (int i = 0; i < starts.length; i++)
        {
            qa.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            EngineNode.connect(qa, b, qb, new ConnectOptions(
                256, starts[i] & 0xFF_FFFF, 4, 6, 7, 7, 1, ConnectOptions.DEFAULT.accessFlags()));
            a.word(0, i + 1);
            qa.begin();
            qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key());
            assertThat(qa.complete()).isZero();
            network.settle();
            assertThat(b.word(0)).as("message %d", i).isEqualTo(expected[i]);
        }
    }

    @Test
    void shouldDeliverWholeMessagesOrNothingOnUnreliableConnection()
    {
        for (int seed = 1; seed <= 40; seed++)
        {
            final LossyNetwork network = new LossyNetwork(seed, seed == 1 ? LossyNetwork.Faults.NONE : LOSSY);
            final EngineNode a = network.addNode(8, 4);
            final EngineNode b = network.addNode(8, 4);
            final RoceQueuePair qa = a.createQueuePair(QueuePairType.UC, null);
            final RoceQueuePair qb = b.createQueuePair(QueuePairType.UC, null);
            EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
            EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
            final SplittableRandom random = new SplittableRandom(seed);
            final byte[] bytes = new byte[100_000];
            random.nextBytes(bytes);
            a.memory().asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            final Set<Integer> arrived = new HashSet<>();
            b.onCompletion = (completion) ->
            {
                assertThat(completion.status()).isZero();
                assertThat(arrived.add(completion.immediate())).isTrue();
                assertThat(b.memory().asSlice(completion.wrId(), completion.bytes()).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOfRange(
                        bytes, completion.immediate(), completion.immediate() + completion.bytes()));
                qb.postReceive(completion.wrId(), b.at((int)completion.wrId()), 2_000, b.key());
            };
            for (int i = 0; i < 8; i++)
            {
                qb.postReceive(i * 2_000, b.at(i * 2_000), 2_000, b.key());
            }
            final int messages = 200;
            for (int i = 0; i < messages; i++)
            {
                final int lengthBytes = random.nextInt(1_000);
                // Names the message, so each one only once.
                final int offset = random.nextInt(400) * messages + i;
                qa.begin();
                qa.sendWithImmediate(i, SIGNALED, a.at(offset), lengthBytes, a.key(), offset);
                qa.complete();
                network.settle();
            }
            assertThat(a.polled).hasSize(messages).allSatisfy((sent) -> assertThat(sent.status()).isZero());
            assertThat(arrived.size()).isBetween(seed == 1 ? messages : messages / 5, messages);
        }
    }

    @Test
    void shouldDeliverDatagramsBehindRoutingHeaderFromSharedQueue()
    {
        final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
        final EngineNode a = network.addNode(8, 4);
        final EngineNode b = network.addNode(8, 4);
        final SharedReceiveQueue shared = b.domain.createSharedReceiveQueue(4);
        final RoceQueuePair qa = datagrams(a, null);
        final RoceQueuePair qb = datagrams(b, shared);
        shared.postReceive(5, b.at(0), GRH_BYTES + 8, b.key());
        shared.armLimit(1);
        a.word(0, 1234);
        send(a, qa, b, qb, QKEY + 1, 8);
        network.settle();
        send(a, qa, b, qb, QKEY, 12);
        network.settle();
        assertThat(b.polled).isEmpty();
        assertThat(b.engine.counters().unreliableDrops).isEqualTo(2);
        send(a, qa, b, qb, QKEY, 8);
        network.settle();
        assertThat(b.polled).extracting(Completion::wrId, Completion::bytes, Completion::source, Completion::flags)
            .containsExactly(tuple(5L, GRH_BYTES + 8, qa.number(), WorkCompletions.WITH_GRH));
        assertThat(b.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, GRH_BYTES)).isEqualTo(1234);
        assertThat(b.memory().get(ValueLayout.JAVA_BYTE, 23)).as("end of the source's GID").isEqualTo((byte)1);
        assertThat(b.memory().get(ValueLayout.JAVA_BYTE, 39)).as("end of the destination's GID").isEqualTo((byte)2);
        assertThat(b.engine.events().poll().type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
        send(a, qa, b, qb, QKEY, 8);
        network.settle();
        assertThat(b.polled).hasSize(1);
        assertThat(a.polled).hasSize(4);
    }

    @Test
    void shouldEnterSendQueueErrorOnErrorOfItsOwn()
    {
        final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
        final EngineNode a = network.addNode(8, 4);
        final RoceQueuePair qa = datagrams(a, null);
        qa.begin();
        for (int i = 0; i < 2; i++)
        {
            qa.send(i, 0, a.at(0), 8, a.key() + 1);
            qa.toQueuePair(a.domain.createAddressHandle(a.address), qa.number(), QKEY);
        }
        qa.complete();
        network.settle();
        assertThat(a.polled).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(0L, WorkCompletionStatus.LOC_PROT_ERR), tuple(1L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(qa.state()).isEqualTo(QueuePairState.SQE);
        qa.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        send(a, qa, a, qa, QKEY, 8);
        network.settle();
        assertThat(a.polled).hasSize(3).last().extracting(Completion::status).isEqualTo(0);
    }

    @Test
    void shouldRefuseSharedReceivesOfUnreliableConnection()
    {
        final EngineNode a = new LossyNetwork(1, LossyNetwork.Faults.NONE).addNode(8, 4);
        assertThatThrownBy(() -> a.createQueuePair(QueuePairType.UC, a.domain.createSharedReceiveQueue(4)))
            .isInstanceOf(RdmaException.class).hasMessageContaining("UC");
    }

    private static RoceQueuePair datagrams(final EngineNode node, final SharedReceiveQueue shared)
    {
        final RoceQueuePair queuePair = node.createQueuePair(QueuePairType.UD, shared);
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(5));
        return queuePair;
    }

    private static void send(
        final EngineNode node,
        final RoceQueuePair queuePair,
        final EngineNode peer,
        final RoceQueuePair target,
        final int qkey,
        final int lengthBytes)
    {
        final AddressHandle handle = node.domain.createAddressHandle(peer.address);
        queuePair.begin();
        queuePair.send(1, SIGNALED, node.at(0), lengthBytes, node.key());
        queuePair.toQueuePair(handle, target.number(), qkey);
        assertThat(queuePair.complete()).isZero();
    }
}
