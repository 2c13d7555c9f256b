package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Requests behind READs whose answers take long, and answers that are lost: each is answered in its turn and in time,
 * without a time-out where no packet was lost.
 */
class AnswerOrderTest
{
    private static final long LIMIT_NS = 60_000_000_000L;
    /** 196 packets of 256 bytes: more than a responder sends in one go. */
    private static final int READ_BYTES = 50_000;
    private static final int READ_AT = 100_000;

    private LossyNetwork network;
    private EngineNode a;
    private EngineNode b;
    private RoceQueuePair qa;
    private RoceQueuePair qb;
    private final List<Integer> answers = new ArrayList<>();

    private void connect(final int noRoom, final ConnectOptions options)
    {
        network = new LossyNetwork(7, new LossyNetwork.Faults(0, 0, 0, noRoom, 0));
        a = network.addNode(256, 16);
        b = network.addNode(256, 16);
        qa = a.createQueuePair(QueuePairType.RC, null);
        qb = b.createQueuePair(QueuePairType.RC, null);
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        network.observe((packet) ->
        {
            if (isFrom(b, packet))
            {
                answers.add(BthDescriptor.opcode(packet.buffer(), 0));
            }
        });
    }

    private static boolean isFrom(final EngineNode node, final RocePacket packet)
    {
        return packet.sourceLow() == node.address.gidLow();
    }

    private static boolean isOf(final RocePacket packet, final int trait)
    {
        return (RoceOpcode.traits(BthDescriptor.opcode(packet.buffer(), 0)) & trait) != 0;
    }

    private List<Completion> run(final int count, final Runnable... requests)
    {
        qa.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        assertThat(qa.complete()).isZero();
        // All that fits arrives at once, before anything of it is answered at leisure.
        for (int i = 0; i < 100; i++)
        {
            a.engine.doWork();
        }
        network.deliverAll();
        assertThat(network.run(() -> a.polled.size() >= count, LIMIT_NS)).isTrue();
        network.settle();
        final List<Completion> taken = List.copyOf(a.polled);
        a.polled.clear();
        assertThat(taken).hasSize(count);
        return taken;
    }

    private void read(final long wrId)
    {
        qa.read(wrId, SIGNALED, a.at(READ_AT), READ_BYTES, a.key(), b.at(0), b.key());
    }

    private void fillRemote()
    {
        for (int i = 0; i < READ_BYTES; i++)
        {
            b.memory().set(ValueLayout.JAVA_BYTE, i, (byte)(i * 11 + 3));
        }
    }

    private void assertRead()
    {
        assertThat(a.memory().asSlice(READ_AT, READ_BYTES).mismatch(b.memory().asSlice(0, READ_BYTES))).isEqualTo(-1);
    }

    /** What the responder does to the bytes meanwhile stays, though the last packet comes again. */
    @ParameterizedTest
    @ValueSource(ints = {200, 256, 600})
    void shouldPlacePayloadOnceWhereWriteWithImmediateWaitsForReceive(final int lengthBytes)
    {
        connect(0, ConnectOptions.DEFAULT);
        a.memory().asSlice(0, lengthBytes).fill((byte)7);
        qa.begin();
        qa.writeWithImmediate(1, SIGNALED, a.at(0), lengthBytes, a.key(), b.at(0), b.key(), 5);
        assertThat(qa.complete()).isZero();
        network.run(() -> false, 1_000_000);
        assertThat(b.engine.counters().notReady).isGreaterThan(1);
        assertThat(b.memory().asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
        b.memory().asSlice(0, lengthBytes).fill((byte)8);
        qb.postReceive(2, b.at(READ_AT), 0, b.key());
        assertThat(network.run(() -> a.polled.size() == 1, LIMIT_NS)).isTrue();
        assertThat(b.polled).extracting(Completion::immediate, Completion::bytes)
            .containsExactly(tuple(5, lengthBytes));
        assertThat(b.memory().asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE)).containsOnly(8);
        a.polled.clear();
        run(1, () -> qa.write(3, SIGNALED, a.at(0), lengthBytes, a.key(), b.at(0), b.key()));
        assertThat(b.memory().asSlice(0, lengthBytes).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
    }

    /** With room for each packet, and with room for few. */
    @ParameterizedTest
    @ValueSource(ints = {0, 900})
    void shouldAnswerReadsBeforeTheRefusalBehindThem(final int noRoom)
    {
        connect(noRoom, ConnectOptions.DEFAULT.retries(0));
        fillRemote();
        final List<Completion> completions = run(3, () -> read(1),
            () -> qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key() + 1),
            () -> qa.write(3, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        assertThat(completions).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.SUCCESS), tuple(2L, WorkCompletionStatus.REM_ACCESS_ERR),
            tuple(3L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertRead();
        assertThat(a.engine.counters().timeouts).isZero();
        assertThat(qb.state()).isEqualTo(QueuePairState.ERR);
    }

    /** The atomic changes a word that is in the part of the READ which is answered last; the WRITE changes it again. */
    @ParameterizedTest
    @ValueSource(ints = {0, 900})
    void shouldExecuteAtomicBehindReadAndBeforeWrite(final int noRoom)
    {
        connect(noRoom, ConnectOptions.DEFAULT.retries(0));
        final int word = READ_BYTES - 8;
        b.word(word, 40);
        a.word(8, 7_000);
        final List<Completion> completions = run(3, () -> read(1),
            () -> qa.fetchAdd(2, SIGNALED, a.at(0), a.key(), b.at(word), b.key(), 1),
            () -> qa.write(3, SIGNALED, a.at(8), 8, a.key(), b.at(word), b.key()));
        assertThat(completions).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(a.engine.counters().timeouts).isZero();
        assertThat(a.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, READ_AT + word)).isEqualTo(40);
        assertThat(a.word(0)).isEqualTo(40);
        assertThat(b.word(word)).isEqualTo(7_000);
        assertThat(answers.indexOf(RoceOpcode.ATOMIC_ACKNOWLEDGE))
            .isGreaterThan(answers.lastIndexOf(RoceOpcode.READ_RESPONSE_LAST));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 900})
    void shouldExecuteAtomicBehindReadWithoutTimeOut(final int noRoom)
    {
        connect(noRoom, ConnectOptions.DEFAULT.retries(0));
        b.word(READ_BYTES - 8, 40);
        final List<Completion> completions = run(2, () -> read(1),
            () -> qa.compareSwap(2, SIGNALED, a.at(0), a.key(), b.at(READ_BYTES - 8), b.key(), 40, 99));
        assertThat(completions).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(a.engine.counters().timeouts).isZero();
        assertThat(a.engine.counters().resent).isZero();
        assertThat(b.word(READ_BYTES - 8)).isEqualTo(99);
        assertThat(a.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, READ_AT + READ_BYTES - 8)).isEqualTo(40);
    }

    @Test
    void shouldNoticeLostReadResponseAtOnce()
    {
        connect(0, ConnectOptions.DEFAULT.retries(0));
        fillRemote();
        final int[] responses = {0};
        network.lose((packet) -> isOf(packet, RoceOpcode.IS_READ_RESPONSE) && ++responses[0] == 5);
        assertThat(run(1, () -> read(1)).get(0).status()).isZero();
        assertRead();
        assertThat(a.engine.counters().timeouts).isZero();
        assertThat(a.engine.counters().resent).isEqualTo(1);
    }

    @Test
    void shouldNoticeLostReadResponseByAnAcknowledgementBehindIt()
    {
        connect(0, ConnectOptions.DEFAULT.retries(0));
        final boolean[] isLost = {false};
        network.lose((packet) -> isOf(packet, RoceOpcode.IS_READ_RESPONSE) && !isLost[0] && (isLost[0] = true));
        final List<Completion> completions = run(2,
            () -> qa.read(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(8), b.key()));
        assertThat(completions).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(a.engine.counters().timeouts).isZero();
    }

    @Test
    void shouldRefuseRepeatedReadWhoseKeyIsGone()
    {
        connect(0, ConnectOptions.DEFAULT.retries(2));
        final MemoryRegion region = b.domain.register(b.memory().asSlice(0, 4096), AccessFlags.ALL_REMOTE);
        final int key = region.remoteKey();
        network.lose((packet) ->
        {
            final boolean isResponse = isOf(packet, RoceOpcode.IS_READ_RESPONSE);
            if (isResponse)
            {
                region.close();
            }
            return isResponse;
        });
        assertThat(run(1, () -> qa.read(1, SIGNALED, a.at(0), 64, a.key(), b.at(0), key)).get(0).status())
            .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        // It may have been a late copy of a READ that is long over: that must not end the connection.
        assertThat(qb.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldSurviveLateCopyOfReadWhoseKeyIsGone()
    {
        connect(0, ConnectOptions.DEFAULT);
        final MemoryRegion region = b.domain.register(b.memory().asSlice(0, 4096), AccessFlags.ALL_REMOTE);
        final RocePacket copy = new RocePacket();
        network.lose((packet) ->
        {
            if (isFrom(a, packet) && copy.lengthBytes() == 0)
            {
                copy.copyOf(packet);
            }
            return false;
        });
        run(1, () -> qa.read(1, SIGNALED, a.at(0), 64, a.key(), b.at(0), region.remoteKey()));
        region.close();
        network.inject(copy, 0);
        network.settle();
        assertThat(run(1, () -> qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key())).get(0).status())
            .isZero();
        assertThat(a.engine.counters().stale).isEqualTo(1);
    }

    @Test
    void shouldRefuseRepeatedReadWhoseRightIsGone()
    {
        connect(0, ConnectOptions.DEFAULT.retries(2));
        final boolean[] isLost = {false};
        network.lose((packet) -> isOf(packet, RoceOpcode.IS_READ_RESPONSE) && !isLost[0] && (isLost[0] = true));
        qa.begin();
        qa.read(1, SIGNALED, a.at(0), 64, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        assertThat(network.run(() -> isLost[0], LIMIT_NS)).isTrue();
        qb.modify(new QueuePairAttributes().state(QueuePairState.RTS).accessFlags(AccessFlags.REMOTE_WRITE));
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        assertThat(a.polled.get(0).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    /** Whoever asks to wait is there: only losses in a row count as retries. */
    @Test
    void shouldWaitForEverForReceiveThoughSendsAreLostNowAndThen()
    {
        connect(0, ConnectOptions.DEFAULT.retries(1));
        final int[] sends = {0};
        network.lose((packet) -> isOf(packet, RoceOpcode.IS_SEND) && ++sends[0] % 2 == 0);
        qa.begin();
        qa.send(1, SIGNALED, a.at(0), 8, a.key());
        assertThat(qa.complete()).isZero();
        assertThat(network.run(() -> sends[0] >= 12, LIMIT_NS)).isTrue();
        assertThat(a.polled).isEmpty();
        qb.postReceive(2, b.at(0), 8, b.key());
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        assertThat(a.polled.get(0).status()).isZero();
    }

    /** Losses in a row still count when the peer asked to wait before them. */
    @Test
    void shouldFailWhenSendsAreLostInARowAfterAWait()
    {
        connect(0, ConnectOptions.DEFAULT.retries(1));
        final int[] sends = {0};
        network.lose((packet) -> isOf(packet, RoceOpcode.IS_SEND) && ++sends[0] > 1);
        assertThat(run(1, () -> qa.send(1, SIGNALED, a.at(0), 8, a.key())).get(0).status())
            .isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(sends[0]).isEqualTo(3);
    }

    @Test
    void shouldUseRetriesAndAddressThatChangedWhileDrained()
    {
        connect(0, ConnectOptions.DEFAULT.retries(7));
        final EngineNode c = network.addNode(256, 16);
        run(1, () -> qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD).retryCount(1).timeout(4)
            .destination(c.address));
        qa.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        final int[] toC = {0};
        network.observe((packet) -> toC[0] += packet.destinationLow() == c.address.gidLow() ? 1 : 0);
        final long startNs = network.nowNs();
        assertThat(run(1, () -> qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key())).get(0).status())
            .isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(toC[0]).isEqualTo(2);
        // 65,536 ns for code 4, then twice that.
        assertThat(network.nowNs() - startNs).isBetween(3 * 65_536L, 3 * 65_536L + 1000);
    }

    /** What the peer sends has to come from its new address, too. */
    @Test
    void shouldTakePacketsFromAddressThatChangedWhileDrained()
    {
        connect(0, ConnectOptions.DEFAULT);
        final EngineNode c = network.addNode(256, 16);
        qb.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        qb.modify(new QueuePairAttributes().state(QueuePairState.SQD).destination(c.address));
        qb.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(run(1, () -> qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key())).get(0).status())
            .isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(b.engine.counters().misdirected).isPositive();
    }

    @Test
    void shouldFindTheNewestResultOfASequenceNumber()
    {
        final InboundAtomic.AtomicResults results = new InboundAtomic.AtomicResults(4);
        results.add(5, 100);
        results.add(9, 200);
        results.add(5, 300);
        assertThat(results.original(results.find(5))).isEqualTo(300);
        assertThat(results.original(results.find(9))).isEqualTo(200);
        for (int i = 0; i < 3; i++)
        {
            results.add(20 + i, i);
        }
        assertThat(results.original(results.find(5))).isEqualTo(300);
        assertThat(results.find(9)).isNegative();
        results.add(30, 1);
        assertThat(results.find(5)).isNegative();
    }

    /** A READ counts as the packets that it asks for: who asks for many takes turns with others after each. */
    @Test
    void shouldLetOthersSendBetweenLongReads()
    {
        final int reads = 4;
        final ConnectOptions options = ConnectOptions.DEFAULT.depth(16);
        connect(0, options);
        final RoceQueuePair other = a.createQueuePair(QueuePairType.RC, null);
        final RoceQueuePair otherEnd = b.createQueuePair(QueuePairType.RC, null);
        EngineNode.connect(other, b, otherEnd, options);
        EngineNode.connect(otherEnd, a, other, options);
        run(1, () -> read(1));
        final RoceQueuePair first = qa;
        qa = other;
        run(1, () -> read(1)); // both windows have grown
        final List<Integer> asked = new ArrayList<>();
        network.observe((packet) -> asked.add(BthDescriptor.destination(packet.buffer(), 0)));
        for (final RoceQueuePair each : List.of(first, other))
        {
            each.begin();
            for (int i = 0; i < reads; i++)
            {
                each.read(i, SIGNALED, a.at(READ_AT), 16 * 256, a.key(), b.at(0), b.key());
            }
            assertThat(each.complete()).isZero();
        }
        a.engine.doWork();
        assertThat(asked).hasSize(2 * reads);
        assertThat(asked.get(0)).isEqualTo(asked.get(2)).isNotEqualTo(asked.get(1));
        assertThat(asked.get(1)).isEqualTo(asked.get(3));
    }
}
