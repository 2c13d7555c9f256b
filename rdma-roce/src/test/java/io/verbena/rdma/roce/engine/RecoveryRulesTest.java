package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Losses one after the other: each is repaired as soon as it shows, not by a time-out. */
class RecoveryRulesTest
{
    private static final long LIMIT_NS = 1_000_000_000L;
    private static final int MTU = 256;
    private static final int PACKETS = 6;
    private static final int BYTES = PACKETS * MTU;
    /** As a code: 67 ms. */
    private static final int PATIENT = 14;
    /** As a code: 262 us. */
    private static final int IMPATIENT = 6;
    /** As a code: 10 us. */
    private static final int SHORT_RNR = 1;
    private static final long SLOW_NS = 350_000;
    private static final long SOON_NS = 100_000;

    private final LossyNetwork network = new LossyNetwork(3, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNodeAtOwnPort(64, 16);
    private final EngineNode b = network.addNodeAtOwnPort(64, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    /** What is lost next, in this order; all else arrives. */
    private final Deque<Predicate<RocePacket>> losses = new ArrayDeque<>();

    private void connect(final int timeout)
    {
        final ConnectOptions options = new ConnectOptions(MTU, 0, 16, timeout, 7, 7, SHORT_RNR, AccessFlags.ALL_REMOTE);
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        network.lose((packet) ->
        {
            final boolean isLost = !losses.isEmpty() && losses.getFirst().test(packet);
            if (isLost)
            {
                losses.removeFirst();
            }
            return isLost;
        });
    }

    private Predicate<RocePacket> from(final EngineNode node, final int sequence)
    {
        return (packet) -> packet.sourceLow() == node.address.gidLow() &&
            BthDescriptor.sequence(packet.buffer(), 0) == sequence;
    }

    /** Passes over the packets before the one of that number. */
    private static Predicate<RocePacket> nth(final Predicate<RocePacket> packets, final int number)
    {
        final int[] seen = {0};
        return (packet) -> packets.test(packet) && ++seen[0] == number;
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

    private long await(final int completions)
    {
        final long startNs = network.nowNs();
        assertThat(network.run(() -> a.polled.size() == completions, LIMIT_NS)).isTrue();
        assertThat(a.polled).allSatisfy(completion -> assertThat(completion.status()).isZero());
        a.polled.clear();
        return network.nowNs() - startNs;
    }

    /** No time passes until an answer is late. */
    private void awaitUnasked(final int completions)
    {
        final long before = a.engine.counters().probes;
        await(completions);
        assertThat(losses).isEmpty();
        assertThat(a.engine.counters().probes).isEqualTo(before);
        assertThat(a.engine.counters().timeouts).isZero();
    }

    private void write(final int lengthBytes)
    {
        qa.write(1, SIGNALED, a.at(0), lengthBytes, a.key(), b.at(0), b.key());
    }

    private void read()
    {
        qa.read(1, SIGNALED, a.at(0), BYTES, a.key(), b.at(4_096), b.key());
    }

    /** The way was slow for long and is fast now: a usual round trip is still taken to be long. */
    private int learnSlowWay()
    {
        network.pass(null, SLOW_NS);
        for (int i = 0; i < 8; i++)
        {
            post(() -> write(8));
            await(1);
        }
        network.pass(null, 0);
        post(() -> write(8));
        await(1);
        return 9;
    }

    @Test
    void shouldRepairTheNextLossAtOnceAfterProgress()
    {
        connect(PATIENT);
        final int first = learnSlowWay();
        // Lost the first time, and another one behind it when it is sent again.
        losses.addAll(List.of(from(a, first + 1), nth(from(a, first + 4), 2)));
        post(() -> write(BYTES));
        awaitUnasked(1);
    }

    @Test
    void shouldRepairTheNextLossAtOnceAfterAWaitForAReceive()
    {
        connect(PATIENT);
        final int first = learnSlowWay();
        final Predicate<RocePacket> lost = from(a, first);
        losses.addAll(List.of(lost));
        post(() -> qa.send(1, SIGNALED, a.at(0), 8, a.key()), () -> write(BYTES));
        // It comes when it is sent again, meets no receive, and is lost when the wait is over.
        assertThat(network.run(() -> b.engine.counters().notReady > 0, LIMIT_NS)).isTrue();
        losses.add(lost);
        assertThat(qb.postReceive(1, b.at(0), 8, b.key())).isZero();
        awaitUnasked(2);
    }

    @Test
    void shouldRepairALossAtOnceAfterATimeout()
    {
        connect(IMPATIENT);
        // A response; the request that asks for all again; and when the time is over a response once more.
        losses.addAll(List.of(from(b, 0), from(a, 0), from(b, 0)));
        post(this::read);
        await(1);
        assertThat(losses).isEmpty();
        assertThat(a.engine.counters().timeouts).isEqualTo(1);
    }

    @Test
    void shouldRepairTheFirstLossAtOnceAfterReset()
    {
        connect(IMPATIENT);
        losses.addAll(List.of(from(b, 0), from(a, 0)));
        post(this::read);
        assertThat(network.run(losses::isEmpty, LIMIT_NS)).isTrue();
        qa.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        qb.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        network.elapse(SOON_NS);
        connect(IMPATIENT);
        losses.add(from(b, 0));
        post(this::read);
        assertThat(await(1)).isLessThan(SOON_NS);
        assertThat(losses).isEmpty();
        assertThat(a.engine.counters().timeouts).isZero();
    }

    @Test
    void shouldRepairALostResponseBeforeAWrite()
    {
        connect(PATIENT);
        losses.add(from(b, 2));
        post(this::read, () -> write(BYTES));
        assertThat(await(2)).isLessThan(SOON_NS);
        assertThat(a.engine.counters().timeouts + a.engine.counters().probes).isZero();
    }

    /** All the responses behind a lost one show the same loss. */
    @Test
    void shouldGoBackOnceForOneLoss()
    {
        connect(PATIENT);
        losses.add(from(b, 0));
        post(this::read);
        awaitUnasked(1);
        assertThat(a.engine.counters().resent).isEqualTo(1);
    }

    /** One packet behind the first loss shows it, two are lost the second time: none says so twice. */
    @Test
    void shouldRefuseAgainAfterTheMissingWriteWasExecuted()
    {
        connect(PATIENT);
        losses.add(from(a, PACKETS - 2));
        post(() -> write(BYTES));
        awaitUnasked(1);
        assertLossOfTwoShows(PACKETS);
    }

    @Test
    void shouldRefuseAgainAfterTheMissingReadWasExecuted()
    {
        connect(PATIENT);
        losses.add(from(a, 0));
        post(this::read, () -> write(8));
        awaitUnasked(2);
        assertLossOfTwoShows(PACKETS + 1);
    }

    @Test
    void shouldRefuseAgainAfterReset()
    {
        connect(PATIENT);
        losses.add(from(a, 0));
        post(() -> write(2 * MTU));
        a.engine.doWork();
        network.deliverAll();
        assertThat(b.engine.counters().outOfSequence).isEqualTo(1);
        qa.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        qb.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        network.elapse(SOON_NS);
        connect(PATIENT);
        assertLossOfTwoShows(0);
    }

    private void assertLossOfTwoShows(final int next)
    {
        losses.addAll(List.of(from(a, next), from(a, next + 1)));
        post(() -> write(BYTES));
        awaitUnasked(1);
    }

    /** What was sent before is repeated together once there is a receive: nothing of it was lost. */
    @Test
    void shouldTakeNoLateRefusalForALossWhileItWaitsForAReceive()
    {
        connect(PATIENT);
        post(() -> qa.send(1, SIGNALED, a.at(0), 8, a.key()), () -> write(BYTES));
        a.engine.doWork();
        network.deliverAll();
        network.deliverAll();
        assertThat(b.engine.counters().notReady).isEqualTo(1);
        a.engine.onPacket(lateRefusal());
        assertThat(qb.postReceive(1, b.at(0), 8, b.key())).isZero();
        final int[] sent = {0};
        network.observe((packet) -> sent[0] += packet.sourceLow() == a.address.gidLow() ? 1 : 0);
        assertThat(network.run(() -> sent[0] > 0, LIMIT_NS)).isTrue();
        assertThat(sent[0]).isEqualTo(1 + PACKETS);
        awaitUnasked(2);
    }

    private RocePacket lateRefusal()
    {
        final RocePacket packet = new RocePacket();
        AethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, AethDescriptor.SEQUENCE_ERROR, 0);
        return ofPeer(packet, RoceOpcode.RC | RoceOpcode.ACKNOWLEDGE, a, qa);
    }

    /** A packet of b whose headers behind the BTH are in place. */
    private RocePacket ofPeer(
        final RocePacket packet, final int opcode, final EngineNode node, final RoceQueuePair queuePair)
    {
        BthDescriptor.encode(packet.buffer(), 0, opcode, false, 0, queuePair.number(), false, 0);
        packet.lengthBytes(RoceOpcode.headerBytes(opcode) + InvariantCrc.LENGTH_BYTES);
        packet.path(b.address.gidHigh(), b.address.gidLow(), (int)b.address.serviceLocator(),
            node.address.gidHigh(), node.address.gidLow(), (int)node.address.serviceLocator());
        new InvariantCrc().seal(packet);
        return packet;
    }

    /** The answer that is under way says it all. */
    @Test
    void shouldRepeatNothingToDrainWhatHasAskedForAnAnswer()
    {
        connect(PATIENT);
        post(() -> qa.fetchAdd(1, SIGNALED, a.at(0), a.key(), b.at(0), b.key(), 1));
        a.engine.doWork();
        qa.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        awaitUnasked(1);
        assertThat(a.engine.counters().resent).isZero();
        assertThat(a.engine.events().poll().type()).isEqualTo(AsyncEventType.SQ_DRAINED);
    }

    /** Nothing of the request before asks for an answer, as the one that fails was to follow. */
    @Test
    void shouldFailInItsTurnAtOnce()
    {
        connect(PATIENT);
        post(() -> qa.write(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.write(2, SIGNALED, a.at(0), 8, a.key() + 1, b.at(0), b.key()));
        assertThat(network.run(() -> !a.polled.isEmpty(), SOON_NS)).isTrue();
        assertThat(a.polled.getFirst().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(a.engine.counters().probes).isZero();
    }

    @Test
    void shouldSendLessAtOnceAfterALoss()
    {
        connect(PATIENT);
        post(() -> write(8));
        await(1);
        losses.add(from(a, 3));
        post(() -> write(BYTES));
        awaitUnasked(1);
        final int[] sent = {0};
        network.observe((packet) -> sent[0] += packet.sourceLow() == a.address.gidLow() ? 1 : 0);
        post(() -> write(64 * MTU));
        a.engine.doWork();
        assertThat(sent[0]).isEqualTo(CongestionWindow.INITIAL_PACKETS * 3 / 4);
    }

    /** Its memory is gone in the middle of it, and its first packets are refused; both end it, and only it. */
    @Test
    void shouldFailOnceWhatFailsOnBothSides()
    {
        connect(PATIENT);
        final MemoryRegion region = a.domain.register(a.memory().asSlice(0, BYTES), AccessFlags.ALL_REMOTE);
        final int[] sent = {0};
        network.observe((packet) -> a.isFull = packet.sourceLow() == a.address.gidLow() && ++sent[0] == 3);
        post(() -> qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.write(2, SIGNALED, a.at(0), BYTES, region.localKey(), b.at(0), b.key() + 1));
        a.engine.doWork();
        region.close();
        a.isFull = false;
        network.settle();
        assertThat(a.polled).extracting(EngineNode.Completion::wrId, EngineNode.Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.SUCCESS), tuple(2L, WorkCompletionStatus.LOC_PROT_ERR));
    }

    /** It says nothing of the READ, whose response was lost; and whoever has refused answers no READ any more. */
    @Test
    void shouldNotTakeARefusalForThatOfTheReadBeforeIt()
    {
        connect(PATIENT);
        losses.add(from(b, 0));
        post(() -> qa.read(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key()),
            () -> qa.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key() + 1));
        network.settle();
        assertThat(a.polled).extracting(EngineNode.Completion::wrId, EngineNode.Completion::status).containsExactly(
            tuple(1L, WorkCompletionStatus.RETRY_EXC_ERR), tuple(2L, WorkCompletionStatus.WR_FLUSH_ERR));
    }

    /** What was sent before a wait of milliseconds was answered after it: that is no round trip to wait for. */
    @Test
    void shouldAskForALateAnswerAsSoonAsBeforeAWaitForAReceive()
    {
        connect(PATIENT);
        post(() -> write(8));
        await(1);
        post(() -> qa.send(1, SIGNALED, a.at(0), 8, a.key()));
        network.elapse(50 * SOON_NS);
        assertThat(qb.postReceive(1, b.at(0), 8, b.key())).isZero();
        await(1);
        losses.add(from(a, 2));
        post(() -> write(8));
        assertThat(await(1)).isLessThan(2 * SOON_NS);
        assertThat(losses).isEmpty();
    }

    /** None of it asks for an answer, so that the window would stay full. */
    @Test
    void shouldSendAPacketThatAsksWhenTheWindowHasShrunkBelowWhatIsInFlight()
    {
        final EngineNode c = network.addNodeAtOwnPort(16, 16);
        final RoceQueuePair qc = c.createQueuePair(QueuePairType.RC, null);
        final RoceQueuePair peer = b.createQueuePair(QueuePairType.RC, null);
        final ConnectOptions options =
            new ConnectOptions(MTU, 0, 16, PATIENT, 7, 7, SHORT_RNR, AccessFlags.ALL_REMOTE);
        EngineNode.connect(qc, b, peer, options);
        EngineNode.connect(peer, c, qc, options);
        final int[] sent = {0};
        network.observe((packet) ->
            c.isFull |= packet.sourceLow() == c.address.gidLow() && ++sent[0] == 8);
        qc.begin();
        qc.write(1, SIGNALED, c.at(0), 8, c.key(), b.at(0), b.key());
        qc.write(2, SIGNALED, c.at(0), 2 * BYTES, c.key(), b.at(0), b.key());
        assertThat(qc.complete()).isZero();
        c.engine.doWork();
        notifyOfCongestion(c, qc);
        network.deliverAll();
        b.engine.doWork();
        network.deliverAll();
        // The answer to the first packet ends the round trip: a second notification counts.
        notifyOfCongestion(c, qc);
        c.isFull = false;
        assertThat(network.run(() -> c.polled.size() == 2, LIMIT_NS)).isTrue();
        assertThat(c.engine.counters().notifications).isEqualTo(2);
        assertThat(c.engine.counters().probes).isZero();
        assertThat(c.engine.counters().resent).isZero();
    }

    private void notifyOfCongestion(final EngineNode node, final RoceQueuePair queuePair)
    {
        final RocePacket packet = new RocePacket();
        packet.buffer().setMemory(0, RoceOpcode.headerBytes(RoceOpcode.CONGESTION_NOTIFICATION), (byte)0);
        node.engine.onPacket(ofPeer(packet, RoceOpcode.CONGESTION_NOTIFICATION, node, queuePair));
    }
}
