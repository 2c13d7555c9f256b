package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicAckEthDescriptor;
import io.verbena.rdma.roce.wire.AtomicEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** What requester and responder of an RC queue pair do in each case, seen at the completions and at the packets. */
class ReliableRulesTest
{
    private static final int FIRST = ConnectOptions.DEFAULT.firstSequence();
    private static final long LIMIT_NS = 60_000_000_000L;

    /** A packet as it was sent. */
    private record Sent(boolean isByA, int opcode, int sequence, boolean isAckRequested, int syndrome, int messages)
    {
    }

    private final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private final List<Sent> sent = new ArrayList<>();
    private long completedNs;

    @BeforeEach
    void watch()
    {
        network.observe((packet) ->
        {
            final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
            final boolean hasAeth = (RoceOpcode.traits(opcode) & RoceOpcode.HAS_AETH) != 0;
            sent.add(new Sent(packet.sourceLow() == a.address.gidLow(), opcode,
                BthDescriptor.sequence(packet.buffer(), 0), BthDescriptor.isAckRequested(packet.buffer(), 0),
                hasAeth ? AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES) : -1,
                hasAeth ? AethDescriptor.messageSequence(packet.buffer(), BthDescriptor.LENGTH_BYTES) : -1));
        });
    }

    // What arrives.

    @Test
    void shouldCountCompletedMessagesInAcknowledgements()
    {
        connect(ConnectOptions.DEFAULT);
        for (int i = 0; i < 3; i++)
        {
            post(() -> qa.write(1, SIGNALED, a.at(0), 600, a.key(), b.at(0), b.key()));
            await(a, 1);
        }
        assertThat(sent).filteredOn((packet) -> packet.opcode == RoceOpcode.ACKNOWLEDGE)
            .extracting(Sent::messages).containsExactly(1, 2, 3);
        post(() -> qa.fetchAdd(1, SIGNALED, a.at(0), a.key(), b.at(0), b.key(), 1),
            () -> qa.read(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        await(a, 2);
        assertThat(sent.get(sent.size() - 1)).extracting(Sent::opcode, Sent::messages)
            .containsExactly(RoceOpcode.READ_RESPONSE_ONLY, 5);
    }

    @Test
    void shouldCutMessagesAndAcknowledgeThemOnce()
    {
        connect(ConnectOptions.DEFAULT);
        post(() -> qa.write(1, 0, a.at(0), 256, a.key(), b.at(0), b.key()),
            () -> qa.write(2, SIGNALED, a.at(0), 257, a.key(), b.at(0), b.key()));
        await(a, 1);
        assertThat(sent).extracting(Sent::opcode, Sent::sequence, Sent::isAckRequested).containsExactly(
            tuple(RoceOpcode.WRITE_ONLY, FIRST, false),
            tuple(RoceOpcode.WRITE_FIRST, FIRST + 1, false),
            tuple(RoceOpcode.WRITE_LAST, FIRST + 2, true),
            tuple(RoceOpcode.ACKNOWLEDGE, FIRST + 2, false));
    }

    @Test
    void shouldRequestReadsInPartsThatFitTheWindow()
    {
        connect(ConnectOptions.DEFAULT);
        fill(b, 20_000);
        post(() -> qa.read(1, SIGNALED, a.at(30_000), 20_000, a.key(), b.at(0), b.key()));
        await(a, 1);
        assertThat(a.memory().asSlice(30_000, 20_000).mismatch(b.memory().asSlice(0, 20_000))).isEqualTo(-1);
        assertThat(sent).filteredOn(Sent::isByA).hasSizeGreaterThanOrEqualTo(3);
        assertThat(sent).filteredOn((packet) -> !packet.isByA()).hasSize((20_000 + 255) / 256);
    }

    @Test
    void shouldAskForMissingPacketOnce()
    {
        connect(ConnectOptions.DEFAULT);
        for (int i = 1; i < 4; i++)
        {
            network.inject(request(RoceOpcode.WRITE_ONLY, FIRST + i, 8, 7), i);
        }
        network.settle();
        assertThat(sent).extracting(Sent::syndrome, Sent::sequence)
            .containsExactly(tuple(AethDescriptor.SEQUENCE_ERROR, FIRST));
        assertThat(b.word(0)).isZero();
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST, 8, 7), 0);
        network.settle();
        assertThat(b.word(0)).isEqualTo(0x0707_0707_0707_0707L);
        assertThat(sent).last().extracting(Sent::syndrome, Sent::sequence)
            .containsExactly(AethDescriptor.ACK_WITHOUT_CREDITS, FIRST);
    }

    /** Soft-RoCE takes any acknowledgement with the PSN of an atomic for its answer. */
    @Test
    void shouldNotAcknowledgeRepeatedWriteWithThePsnOfAnAtomic()
    {
        connect(ConnectOptions.DEFAULT);
        post(() -> qa.write(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.fetchAdd(2, SIGNALED, a.at(8), a.key(), b.at(8), b.key(), 1));
        await(a, 1);
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST, 8, 7), 0);
        network.settle();
        assertThat(sent).last().extracting(Sent::opcode, Sent::sequence).containsExactly(RoceOpcode.ACKNOWLEDGE, FIRST);
    }

    @Test
    void shouldAnswerRepeatedAtomicWithItsFirstResult()
    {
        connect(ConnectOptions.DEFAULT);
        b.word(0, 40);
        final List<Long> originals = new ArrayList<>();
        network.observe((packet) ->
        {
            if (BthDescriptor.opcode(packet.buffer(), 0) == RoceOpcode.ATOMIC_ACKNOWLEDGE)
            {
                originals.add(AtomicAckEthDescriptor.original(packet.buffer(), 16));
            }
        });
        for (int i = 0; i < 3; i++)
        {
            network.inject(fetchAdd(FIRST), i);
        }
        network.inject(fetchAdd(FIRST + 1), 4);
        network.inject(fetchAdd(FIRST), 5);
        network.settle();
        assertThat(originals).containsExactly(40L, 40L, 40L, 41L, 40L);
        assertThat(b.word(0)).isEqualTo(42);
    }

    @Test
    void shouldPlaceRepeatedWriteOnce()
    {
        connect(ConnectOptions.DEFAULT);
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST, 8, 1), 0);
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST + 1, 8, 2), 1);
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST, 8, 3), 2);
        network.settle();
        assertThat(b.word(0)).isEqualTo(0x0202_0202_0202_0202L);
        assertThat(sent).last().extracting(Sent::syndrome, Sent::sequence)
            .containsExactly(AethDescriptor.ACK_WITHOUT_CREDITS, FIRST + 1);
    }

    @Test
    void shouldDropWhatIsNotSealedOrComesFromElsewhere()
    {
        connect(ConnectOptions.DEFAULT);
        final RocePacket corrupt = request(RoceOpcode.WRITE_ONLY, FIRST, 8, 1);
        corrupt.buffer().putByte(40 - 8, (byte)9);
        final RocePacket foreign = request(RoceOpcode.WRITE_ONLY, FIRST, 8, 1);
        foreign.path(foreign.sourceHigh(), 99, RocePath.ROCE_PORT,
            foreign.destinationHigh(), foreign.destinationLow(), RocePath.ROCE_PORT);
        new InvariantCrc().seal(foreign);
        network.inject(corrupt, 0);
        network.inject(foreign, 1);
        network.settle();
        assertThat(b.word(0)).isZero();
        assertThat(b.engine.counters().corrupt).isEqualTo(1);
        assertThat(b.engine.counters().misdirected).isEqualTo(1);
        assertThat(sent).isEmpty();
    }

    @Test
    void shouldRefuseWritesWhoseLengthIsNotAsAnnounced()
    {
        for (final int announced : new int[] {0, 4, 16})
        {
            final ReliableRulesTest other = new ReliableRulesTest();
            other.watch();
            other.connect(ConnectOptions.DEFAULT);
            final RocePacket packet = other.request(RoceOpcode.WRITE_ONLY, FIRST, 8, 1);
            RethDescriptor.encode(packet.buffer(), 12, other.b.at(0), other.b.key(), announced);
            new InvariantCrc().seal(packet);
            other.network.inject(packet, 0);
            other.network.settle();
            assertThat(other.b.word(0)).isZero();
            assertThat(other.sent).extracting(Sent::syndrome).containsExactly(AethDescriptor.INVALID_REQUEST);
            assertThat(other.qb.state()).isEqualTo(QueuePairState.ERR);
        }
    }

    @Test
    void shouldRefusePacketsOutOfPlaceInTheirMessage()
    {
        for (final int opcode : new int[] {RoceOpcode.SEND_MIDDLE, RoceOpcode.SEND_LAST, RoceOpcode.WRITE_LAST,
            RoceOpcode.WRITE_MIDDLE, RoceOpcode.SEND_FIRST})
        {
            final ReliableRulesTest other = new ReliableRulesTest();
            other.watch();
            other.connect(ConnectOptions.DEFAULT);
            other.qb.postReceive(1, other.b.at(0), 600, other.b.key());
            other.network.inject(other.request(opcode, FIRST, opcode == RoceOpcode.SEND_MIDDLE ||
                opcode == RoceOpcode.WRITE_MIDDLE ? 256 : 8, 1), 0);
            other.network.settle();
            assertThat(other.sent).extracting(Sent::syndrome).containsExactly(AethDescriptor.INVALID_REQUEST);
        }
    }

    @Test
    void shouldSendNoMoreReadsThanThePeerAnswers()
    {
        connect(ConnectOptions.DEFAULT.depth(1));
        post(() -> qa.read(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.fetchAdd(2, SIGNALED, a.at(8), a.key(), b.at(0), b.key(), 1));
        a.engine.doWork();
        assertThat(sent).extracting(Sent::opcode).containsExactly(RoceOpcode.READ_REQUEST);
        await(a, 2);
        assertThat(sent).extracting(Sent::opcode).containsExactly(RoceOpcode.READ_REQUEST,
            RoceOpcode.READ_RESPONSE_ONLY, RoceOpcode.FETCH_ADD, RoceOpcode.ATOMIC_ACKNOWLEDGE);
    }

    @Test
    void shouldTakeNoReadResponseOfAnotherLength()
    {
        connect(ConnectOptions.DEFAULT);
        b.word(0, 5);
        post(() -> qa.read(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        a.engine.doWork();
        final RocePacket response = new RocePacket();
        BthDescriptor.encode(
            response.buffer(), 0, RoceOpcode.READ_RESPONSE_ONLY, false, 0, qa.number(), false, FIRST);
        AethDescriptor.encode(response.buffer(), BthDescriptor.LENGTH_BYTES, AethDescriptor.ACK_WITHOUT_CREDITS, 1);
        response.lengthBytes(RoceOpcode.headerBytes(RoceOpcode.READ_RESPONSE_ONLY) + 4 + InvariantCrc.LENGTH_BYTES);
        response.path(b.address.gidHigh(), b.address.gidLow(), RocePath.ROCE_PORT,
            a.address.gidHigh(), a.address.gidLow(), RocePath.ROCE_PORT);
        new InvariantCrc().seal(response);
        a.engine.onPacket(response);
        a.work();
        assertThat(a.polled).isEmpty();
        assertThat(a.engine.counters().stale).isEqualTo(1);
        await(a, 1);
        assertThat(a.word(0)).isEqualTo(5);
    }

    @Test
    void shouldRefuseMessageInsideOfAnother()
    {
        connect(ConnectOptions.DEFAULT);
        qb.postReceive(1, b.at(1024), 600, b.key());
        network.inject(writeFirst(b.key(), 600), 0);
        network.inject(request(RoceOpcode.SEND_ONLY, FIRST + 1, 8, 1), 1);
        network.settle();
        assertThat(sent).last().extracting(Sent::syndrome).isEqualTo(AethDescriptor.INVALID_REQUEST);
        assertThat(b.word(1024)).isZero();
    }

    @Test
    void shouldTakeNoRefusalOfWhatWasAcknowledged()
    {
        connect(ConnectOptions.DEFAULT);
        post(() -> qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        await(a, 1);
        post(() -> qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        a.engine.doWork();
        final RocePacket refusal = new RocePacket();
        BthDescriptor.encode(refusal.buffer(), 0, RoceOpcode.ACKNOWLEDGE, false, 0, qa.number(), false, FIRST);
        AethDescriptor.encode(refusal.buffer(), BthDescriptor.LENGTH_BYTES, AethDescriptor.INVALID_REQUEST, 1);
        refusal.lengthBytes(RoceOpcode.headerBytes(RoceOpcode.ACKNOWLEDGE) + InvariantCrc.LENGTH_BYTES);
        refusal.path(b.address.gidHigh(), b.address.gidLow(), RocePath.ROCE_PORT,
            a.address.gidHigh(), a.address.gidLow(), RocePath.ROCE_PORT);
        new InvariantCrc().seal(refusal);
        a.engine.onPacket(refusal);
        assertThat(await(a, 1).get(0).status()).isZero();
    }

    @Test
    void shouldRepeatRefusalThatWasLost()
    {
        connect(ConnectOptions.DEFAULT.accessFlags(0));
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST, 8, 1), 0);
        network.inject(request(RoceOpcode.WRITE_ONLY, FIRST, 8, 1), 9);
        network.settle();
        assertThat(sent).extracting(Sent::syndrome, Sent::sequence).containsExactly(
            tuple(AethDescriptor.INVALID_REQUEST, FIRST), tuple(AethDescriptor.INVALID_REQUEST, FIRST));
        assertThat(b.engine.events().poll().type()).isEqualTo(AsyncEventType.QP_REQ_ERR);
    }

    // What fails.

    @Test
    void shouldReportWhatTheResponderRefused()
    {
        assertFails(ConnectOptions.DEFAULT.accessFlags(AccessFlags.REMOTE_READ), WorkCompletionStatus.REM_INV_REQ_ERR,
            (t) -> t.qa.write(1, 0, t.a.at(0), 8, t.a.key(), t.b.at(0), t.b.key()));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.REM_ACCESS_ERR,
            (t) -> t.qa.write(1, 0, t.a.at(0), 8, t.a.key(), t.b.at(0), t.b.key() + 1));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.REM_ACCESS_ERR,
            (t) -> t.qa.read(1, 0, t.a.at(0), 9, t.a.key(), t.b.at(EngineNode.REGION_BYTES - 8), t.b.key()));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.REM_INV_REQ_ERR,
            (t) -> t.qa.fetchAdd(1, 0, t.a.at(0), t.a.key(), t.b.at(4), t.b.key(), 1));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.LOC_PROT_ERR,
            (t) -> t.qa.write(1, 0, t.a.at(0), 8, t.a.key() + 1, t.b.at(0), t.b.key()));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.REM_ACCESS_ERR,
            (t) -> t.qa.read(1, 0, t.a.at(0), 8, t.a.key(), t.b.at(0), t.keyWith(AccessFlags.REMOTE_WRITE)));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.REM_ACCESS_ERR,
            (t) -> t.qa.fetchAdd(1, 0, t.a.at(0), t.a.key(), t.b.at(0), t.keyWith(AccessFlags.REMOTE_WRITE), 1));
        assertFails(ConnectOptions.DEFAULT, WorkCompletionStatus.REM_ACCESS_ERR,
            (t) -> t.qa.write(1, 0, t.a.at(0), 8, t.a.key(), t.b.at(0), t.keyWith(AccessFlags.REMOTE_READ)));
    }

    /** Key of the peer's memory with one right only. */
    private int keyWith(final int right)
    {
        return b.domain.register(b.memory().asSlice(0, 4096), AccessFlags.LOCAL_WRITE | right).remoteKey();
    }

    @Test
    void shouldWriteNothingWhenMessageEndsBehindRegion()
    {
        connect(ConnectOptions.DEFAULT);
        fill(a, 600);
        post(() -> qa.write(1, 0, a.at(0), 600, a.key(), b.at(EngineNode.REGION_BYTES - 599), b.key()));
        assertThat(await(a, 1).get(0).status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        for (int i = EngineNode.REGION_BYTES - 599; i < EngineNode.REGION_BYTES; i++)
        {
            assertThat(b.memory().get(ValueLayout.JAVA_BYTE, i)).isZero();
        }
    }

    @Test
    void shouldFailBothSidesWhenMessageIsLongerThanReceive()
    {
        connect(ConnectOptions.DEFAULT);
        qb.postReceive(7, b.at(0), 300, b.key());
        post(() -> qa.send(1, 0, a.at(0), 301, a.key()), () -> qa.send(2, 0, a.at(0), 8, a.key()));
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.REM_INV_REQ_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(await(b, 1)).extracting(Completion::wrId, Completion::status)
            .containsExactly(tuple(7L, WorkCompletionStatus.LOC_LEN_ERR));
    }

    @Test
    void shouldFailWhenReceiveIsNotRegistered()
    {
        connect(ConnectOptions.DEFAULT);
        qb.postReceive(7, b.at(0), 300, b.key() + 1);
        post(() -> qa.send(1, 0, a.at(0), 8, a.key()));
        assertThat(await(a, 1).get(0).status()).isEqualTo(WorkCompletionStatus.REM_OP_ERR);
        assertThat(await(b, 1).get(0).status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
    }

    @Test
    void shouldStopServingRegionOnceItIsClosed()
    {
        connect(ConnectOptions.DEFAULT);
        final MemoryRegion region = b.domain.register(b.memory().asSlice(0, 4096), AccessFlags.ALL_REMOTE);
        final int key = region.remoteKey();
        network.inject(writeFirst(key, 600), 0);
        network.settle();
        assertThat(b.word(0)).isNotZero();
        region.close();
        network.inject(request(RoceOpcode.WRITE_MIDDLE, FIRST + 1, 256, 1), 0);
        network.settle();
        assertThat(b.word(256)).isZero();
        assertThat(sent).last().extracting(Sent::syndrome).isEqualTo(AethDescriptor.REMOTE_ACCESS_ERROR);
    }

    // Retries.

    @Test
    void shouldRepeatAsOftenAsSaidAndThenFail()
    {
        connect(ConnectOptions.DEFAULT.retries(3));
        qb.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        post(() -> qa.read(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.write(2, 0, a.at(0), 8, a.key(), b.at(0), b.key()));
        final long startNs = network.nowNs();
        assertThat(await(a, 2)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.RETRY_EXC_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
        assertThat(sent).filteredOn((packet) -> packet.opcode == RoceOpcode.READ_REQUEST).hasSize(4);
        // 262,144 ns for code 6: once, twice, four times and four times that long.
        assertThat(completedNs - startNs).isBetween(11 * 262_144L, 11 * 262_144L + 1000);
        assertThat(a.engine.nextDeadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldWaitForReceiveAsLongAsAskedAndFailAfterTheLastTry()
    {
        connect(ConnectOptions.DEFAULT.rnrRetries(2));
        final long startNs = network.nowNs();
        post(() -> qa.send(1, 0, a.at(0), 8, a.key()));
        assertThat(await(a, 1).get(0).status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        assertThat(sent).filteredOn((packet) -> packet.opcode == RoceOpcode.SEND_ONLY).hasSize(3);
        assertThat(completedNs - startNs).isBetween(2 * 10_000L, 3 * 10_000L);
        assertThat(qb.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldWaitForEverForReceiveWhenRetryIsSeven()
    {
        connect(ConnectOptions.DEFAULT);
        post(() -> qa.write(3, 0, a.at(0), 8, a.key(), b.at(8), b.key()),
            () -> qa.writeWithImmediate(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key(), 5));
        assertThat(network.run(() -> !a.polled.isEmpty(), 10_000_000)).isFalse();
        qb.postReceive(2, 0, 0, 0);
        assertThat(await(a, 1).get(0).status()).isZero();
        assertThat(await(b, 1).get(0).immediate()).isEqualTo(5);
    }

    @Test
    void shouldRefuseReadsBeyondDepth()
    {
        connect(ConnectOptions.DEFAULT.depth(1));
        qa.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT.depth(4));
        qb.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT.depth(0));
        post(() -> qa.read(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()));
        assertThat(await(a, 1).get(0).status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    // States, windows, shared receives.

    @Test
    void shouldKeepSendsBackWhileDrained()
    {
        connect(ConnectOptions.DEFAULT);
        post(() -> qa.write(1, 0, a.at(0), 256, a.key(), b.at(0), b.key()),
            () -> qa.write(2, 0, a.at(0), 600, a.key(), b.at(0), b.key()));
        a.engine.doWork();
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        post(() -> qa.write(3, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        network.settle();
        assertThat(a.polled).isEmpty();
        assertThat(a.engine.events().poll().type()).isEqualTo(AsyncEventType.SQ_DRAINED);
        assertThat(a.engine.events().poll()).isNull();
        qa.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(await(a, 1).get(0).wrId()).isEqualTo(3);
    }

    @Test
    void shouldFlushEverythingWhenMovedToError()
    {
        connect(ConnectOptions.DEFAULT);
        qa.postReceive(9, a.at(0), 8, a.key());
        post(() -> qa.write(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()));
        qa.moveToError();
        post(() -> qa.write(2, 0, a.at(0), 8, a.key(), b.at(0), b.key()));
        qa.postReceive(10, a.at(0), 8, a.key());
        assertThat(await(a, 4)).extracting(Completion::wrId, Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.WR_FLUSH_ERR), tuple(9L, WorkCompletionStatus.WR_FLUSH_ERR),
            tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR), tuple(10L, WorkCompletionStatus.WR_FLUSH_ERR));
    }

    @Test
    void shouldGiveRightsOfWindowUntilPeerTakesThem()
    {
        connect(ConnectOptions.DEFAULT);
        final MemoryWindow window = b.domain.allocateMemoryWindow();
        final int key = window.nextRemoteKey();
        qb.begin();
        qb.bindMemoryWindow(1, SIGNALED, window, key, b.region, b.at(64), 64, AccessFlags.REMOTE_WRITE);
        qb.complete();
        assertThat(await(b, 1).get(0).status()).isZero();
        a.word(0, 77);
        qb.postReceive(4, b.at(512), 64, b.key());
        post(() -> qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(64), key),
            () -> qa.sendWithInvalidate(2, SIGNALED, a.at(0), 8, a.key(), key));
        assertThat(await(a, 2)).extracting(Completion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        assertThat(b.word(64)).isEqualTo(77);
        final Completion receive = await(b, 1).get(0);
        assertThat(receive.flags()).isEqualTo(WorkCompletions.WITH_INVALIDATION);
        assertThat(receive.immediate()).isEqualTo(key);
        post(() -> qa.write(3, 0, a.at(0), 8, a.key(), b.at(64), key));
        assertThat(await(a, 1).get(0).status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    private interface Steps
    {
        void post(ReliableRulesTest test);
    }

    private static void assertFails(final ConnectOptions options, final int status, final Steps steps)
    {
        final ReliableRulesTest test = new ReliableRulesTest();
        test.connect(options);
        test.post(() -> steps.post(test));
        assertThat(test.await(test.a, 1).get(0).status()).isEqualTo(status);
        assertThat(test.qa.state()).isEqualTo(QueuePairState.ERR);
        assertThat(test.b.memory().asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE))
            .containsOnly(0);
    }

    private void connect(final ConnectOptions options)
    {
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
    }

    private void post(final Runnable... requests)
    {
        qa.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        assertThat(qa.complete()).isZero();
    }

    private List<Completion> await(final EngineNode node, final int count)
    {
        assertThat(network.run(() -> node.polled.size() >= count, LIMIT_NS)).isTrue();
        completedNs = network.nowNs();
        network.settle();
        final List<Completion> taken = List.copyOf(node.polled);
        node.polled.clear();
        assertThat(taken).hasSize(count);
        return taken;
    }

    private static void fill(final EngineNode node, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            node.memory().set(ValueLayout.JAVA_BYTE, i, (byte)(i * 7 + 1));
        }
    }

    /** A packet from a to b with a payload of equal bytes; of a WRITE to the first bytes of the region. */
    private RocePacket request(final int opcode, final int sequence, final int payloadBytes, final int value)
    {
        final RocePacket packet = new RocePacket();
        final int headerBytes = RoceOpcode.headerBytes(opcode);
        BthDescriptor.encode(packet.buffer(), 0, opcode, false, 0, qb.number(), true, PacketSequence.add(sequence, 0));
        if ((RoceOpcode.traits(opcode) & RoceOpcode.HAS_RETH) != 0)
        {
            RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), b.key(), payloadBytes);
        }
        packet.buffer().setMemory(headerBytes, payloadBytes, (byte)value);
        return seal(packet, headerBytes + payloadBytes);
    }

    private RocePacket writeFirst(final int key, final int lengthBytes)
    {
        final RocePacket packet = request(RoceOpcode.WRITE_FIRST, FIRST, 256, 1);
        RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), key, lengthBytes);
        new InvariantCrc().seal(packet);
        return packet;
    }

    private RocePacket fetchAdd(final int sequence)
    {
        final RocePacket packet = request(RoceOpcode.FETCH_ADD, sequence, 0, 0);
        AtomicEthDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), b.key(), 1, 0);
        return seal(packet, RoceOpcode.headerBytes(RoceOpcode.FETCH_ADD));
    }

    private RocePacket seal(final RocePacket packet, final int endBytes)
    {
        packet.lengthBytes(endBytes + InvariantCrc.LENGTH_BYTES);
        packet.path(a.address.gidHigh(), a.address.gidLow(), RocePath.ROCE_PORT,
            b.address.gidHigh(), b.address.gidLow(), RocePath.ROCE_PORT);
        new InvariantCrc().seal(packet);
        return packet;
    }
}
