package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** Answers that are late, and packets lost with nothing behind them that would show it: one packet asks, in time. */
class LateAnswerTest
{
    private static final long LIMIT_NS = 1_000_000_000L;
    private static final int MTU = 256;
    private static final int PACKETS = 6;
    private static final int BYTES = PACKETS * MTU - 100;
    /** The first request takes one PSN. */
    private static final int FIRST = 1;

    private final LossyNetwork network = new LossyNetwork(7, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNodeAtOwnPort(64, 16);
    private final EngineNode b = network.addNodeAtOwnPort(64, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final List<Integer> sent = new ArrayList<>();
    private final List<Integer> readBytes = new ArrayList<>();

    /** Something has been measured, so answers are late after 100 us; a time-out would take 67 ms. */
    @BeforeEach
    void connect()
    {
        final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
        final ConnectOptions options = new ConnectOptions(MTU, 0, 16, 14, 7, 7, 1, AccessFlags.ALL_REMOTE);
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        run(() -> qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        network.observe((packet) ->
        {
            if (packet.sourceLow() == a.address.gidLow())
            {
                sent.add(BthDescriptor.sequence(packet.buffer(), 0));
                if (BthDescriptor.opcode(packet.buffer(), 0) == RoceOpcode.READ_REQUEST)
                {
                    readBytes.add((int)RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES));
                }
            }
        });
    }

    private void run(final Runnable... requests)
    {
        qa.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        assertThat(qa.complete()).isZero();
        final long startNs = network.nowNs();
        final int before = a.polled.size();
        assertThat(network.run(() -> a.polled.size() == before + requests.length, LIMIT_NS)).isTrue();
        assertThat(a.polled).allSatisfy(completion -> assertThat(completion.status()).isZero());
        assertThat(a.engine.counters().timeouts).isZero();
        assertThat(network.nowNs() - startNs).isLessThan(4_000_000);
    }

    private void write()
    {
        qa.write(2, SIGNALED, a.at(4_096), BYTES, a.key(), b.at(4_096), b.key());
    }

    private void read()
    {
        qa.read(3, SIGNALED, a.at(4_096), BYTES, a.key(), b.at(4_096), b.key());
    }

    /** Loses the packets from one side that a predicate names the first time. */
    private void loseOnce(final EngineNode from, final Predicate<Integer> sequences)
    {
        final List<Integer> lost = new ArrayList<>();
        network.lose((packet) -> isFrom(from, packet) && sequences.test(BthDescriptor.sequence(packet.buffer(), 0)) &&
            !lost.contains(BthDescriptor.sequence(packet.buffer(), 0)) &&
            lost.add(BthDescriptor.sequence(packet.buffer(), 0)));
    }

    private static boolean isFrom(final EngineNode node, final RocePacket packet)
    {
        return packet.sourceLow() == node.address.gidLow();
    }

    @Test
    void shouldAskWithTheLastPacketAlone()
    {
        loseOnce(b, sequence -> true);
        run(this::write);
        assertThat(sent).containsExactly(1, 2, 3, 4, 5, 6, 6);
        assertThat(a.engine.counters().resent).isEqualTo(1);
        assertThat(a.engine.counters().probes).isEqualTo(1);
        assertThat(b.engine.counters().duplicates).isEqualTo(1);
    }

    @Test
    void shouldSendAgainWhatTheLastPacketShowsToBeLost()
    {
        loseOnce(a, sequence -> sequence > FIRST + 2);
        run(this::write);
        assertThat(sent.subList(0, 7)).containsExactly(1, 2, 3, 4, 5, 6, 6);
        // From the first on, as those before were not acknowledged; some may be overtaken by the answer.
        assertThat(sent).endsWith(4, 5, 6);
        assertThat(a.engine.counters().probes).isEqualTo(1);
        assertThat(b.region.segment().asSlice(4_096, BYTES).mismatch(a.region.segment().asSlice(4_096, BYTES)))
            .isEqualTo(-1);
    }

    /** A responder that has refused once is silent until what it expects has come. */
    @Test
    void shouldAskWithTheFirstPacketNext()
    {
        final int[] lost = {0};
        network.lose((packet) -> isFrom(a, packet) ? BthDescriptor.sequence(packet.buffer(), 0) == FIRST &&
            sent.size() <= PACKETS : lost[0]++ < 2);
        run(this::write);
        assertThat(sent.subList(0, 8)).containsExactly(1, 2, 3, 4, 5, 6, 6, 1);
        assertThat(a.engine.counters().probes).isGreaterThanOrEqualTo(2);
    }

    @Test
    void shouldAskForTheLastResponseAlone()
    {
        loseOnce(b, sequence -> sequence == FIRST + PACKETS - 1);
        run(this::read);
        assertThat(sent).containsExactly(1, 6);
        assertThat(readBytes).containsExactly(BYTES, MTU - 100);
    }

    @Test
    void shouldAskForAllWhenTheRequestWasLost()
    {
        loseOnce(a, sequence -> sequence == FIRST);
        run(this::read);
        assertThat(sent).containsExactly(1, 6, 1);
        assertThat(readBytes).containsExactly(BYTES, MTU - 100, BYTES);
    }

    @Test
    void shouldExecuteAnAtomicOnceThatIsAskedForAgain()
    {
        loseOnce(b, sequence -> true);
        run(() -> qa.fetchAdd(4, SIGNALED, a.at(0), a.key(), b.at(64), b.key(), 5));
        assertThat(sent).containsExactly(1, 1);
        assertThat(b.word(64)).isEqualTo(5);
    }

    /** Whose processor is busy answers everything at last: nothing is sent once more but what asked. */
    @Test
    void shouldNeitherSendAgainNorShrinkWhenAnswersAreOnlyLate()
    {
        network.pass(null, 700_000);
        run(this::write, this::read, this::write);
        assertThat(a.engine.counters().resent).isEqualTo(a.engine.counters().probes).isBetween(2L, 4L);
        assertThat(sent).hasSize(2 * PACKETS + 1 + (int)a.engine.counters().probes);
        network.pass(null, 0);
        network.settle();
        sent.clear();
        run(this::write, this::write);
        assertThat(sent).hasSize(2 * PACKETS);
    }
}
