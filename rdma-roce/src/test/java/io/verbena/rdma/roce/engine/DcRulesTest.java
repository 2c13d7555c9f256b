package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DcAckEthDescriptor;
import io.verbena.rdma.roce.wire.DcEthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/** What a DC initiator and a target do in each case, packet by packet. */
class DcRulesTest
{
    private static final int CONNECT = RoceOpcode.DC | RoceOpcode.DC_CONNECT;
    private static final int ACCEPT = RoceOpcode.DC | RoceOpcode.DC_ACCEPT;
    private static final int RELEASE = RoceOpcode.DC | RoceOpcode.DC_RELEASE;
    private static final int WRITE = RoceOpcode.DC | RoceOpcode.WRITE_ONLY;
    private static final int ADD = RoceOpcode.DC | RoceOpcode.FETCH_ADD;
    private static final int ACK = RoceOpcode.DC | RoceOpcode.ACKNOWLEDGE;
    /** 67 ms. */
    private static final int PATIENT = 14;
    /** 1 ms. */
    private static final int HASTY = 8;
    private static final long LIMIT_NS = 60_000_000_000L;

    private final LossyNetwork network = new LossyNetwork(3, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16, 2);
    private final SharedReceiveQueue shared = b.domain.createSharedReceiveQueue(16);
    private final DcTarget target = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 4);
    private final AddressHandle toB = DcRig.to(a, b);
    private final RoceQueuePair initiator = DcRig.initiator(a, 256, PATIENT, 7);
    private final List<RocePacket> sent = new ArrayList<>();

    @BeforeEach
    void watch()
    {
        network.observe((packet) ->
        {
            final RocePacket copy = new RocePacket();
            copy.copyOf(packet);
            sent.add(copy);
        });
        a.word(0, 7);
    }

    private List<Integer> opcodes()
    {
        return sent.stream().map((packet) -> BthDescriptor.opcode(packet.buffer(), 0)).toList();
    }

    private RocePacket first(final int opcode)
    {
        return sent.stream().filter(is(opcode)).findFirst().orElseThrow();
    }

    private static Predicate<RocePacket> is(final int opcode)
    {
        return (packet) -> BthDescriptor.opcode(packet.buffer(), 0) == opcode;
    }

    private static int context(final RocePacket packet)
    {
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        final int offset = RoceOpcode.dcOffset(opcode);
        return (RoceOpcode.traits(opcode) & RoceOpcode.IS_RESPONSE) != 0 ?
            DcAckEthDescriptor.context(packet.buffer(), offset) : DcEthDescriptor.context(packet.buffer(), offset);
    }

    private void post(final RoceQueuePair queuePair, final DcTarget to, final long key, final Runnable request)
    {
        queuePair.begin();
        request.run();
        queuePair.toDcTarget(toB, to.number(), key);
        assertThat(queuePair.complete()).isZero();
    }

    private void write(final RoceQueuePair queuePair, final long wrId, final int offset)
    {
        post(queuePair, target, DcRig.KEY,
            () -> queuePair.write(wrId, SIGNALED, a.at(0), 8, a.key(), b.at(offset), b.key()));
    }

    private void add(final RoceQueuePair queuePair, final DcTarget to)
    {
        post(queuePair, to, DcRig.KEY,
            () -> queuePair.fetchAdd(1, SIGNALED, a.at(64), a.key(), b.at(0), b.key(), 1));
    }

    private void send(final RoceQueuePair queuePair, final long wrId, final int lengthBytes)
    {
        post(queuePair, target, DcRig.KEY, () -> queuePair.send(wrId, SIGNALED, a.at(0), lengthBytes, a.key()));
    }

    private Completion await()
    {
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        return a.polled.removeFirst();
    }

    private void awaitSuccess()
    {
        assertThat(await().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    private void pass(final long timeNs)
    {
        network.elapse(timeNs);
    }

    private void repeat(final RocePacket packet)
    {
        final RocePacket copy = new RocePacket();
        copy.copyOf(packet);
        network.inject(copy, 0);
    }

    // Connecting.

    @Test
    void shouldConnectOnceForRequestsThatFollowEachOther()
    {
        write(initiator, 1, 0);
        awaitSuccess();
        write(initiator, 2, 8);
        awaitSuccess();
        assertThat(opcodes()).containsExactly(CONNECT, ACCEPT, WRITE, ACK, WRITE, ACK);
        assertThat(b.word(8)).isEqualTo(7);
        assertThat(sent.subList(2, 6)).extracting(DcRulesTest::context).containsOnly(context(sent.get(1)));
    }

    @Test
    void shouldGiveContextBackAfterRestAndGetAnotherNumber()
    {
        write(initiator, 1, 0);
        awaitSuccess();
        pass(DcRoute.REST_NS - 10_000);
        assertThat(opcodes()).doesNotContain(RELEASE);
        pass(20_000);
        assertThat(opcodes()).endsWith(RELEASE);
        final int number = context(sent.get(1));
        sent.clear();
        write(initiator, 2, 8);
        awaitSuccess();
        assertThat(opcodes()).containsExactly(CONNECT, ACCEPT, WRITE, ACK);
        assertThat(context(sent.get(1))).isNotEqualTo(number).isNotZero();
    }

    @Test
    void shouldGiveContextBackWhenItGoesToAnotherTarget()
    {
        final DcTarget other = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 4);
        add(initiator, target);
        add(initiator, other);
        add(initiator, target);
        awaitSuccess();
        awaitSuccess();
        awaitSuccess();
        assertThat(opcodes().stream().filter((opcode) -> opcode != CONNECT && opcode != ACCEPT))
            .filteredOn((opcode) -> opcode == RELEASE || opcode == ADD)
            .containsExactly(ADD, RELEASE, ADD, RELEASE, ADD);
        assertThat(b.word(0)).isEqualTo(3);
    }

    @Test
    void shouldAskAgainWhenConnectOrAcceptIsLost()
    {
        final List<Integer> lost = new ArrayList<>(List.of(CONNECT, CONNECT, ACCEPT));
        network.lose((packet) -> lost.remove((Integer)BthDescriptor.opcode(packet.buffer(), 0)));
        write(initiator, 1, 0);
        awaitSuccess();
        assertThat(opcodes()).containsExactly(CONNECT, CONNECT, CONNECT, ACCEPT, CONNECT, ACCEPT, WRITE, ACK);
        assertThat(sent.stream().filter(is(ACCEPT)).map(DcRulesTest::context).distinct()).hasSize(1);
        // The other context is free.
        final RoceQueuePair second = DcRig.initiator(a, 256, HASTY, 1);
        write(second, 2, 0);
        awaitSuccess();
    }

    @Test
    void shouldFailWhenNobodyAnswers()
    {
        final RoceQueuePair hasty = DcRig.initiator(a, 256, HASTY, 2);
        network.lose(is(CONNECT));
        write(hasty, 1, 0);
        write(hasty, 2, 0);
        final long startNs = network.nowNs();
        assertThat(await().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(await().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(network.nowNs() - startNs).isBetween(7_000_000L, 8_000_000L);
        assertThat(hasty.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.word(0)).isZero();
    }

    @Test
    void shouldConnectAgainAfterReset()
    {
        write(initiator, 1, 0);
        awaitSuccess();
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        DcRig.bringUp(initiator, 256, PATIENT, 7);
        write(initiator, 2, 8);
        awaitSuccess();
        assertThat(b.word(8)).isEqualTo(7);
        assertThat(opcodes()).containsExactly(CONNECT, ACCEPT, WRITE, ACK, RELEASE, CONNECT, ACCEPT, WRITE, ACK);
    }

    @Test
    void shouldUseShorterMtuAndSmallerDepthOfBoth()
    {
        final DcTarget narrow = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 1);
        final RoceQueuePair wide = DcRig.initiator(a, 4096, PATIENT, 7);
        wide.begin();
        for (int i = 0; i < 4; i++)
        {
            wide.read(i, SIGNALED, a.at(8192 * i), 5000, a.key(), b.at(0), b.key());
            wide.toDcTarget(toB, narrow.number(), DcRig.KEY);
        }
        assertThat(wide.complete()).isZero();
        for (int i = 0; i < 4; i++)
        {
            awaitSuccess();
        }
        assertThat(sent).extracting(RocePacket::lengthBytes).allSatisfy(
            (length) -> assertThat(length).isLessThanOrEqualTo(1024 + 32)).anySatisfy(
            (length) -> assertThat(length).isGreaterThan(1024));
    }

    @Test
    void shouldRefuseReadWhereTargetAnswersNone()
    {
        final DcTarget none = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 0);
        post(initiator, none, DcRig.KEY, () -> initiator.read(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()));
        assertThat(await().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    // What is late.

    @Test
    void shouldExecuteNothingOfEarlierConnectionAgain()
    {
        shared.postReceive(9, b.at(4096), 64, b.key());
        shared.postReceive(10, b.at(4096), 64, b.key());
        add(initiator, target);
        awaitSuccess();
        write(initiator, 2, 16);
        awaitSuccess();
        send(initiator, 3, 8);
        awaitSuccess();
        final List<RocePacket> old = List.copyOf(sent);
        pass(10_000_000);
        b.word(16, 99);
        old.forEach(this::repeat);
        pass(10_000_000);
        add(initiator, target);
        old.forEach(this::repeat);
        awaitSuccess();
        old.forEach(this::repeat);
        pass(10_000_000);
        assertThat(b.word(0)).isEqualTo(2);
        assertThat(b.word(16)).isEqualTo(99);
        assertThat(b.polled).hasSize(1);
        assertThat(a.polled).isEmpty();
        assertThat(initiator.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldNotEndConnectionForReleaseOfEarlierOne()
    {
        add(initiator, target);
        awaitSuccess();
        pass(10_000_000);
        final RocePacket late = first(RELEASE);
        add(initiator, target);
        awaitSuccess();
        repeat(late);
        pass(1000);
        sent.clear();
        add(initiator, target);
        awaitSuccess();
        assertThat(opcodes()).startsWith(ADD);
    }

    /** Its context may have been taken from it. */
    @Test
    void shouldConnectAnewAfterLongPause()
    {
        network.lose(is(RELEASE));
        add(initiator, target);
        awaitSuccess();
        network.pause(a);
        pass(EngineOptions.DC_SILENCE_NS);
        sent.clear();
        network.pause(null);
        add(initiator, target);
        awaitSuccess();
        assertThat(opcodes()).containsSubsequence(CONNECT, ACCEPT, ADD);
    }

    // Keys and rights.

    @Test
    void shouldCheckKeyBeforeAnythingElse()
    {
        add(initiator, target);
        awaitSuccess();
        final long violations = target.accessKeyViolations();
        final RocePacket forged = first(ADD);
        forged.buffer().putByte(RoceOpcode.dcOffset(ADD) + 3, (byte)~forged.buffer().getByte(
            RoceOpcode.dcOffset(ADD) + 3));
        BthDescriptor.encode(forged.buffer(), 0, ADD, false, 0, target.number(), true,
            BthDescriptor.sequence(forged.buffer(), 0) + 1);
        new InvariantCrc().seal(forged);
        sent.clear();
        repeat(forged);
        pass(1000);
        assertThat(target.accessKeyViolations()).isEqualTo(violations + 1);
        assertThat(sent).isEmpty();
        assertThat(b.word(0)).isEqualTo(1);
    }

    @Test
    void shouldTakeNoContextForWrongKey()
    {
        for (int i = 0; i < 4; i++)
        {
            final RoceQueuePair wrong = DcRig.initiator(a, 256, PATIENT, 7);
            post(wrong, target, DcRig.KEY + 1, () -> wrong.write(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()));
            assertThat(await().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
        assertThat(target.accessKeyViolations()).isEqualTo(4);
        assertThat(b.engine.counters().contextsMissed).isZero();
        add(initiator, target);
        awaitSuccess();
    }

    @Test
    void shouldAnswerFloodOfWrongKeysNotMoreThanNowAndThen()
    {
        network.lose(is(ACCEPT));
        final RoceQueuePair wrong = DcRig.initiator(a, 256, PATIENT, 7);
        post(wrong, target, DcRig.KEY + 1, () -> wrong.write(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()));
        pass(10_000);
        final RocePacket forged = first(CONNECT);
        sent.clear();
        for (int i = 0; i < 20_000; i++)
        {
            repeat(forged);
        }
        network.deliverAll();
        assertThat(opcodes()).hasSize(63).containsOnly(ACCEPT);
        assertThat(target.accessKeyViolations()).isGreaterThan(20_000);
        // Time brings more, and others were not shut out.
        pass(1_000_000);
        sent.clear();
        repeat(forged);
        network.deliverAll();
        assertThat(opcodes()).hasSize(1);
        network.lose((packet) -> false);
        add(initiator, target);
        awaitSuccess();
    }

    @Test
    void shouldRefuseDestinationThatIsNoDeviceOfTheProject()
    {
        final AddressHandle foreign = a.domain.createAddressHandle(b.address, false);
        initiator.begin();
        initiator.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key());
        assertThatThrownBy(() -> initiator.toDcTarget(foreign, target.number(), DcRig.KEY))
            .isInstanceOf(UnsupportedVerbException.class).hasMessageContaining("connect an RC queue pair");
        assertThatThrownBy(initiator::complete).isInstanceOf(RdmaException.class);
        pass(1_000_000);
        assertThat(sent).isEmpty();
    }

    // Contexts.

    @Test
    void shouldWaitForContextUntilOneIsFree()
    {
        final RoceQueuePair[] holders = {DcRig.initiator(a, 256, PATIENT, 7), DcRig.initiator(a, 256, PATIENT, 7)};
        send(holders[0], 1, 8);
        send(holders[1], 2, 8);
        pass(1_000_000);
        final RoceQueuePair hasty = DcRig.initiator(a, 256, HASTY, 1);
        write(hasty, 3, 0);
        assertThat(await()).extracting(Completion::wrId, Completion::status)
            .containsExactly(3L, WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(b.engine.counters().contextsMissed).isPositive();
        write(initiator, 4, 0);
        // Those that have one and wait for a receive are heard of all the time, and keep it.
        pass(EngineOptions.DC_SILENCE_NS / 10);
        assertThat(b.word(0)).isZero();
        shared.postReceive(5, b.at(4096), 64, b.key());
        assertThat(network.run(() -> a.polled.size() == 2, LIMIT_NS)).isTrue();
        assertThat(a.polled).extracting(Completion::wrId, Completion::status)
            .containsExactlyInAnyOrder(tuple(1L, 0), tuple(4L, 0));
        assertThat(b.word(0)).isEqualTo(7);
    }

    @Test
    void shouldTakeContextFromSilentInitiatorsOnly()
    {
        network.lose(is(RELEASE));
        final RoceQueuePair silent = DcRig.initiator(a, 256, PATIENT, 7);
        write(silent, 1, 0);
        awaitSuccess();
        final RoceQueuePair other = DcRig.initiator(a, 256, PATIENT, 7);
        write(other, 2, 0);
        awaitSuccess();
        final long startNs = network.nowNs();
        final RoceQueuePair eager = DcRig.initiator(a, 256, 20, 7);
        write(eager, 3, 8);
        awaitSuccess();
        assertThat(network.nowNs() - startNs).isBetween(
            EngineOptions.DC_SILENCE_NS - 100_000, EngineOptions.DC_SILENCE_NS + 20_000_000);
    }

    @Test
    void shouldFlushReceiveOfInitiatorThatFails()
    {
        shared.postReceive(5, b.at(4096), 4096, b.key());
        network.lose(is(RoceOpcode.DC | RoceOpcode.SEND_LAST));
        send(initiator, 1, 2000);
        pass(50_000);
        initiator.moveToError();
        assertThat(await().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        pass(1_000_000);
        assertThat(b.polled).extracting(Completion::wrId, Completion::status, Completion::number)
            .containsExactly(tuple(5L, WorkCompletionStatus.WR_FLUSH_ERR, target.number()));
        assertThat(target.state()).isEqualTo(QueuePairState.RTR);
    }

    @Test
    void shouldNameTargetOfReceivesPolledLate()
    {
        final DcTarget other = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 4);
        shared.postReceive(5, b.at(4096), 64, b.key());
        shared.postReceive(6, b.at(4096), 64, b.key());
        b.onCompletion = b.polled::add;
        post(initiator, target, DcRig.KEY, () -> initiator.send(1, SIGNALED, a.at(0), 8, a.key()));
        post(initiator, other, DcRig.KEY, () -> initiator.send(2, SIGNALED, a.at(0), 8, a.key()));
        awaitSuccess();
        awaitSuccess();
        assertThat(b.polled).extracting(Completion::number).containsExactly(target.number(), other.number());
    }

    // Ends.

    @Test
    void shouldLetNothingLandOnceTargetIsClosed()
    {
        shared.postReceive(5, b.at(4096), 4096, b.key());
        network.lose(is(RoceOpcode.DC | RoceOpcode.SEND_LAST));
        send(initiator, 1, 2000);
        pass(50_000);
        assertThat(b.word(4096)).isEqualTo(7);
        network.lose((packet) -> false);
        target.close();
        target.close();
        assertThat(target.state()).isEqualTo(QueuePairState.RESET);
        b.memory().asSlice(4096, 4096).fill((byte)0);
        assertThat(await().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(b.polled).isEmpty();
        assertThat(b.memory().asSlice(4096, 4096).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        // Its queues can be closed, and every receive has its slot back.
        for (int i = 0; i < 16; i++)
        {
            assertThat(shared.postReceive(i, b.at(0), 8, b.key())).isZero();
        }
        shared.close();
        b.completions.close();
    }

    @Test
    void shouldFailTargetWhoseCompletionsHaveNoPlace()
    {
        final RoceCompletionQueue small = b.engine.createCompletionQueue(1, null);
        final DcTarget narrow = b.domain.createDcTarget(
            new DcTargetOptions(small, shared, DcRig.KEY, AccessFlags.ALL_REMOTE, 4));
        for (int i = 0; i < 3; i++)
        {
            shared.postReceive(i, b.at(4096), 64, b.key());
            post(initiator, narrow, DcRig.KEY, () -> initiator.send(1, SIGNALED, a.at(0), 8, a.key()));
        }
        network.settle();
        assertThat(narrow.state()).isEqualTo(QueuePairState.ERR);
        assertThat(target.state()).isEqualTo(QueuePairState.RTR);
    }

    @Test
    void shouldKeepQueuesOpenThatTargetUses()
    {
        assertThatThrownBy(shared::close).isInstanceOf(RdmaException.class);
        assertThatThrownBy(b.completions::close).isInstanceOf(RdmaException.class);
        assertThatThrownBy(b.domain::close).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> DcRig.target(b, shared, 0, EngineOptions.MAX_READ_ATOMIC + 1))
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("maxReadAtomic=" + (EngineOptions.MAX_READ_ATOMIC + 1));
        assertThatThrownBy(() -> DcRig.target(b, a.domain.createSharedReceiveQueue(1), 0, 1))
            .isInstanceOf(RdmaException.class);
    }
}
