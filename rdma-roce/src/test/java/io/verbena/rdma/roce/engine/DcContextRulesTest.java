package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Who has the only context of a target's device, and until when, where packets are lost, late or not read. */
class DcContextRulesTest
{
    private static final int CONNECT = RoceOpcode.DC | RoceOpcode.DC_CONNECT;
    private static final int ACCEPT = RoceOpcode.DC | RoceOpcode.DC_ACCEPT;
    private static final int RELEASE = RoceOpcode.DC | RoceOpcode.DC_RELEASE;
    private static final int WRITE = RoceOpcode.DC | RoceOpcode.WRITE_ONLY;
    private static final int ACK = RoceOpcode.DC | RoceOpcode.ACKNOWLEDGE;
    /** 67 ms. */
    private static final int PATIENT = 14;
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final long SOON_NS = 200_000;
    private static final long PAST_REST_NS = DcRoute.REST_NS + 100_000;

    private final LossyNetwork network = new LossyNetwork(3, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16, 1);
    private final SharedReceiveQueue shared = b.domain.createSharedReceiveQueue(16);
    private final DcTarget target = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 4);
    private final DcTarget second = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 4);
    private final AddressHandle toB = DcRig.to(a, b);
    private final RoceQueuePair initiator = DcRig.initiator(a, 256, PATIENT, 7);
    private final RoceQueuePair other = DcRig.initiator(a, 256, PATIENT, 7);
    private final List<RocePacket> sent = new ArrayList<>();

    @BeforeEach
    void watch()
    {
        network.observe((packet) -> sent.add(copyOf(packet)));
        a.word(0, 7);
    }

    private static RocePacket copyOf(final RocePacket packet)
    {
        final RocePacket copy = new RocePacket();
        copy.copyOf(packet);
        return copy;
    }

    private static Predicate<RocePacket> is(final int opcode)
    {
        return (packet) -> BthDescriptor.opcode(packet.buffer(), 0) == opcode;
    }

    private List<RocePacket> all(final int opcode)
    {
        return sent.stream().filter(is(opcode)).toList();
    }

    private void write(final RoceQueuePair queuePair, final DcTarget to, final int flags, final int offset)
    {
        queuePair.begin();
        queuePair.write(offset, flags, a.at(0), 8, a.key(), b.at(offset), b.key());
        queuePair.toDcTarget(toB, to.number(), DcRig.KEY);
        assertThat(queuePair.complete()).isZero();
    }

    private void awaitSuccess(final long limitNs)
    {
        assertThat(network.run(() -> !a.polled.isEmpty(), limitNs)).isTrue();
        assertThat(a.polled.removeFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    private void writeAtOnce(final RoceQueuePair queuePair, final DcTarget to, final int offset)
    {
        write(queuePair, to, SIGNALED, offset);
        awaitSuccess(SOON_NS);
        assertThat(b.word(offset)).isEqualTo(7);
    }

    private void repeat(final RocePacket packet)
    {
        network.inject(copyOf(packet), 0);
        network.elapse(SOON_NS);
    }

    // What is lost.

    @Test
    void shouldGetContextBackThoughReleaseWasLost()
    {
        network.lose(is(RELEASE));
        writeAtOnce(initiator, target, 0);
        network.elapse(PAST_REST_NS);
        assertThat(all(RELEASE)).hasSize(1);
        writeAtOnce(initiator, target, 8);
        writeAtOnce(initiator, second, 16);
        writeAtOnce(initiator, target, 24);
        assertThat(b.engine.counters().contextsMissed).isZero();
    }

    @Test
    void shouldFlushReceiveOfEarlierConnectionThatWasNotReleased()
    {
        shared.postReceive(5, b.at(4096), 4096, b.key());
        network.lose(is(RELEASE).or(is(RoceOpcode.DC | RoceOpcode.SEND_LAST)));
        initiator.begin();
        initiator.send(1, SIGNALED, a.at(0), 2000, a.key());
        initiator.toDcTarget(toB, target.number(), DcRig.KEY);
        assertThat(initiator.complete()).isZero();
        network.elapse(50_000);
        initiator.moveToError();
        network.elapse(SOON_NS);
        a.polled.clear();
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        DcRig.bringUp(initiator, 256, PATIENT, 7);
        writeAtOnce(initiator, target, 0);
        assertThat(b.polled).extracting(EngineNode.Completion::status)
            .containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    // What is late.

    @Test
    void shouldGiveNothingToLateCopyOfConnect()
    {
        writeAtOnce(initiator, target, 0);
        network.elapse(PAST_REST_NS);
        final RocePacket late = all(CONNECT).getFirst();
        sent.clear();
        repeat(late);
        assertThat(all(ACCEPT)).isEmpty();
        writeAtOnce(other, target, 8);
    }

    @Test
    void shouldGoOnWithLaterConnectionThoughEarlierOneIsAskedForAgain()
    {
        writeAtOnce(initiator, target, 0);
        final RocePacket late = all(CONNECT).getFirst();
        writeAtOnce(initiator, second, 8);
        sent.clear();
        final long staleBefore = b.engine.counters().stale;
        repeat(late);
        assertThat(b.engine.counters().stale).isEqualTo(staleBefore + 1);
        writeAtOnce(initiator, second, 16);
        assertThat(sent).noneMatch(is(CONNECT)).noneMatch(is(ACCEPT));
    }

    /** Another process at the address may have got the number, and begins anywhere. */
    @Test
    void shouldTakeAnyConnectionOfInitiatorThatWasSilent()
    {
        writeAtOnce(initiator, target, 0);
        network.elapse(PAST_REST_NS);
        final RocePacket late = all(CONNECT).getFirst();
        network.elapse(EngineOptions.DC_SILENCE_NS);
        sent.clear();
        repeat(late);
        assertThat(all(ACCEPT)).hasSize(1);
    }

    // What was not read.

    /** The target has given the context away meanwhile. */
    @Test
    void shouldConnectAnewAfterPauseWithAnswersNotRead()
    {
        final EngineNode c = network.addNode(32, 16);
        final RoceQueuePair third = DcRig.initiator(c, 256, PATIENT, 7);
        network.lose(is(ACK));
        write(initiator, target, SIGNALED, 0);
        write(initiator, target, SIGNALED, 8);
        network.elapse(5_000);
        final List<RocePacket> unread = all(ACK);
        assertThat(unread).hasSize(2);
        network.pause(a);
        network.elapse(EngineOptions.DC_SILENCE_NS);
        network.lose((packet) -> false);
        third.begin();
        third.write(1, SIGNALED, c.at(0), 8, c.key(), b.at(512), b.key());
        third.toDcTarget(DcRig.to(c, b), target.number(), DcRig.KEY);
        assertThat(third.complete()).isZero();
        network.elapse(PAST_REST_NS);
        assertThat(c.polled).hasSize(1);
        sent.clear();
        write(initiator, target, SIGNALED, 16);
        a.engine.onPacket(unread.get(0));
        a.engine.doWork();
        a.engine.onPacket(unread.get(1));
        network.pause(null);
        awaitSuccess(SOON_NS);
        awaitSuccess(SOON_NS);
        awaitSuccess(SOON_NS);
        assertThat(b.word(16)).isEqualTo(7);
        assertThat(all(CONNECT)).hasSize(1);
    }

    // What is not asked for.

    @Test
    void shouldGoToAnotherTargetWithoutDelayBehindUnsignalledRequest()
    {
        write(initiator, target, 0, 0);
        write(initiator, second, 0, 8);
        write(initiator, target, SIGNALED, 16);
        awaitSuccess(SOON_NS);
        assertThat(b.word(0) + b.word(8) + b.word(16)).isEqualTo(21);
        assertThat(all(WRITE)).hasSize(3);
    }

    // What is open.

    @Test
    void shouldLeaveNothingBehindTargetWhoseQueueIsClosed()
    {
        final RoceCompletionQueue closed = b.engine.createCompletionQueue(4, null);
        closed.close();
        final SharedReceiveQueue queue = b.domain.createSharedReceiveQueue(4);
        assertThatThrownBy(() -> b.domain.createDcTarget(
            new DcTargetOptions(closed, queue, DcRig.KEY, AccessFlags.ALL_REMOTE, 4)))
            .isInstanceOf(RdmaException.class);
        queue.close();
    }

    @Test
    void shouldLeaveNothingBehindQueuePairWhoseQueueIsClosed()
    {
        final RoceProtectionDomain domain = b.engine.createProtectionDomain();
        final RoceCompletionQueue open = b.engine.createCompletionQueue(4, null);
        final RoceCompletionQueue closed = b.engine.createCompletionQueue(4, null);
        closed.close();
        final SharedReceiveQueue queue = domain.createSharedReceiveQueue(4);
        final QueuePairOptions options = new QueuePairOptions().type(QueuePairType.RC)
            .capabilities(EngineNode.CAPABILITIES).sharedReceiveQueue(queue);
        assertThatThrownBy(() -> domain.createQueuePair(options.completions(open, closed)))
            .isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> domain.createQueuePair(options.completions(closed, open)))
            .isInstanceOf(RdmaException.class);
        queue.close();
        open.close();
        domain.close();
    }

    @Test
    void shouldAgreeOnPathMtuWithDeviceWhoseDatagramsAreOfAnotherLength()
    {
        final EngineNode odd = network.addNodeOfDatagrams(1400);
        final EngineNode full = network.addNodeOfDatagrams(4096);
        final DcTarget atOdd = DcRig.target(odd, odd.domain.createSharedReceiveQueue(4), AccessFlags.ALL_REMOTE, 4);
        final RoceQueuePair wide = DcRig.initiator(full, 4096, PATIENT, 7);
        wide.begin();
        wide.write(1, SIGNALED, full.at(0), 5000, full.key(), odd.at(8192), odd.key());
        wide.toDcTarget(DcRig.to(full, odd), atOdd.number(), DcRig.KEY);
        assertThat(wide.complete()).isZero();
        assertThat(network.run(() -> !full.polled.isEmpty(), LIMIT_NS)).isTrue();
        assertThat(full.polled.getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }
}
