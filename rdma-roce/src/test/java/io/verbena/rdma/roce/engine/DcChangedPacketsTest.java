package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DcAcceptEthDescriptor;
import io.verbena.rdma.roce.wire.DcAckEthDescriptor;
import io.verbena.rdma.roce.wire.DcEthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** Packets of DC with one field changed, sealed rightly; and who gets the contexts of a device that has few. */
class DcChangedPacketsTest
{
    private static final int CONNECT = RoceOpcode.DC | RoceOpcode.DC_CONNECT;
    private static final int ACCEPT = RoceOpcode.DC | RoceOpcode.DC_ACCEPT;
    private static final int RELEASE = RoceOpcode.DC | RoceOpcode.DC_RELEASE;
    private static final int WRITE = RoceOpcode.DC | RoceOpcode.WRITE_ONLY;
    private static final int READ = RoceOpcode.DC | RoceOpcode.READ_REQUEST;
    private static final int ACK = RoceOpcode.DC | RoceOpcode.ACKNOWLEDGE;
    private static final int PATIENT = 14;
    private static final int VERY_PATIENT = 18;
    private static final long SOON_NS = 200_000;
    private static final long LIMIT_NS = 60_000_000_000L;

    private final LossyNetwork network = new LossyNetwork(3, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16, 1);
    private final SharedReceiveQueue shared = b.domain.createSharedReceiveQueue(16);
    private final DcTarget target = DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 4);
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

    private static void sequence(final RocePacket packet, final int sequence)
    {
        packet.buffer().putInt(BthDescriptor.SEQUENCE_OFFSET,
            packet.buffer().getInt(BthDescriptor.SEQUENCE_OFFSET, ByteOrder.BIG_ENDIAN) & 0xFF00_0000 |
                sequence & 0xFF_FFFF, ByteOrder.BIG_ENDIAN);
    }

    /** Sends a changed copy, sealed anew; it has arrived then. */
    private void forge(final RocePacket packet, final Consumer<RocePacket> change)
    {
        final RocePacket copy = copyOf(packet);
        change.accept(copy);
        new InvariantCrc().seal(copy);
        network.inject(copy, 0);
        network.elapse(SOON_NS);
    }

    private static void changeHeader(final RocePacket packet, final int context, final int mtuCode, final int initiator)
    {
        final UnsafeBuffer buffer = packet.buffer();
        final int offset = RoceOpcode.dcOffset(BthDescriptor.opcode(buffer, 0));
        DcEthDescriptor.encode(buffer, offset, DcEthDescriptor.accessKey(buffer, offset), context, mtuCode, initiator);
    }

    private static int context(final RocePacket request)
    {
        return DcEthDescriptor.context(
            request.buffer(), RoceOpcode.dcOffset(BthDescriptor.opcode(request.buffer(), 0)));
    }

    private static int granted(final RocePacket accept)
    {
        return DcAckEthDescriptor.context(accept.buffer(), RoceOpcode.dcOffset(ACCEPT));
    }

    private void post(
        final RoceQueuePair queuePair, final DcTarget to, final AddressHandle way, final long key, final Runnable verb)
    {
        queuePair.begin();
        verb.run();
        queuePair.toDcTarget(way, to.number(), key);
        assertThat(queuePair.complete()).isZero();
    }

    private void write(final RoceQueuePair queuePair, final DcTarget to, final long key, final int offset)
    {
        post(queuePair, to, toB, key, () ->
            queuePair.write(offset, SIGNALED, a.at(0), 8, a.key(), b.at(offset), b.key()));
    }

    private void awaitStatus(final int status, final long limitNs)
    {
        assertThat(network.run(() -> !a.polled.isEmpty(), limitNs)).isTrue();
        assertThat(a.polled.removeFirst().status()).isEqualTo(status);
    }

    private void writeAtOnce(final RoceQueuePair queuePair, final int offset)
    {
        write(queuePair, target, DcRig.KEY, offset);
        awaitStatus(WorkCompletionStatus.SUCCESS, SOON_NS);
        assertThat(b.word(offset)).isEqualTo(7);
    }

    // Requests.

    @Test
    void shouldExecuteNothingForAnotherInitiatorOrAddress()
    {
        writeAtOnce(initiator, 0);
        final RocePacket write = all(WRITE).getFirst();
        final int next = BthDescriptor.sequence(write.buffer(), 0) + 1;
        b.word(0, 0);
        final long before = b.engine.counters().misdirected;
        forge(write, (packet) ->
        {
            sequence(packet, next);
            changeHeader(packet, context(packet), 0, other.number());
        });
        forge(write, (packet) ->
        {
            sequence(packet, next);
            packet.path(packet.sourceHigh(), packet.sourceLow() + 7, packet.sourcePort(), packet.destinationHigh(),
                packet.destinationLow(), packet.destinationPort());
        });
        assertThat(b.engine.counters().misdirected - before).isEqualTo(2);
        assertThat(b.word(0)).isZero();
        forge(write, (packet) -> sequence(packet, next));
        assertThat(b.word(0)).as("of the initiator itself").isEqualTo(7);
    }

    @Test
    void shouldRefuseWhatAsksForPacketsOfNoLength()
    {
        writeAtOnce(initiator, 0);
        final RocePacket connect = all(CONNECT).getFirst();
        final long before = b.engine.counters().refused;
        sent.clear();
        for (final int code : new int[]{0, 6, 7})
        {
            forge(connect, (packet) -> changeHeader(packet, context(packet) + 1, code, initiator.number()));
        }
        assertThat(b.engine.counters().refused - before).isEqualTo(3);
        assertThat(all(ACCEPT)).hasSize(3);
        assertThat(all(CONNECT)).isEmpty();
        writeAtOnce(initiator, 8);
    }

    @Test
    void shouldEndAMessageThatIsNotWholeWhenTheNextRequestIsRefused()
    {
        shared.postReceive(5, b.at(4096), 4096, b.key());
        network.lose(is(RoceOpcode.DC | RoceOpcode.SEND_LAST).or(is(RELEASE)));
        writeAtOnce(initiator, 0);
        post(initiator, target, toB, DcRig.KEY, () -> initiator.send(1, SIGNALED, a.at(0), 500, a.key()));
        network.elapse(50_000);
        final RocePacket first = all(RoceOpcode.DC | RoceOpcode.SEND_FIRST).getFirst();
        final RocePacket write = all(WRITE).getFirst();
        forge(write, (packet) -> sequence(packet, BthDescriptor.sequence(first.buffer(), 0) + 1));
        assertThat(b.polled).extracting(EngineNode.Completion::status)
            .containsExactly(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    @Test
    void shouldNotifyTheInitiatorOfCongestion()
    {
        writeAtOnce(initiator, 0);
        final RocePacket write = all(WRITE).getFirst();
        sent.clear();
        forge(write, (packet) -> packet.congestionMarked(true));
        assertThat(all(RoceOpcode.CONGESTION_NOTIFICATION)).hasSize(1);
    }

    @Test
    void shouldSendNoLongerPacketsThanTheTargetsDatagrams()
    {
        final EngineNode odd = network.addNodeOfDatagrams(1400);
        final EngineNode full = network.addNodeOfDatagrams(4096);
        final DcTarget atOdd = DcRig.target(odd, odd.domain.createSharedReceiveQueue(4), AccessFlags.ALL_REMOTE, 4);
        final RoceQueuePair wide = DcRig.initiator(full, 4096, PATIENT, 7);
        post(wide, atOdd, DcRig.to(full, odd), DcRig.KEY, () ->
            wide.write(1, SIGNALED, full.at(0), 5000, full.key(), odd.at(8192), odd.key()));
        assertThat(network.run(() -> !full.polled.isEmpty(), LIMIT_NS)).isTrue();
        assertThat(full.polled.getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(sent).allMatch((packet) -> packet.lengthBytes() < 1400);
    }

    @Test
    void shouldNotTakeAnotherKeyForTheOneThatWasGranted()
    {
        writeAtOnce(initiator, 0);
        write(initiator, target, DcRig.KEY + 1, 8);
        awaitStatus(WorkCompletionStatus.REM_ACCESS_ERR, LIMIT_NS);
        assertThat(b.word(8)).isZero();
    }

    @Test
    void shouldHaveAsManyReadsUnderWayAsTheTargetAnswers()
    {
        assertMostReads(DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 1), 1);
    }

    @Test
    void shouldHaveNoMoreReadsUnderWayThanTheInitiatorWants()
    {
        assertMostReads(DcRig.target(b, shared, AccessFlags.ALL_REMOTE, 16), 4);
    }

    private void assertMostReads(final DcTarget wide, final int expected)
    {
        final int[] most = new int[2];
        network.observe((packet) ->
        {
            most[0] += is(READ).test(packet) ? 1 : 0;
            most[0] -= is(RoceOpcode.DC | RoceOpcode.READ_RESPONSE_ONLY).test(packet) ? 1 : 0;
            most[1] = Math.max(most[1], most[0]);
        });
        for (int i = 0; i < 10; i++)
        {
            final int offset = 64 + 8 * i;
            post(initiator, wide, toB, DcRig.KEY, () ->
                initiator.read(1, SIGNALED, a.at(offset), 8, a.key(), b.at(0), b.key()));
        }
        assertThat(network.run(() -> a.polled.size() == 10, LIMIT_NS)).isTrue();
        assertThat(most).containsExactly(0, expected);
    }

    /** Two handles are two objects, and one device. */
    @Test
    void shouldStayConnectedWhoseverHandleNamesTheDevice()
    {
        writeAtOnce(initiator, 0);
        post(initiator, target, DcRig.to(a, b), DcRig.KEY, () ->
            initiator.write(2, SIGNALED, a.at(0), 8, a.key(), b.at(8), b.key()));
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        assertThat(all(RoceOpcode.DC | RoceOpcode.DC_CONNECT)).hasSize(1);
    }

    // Answers.

    @Test
    void shouldTakeNoAnswerOfAnotherContext()
    {
        writeAtOnce(initiator, 0);
        final RocePacket ack = all(ACK).getFirst();
        network.lose(is(WRITE));
        write(initiator, target, DcRig.KEY, 8);
        network.elapse(10_000);
        final int asked = BthDescriptor.sequence(all(WRITE).getLast().buffer(), 0);
        final long before = a.engine.counters().stale;
        forge(ack, (packet) ->
        {
            sequence(packet, asked);
            final int offset = RoceOpcode.dcOffset(ACK);
            DcAckEthDescriptor.encode(packet.buffer(), offset,
                DcAckEthDescriptor.context(packet.buffer(), offset) - (1 << EngineOptions.DC_SLOT_BITS));
        });
        assertThat(a.polled).isEmpty();
        assertThat(a.engine.counters().stale).isEqualTo(before + 1);
        forge(ack, (packet) -> sequence(packet, asked));
        assertThat(a.polled).as("of the context itself").hasSize(1);
    }

    @Test
    void shouldTakeNoGrantOfLongerPacketsThanItAskedFor()
    {
        network.lose(is(ACCEPT));
        write(initiator, target, DcRig.KEY, 0);
        network.elapse(10_000);
        final RocePacket accept = all(ACCEPT).getFirst();
        final int offset = RoceOpcode.dcOffset(ACCEPT) + DcAckEthDescriptor.LENGTH_BYTES;
        final int connection = DcAcceptEthDescriptor.connection(accept.buffer(), offset);
        for (final int code : new int[]{0, 2, 5, 6})
        {
            forge(accept, (packet) -> DcAcceptEthDescriptor.encode(packet.buffer(), offset, connection, code, 4));
        }
        assertThat(all(WRITE)).isEmpty();
        assertThat(a.engine.counters().stale).isEqualTo(4);
        forge(accept, (packet) -> DcAcceptEthDescriptor.encode(packet.buffer(), offset, connection, 1, 0));
        assertThat(all(WRITE)).as("a grant of what it asked for, for no READs").isNotEmpty();
    }

    // Contexts.

    @Test
    void shouldAskLessOftenTheLongerNobodyAnswers()
    {
        network.lose(is(CONNECT));
        write(initiator, target, DcRig.KEY, 0);
        network.elapse(60_000_000);
        assertThat(all(CONNECT)).hasSizeBetween(6, 10);
    }

    @Test
    void shouldGiveContextBackWhenItFails()
    {
        writeAtOnce(initiator, 0);
        initiator.moveToError();
        network.elapse(SOON_NS);
        assertThat(all(RELEASE)).hasSize(1);
        writeAtOnce(other, 8);
    }

    @Test
    void shouldKeepContextOfInitiatorThatAsksForItAgainAndAgain()
    {
        final RoceQueuePair asking = DcRig.initiator(a, 256, VERY_PATIENT, 7);
        network.lose(is(ACCEPT));
        write(asking, target, DcRig.KEY, 0);
        network.elapse(EngineOptions.DC_SILENCE_NS + 500_000_000);
        write(other, target, DcRig.KEY, 8);
        network.elapse(2_000_000);
        assertThat(all(ACCEPT)).extracting(DcChangedPacketsTest::granted).containsOnly(granted(all(ACCEPT).getFirst()));
        assertThat(b.engine.counters().contextsMissed).isPositive();
    }

    @Test
    void shouldKeepContextOfInitiatorThatSendsRequests()
    {
        network.lose(is(RELEASE));
        final RoceQueuePair patient = DcRig.initiator(a, 256, VERY_PATIENT, 7);
        writeAtOnce(initiator, 0);
        write(patient, target, DcRig.KEY, 8);
        for (long passedNs = 0; passedNs < EngineOptions.DC_SILENCE_NS + 100_000_000; passedNs += 700_000)
        {
            write(initiator, target, DcRig.KEY, 16);
            network.elapse(700_000);
        }
        assertThat(all(CONNECT).stream().filter((packet) -> initiator.number() ==
            DcEthDescriptor.initiator(packet.buffer(), RoceOpcode.dcOffset(CONNECT)))).hasSize(1);
        assertThat(b.word(8)).isZero();
    }

    @Test
    void shouldTakeTheContextOfWhoWasSilentForLongest()
    {
        final EngineNode two = network.addNode(32, 16, 2);
        final DcTarget at = DcRig.target(two, two.domain.createSharedReceiveQueue(4), AccessFlags.ALL_REMOTE, 4);
        final AddressHandle way = DcRig.to(a, two);
        network.lose(is(RELEASE));
        final RoceQueuePair third = DcRig.initiator(a, 256, PATIENT, 7);
        for (final RoceQueuePair queuePair : List.of(initiator, other, third))
        {
            post(queuePair, at, way, DcRig.KEY, () ->
                queuePair.write(1, SIGNALED, a.at(0), 8, a.key(), two.at(0), two.key()));
            awaitStatus(WorkCompletionStatus.SUCCESS, LIMIT_NS);
            network.elapse(queuePair == other ? EngineOptions.DC_SILENCE_NS : 10_000_000);
        }
        final List<Integer> slots = all(ACCEPT).stream().map((accept) -> granted(accept) & 0xFF).toList();
        assertThat(slots).hasSize(3);
        assertThat(slots.get(2)).isEqualTo(slots.get(0)).isNotEqualTo(slots.get(1));
    }

    @Test
    void shouldGiveContextsOfATargetThatHasFailedToOthersAndTakeNoRequestForIt()
    {
        final RoceCompletionQueue small = b.engine.createCompletionQueue(1, null);
        final DcTarget narrow = b.domain.createDcTarget(
            new DcTargetOptions(small, shared, DcRig.KEY, AccessFlags.ALL_REMOTE, 4));
        network.lose(is(RELEASE));
        for (int i = 0; i < 3; i++)
        {
            shared.postReceive(i, b.at(4096), 64, b.key());
            post(initiator, narrow, toB, DcRig.KEY, () -> initiator.send(1, SIGNALED, a.at(0), 8, a.key()));
        }
        network.elapse(SOON_NS);
        assertThat(narrow.state()).isEqualTo(QueuePairState.ERR);
        a.polled.clear();
        writeAtOnce(other, 8);
        final RocePacket connect = all(CONNECT).getFirst();
        final long before = b.engine.counters().misdirected;
        final long missed = b.engine.counters().contextsMissed;
        sent.clear();
        forge(connect, (packet) -> changeHeader(packet, context(packet) + 1, 1, initiator.number()));
        assertThat(b.engine.counters().misdirected).isGreaterThan(before);
        assertThat(b.engine.counters().contextsMissed).as("asked for one").isEqualTo(missed);
        assertThat(all(ACCEPT)).isEmpty();
    }

    @Test
    void shouldRefuseEachAtItsOwnAddress()
    {
        final EngineNode c = network.addNode(32, 16);
        final RoceQueuePair ofC = DcRig.initiator(c, 256, PATIENT, 7);
        write(initiator, target, DcRig.KEY + 1, 0);
        awaitStatus(WorkCompletionStatus.REM_ACCESS_ERR, SOON_NS);
        post(ofC, target, DcRig.to(c, b), DcRig.KEY + 1, () ->
            ofC.write(1, SIGNALED, c.at(0), 8, c.key(), b.at(0), b.key()));
        assertThat(network.run(() -> !c.polled.isEmpty(), SOON_NS)).isTrue();
        assertThat(c.polled.getFirst().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void shouldLetSoMuchHappenAtOnceAndThenNowAndThen()
    {
        final DcTargets.RateLimit limit = new DcTargets.RateLimit(3, 100);
        assertThat(new boolean[]{limit.take(1000), limit.take(1000), limit.take(1000), limit.take(1000)})
            .containsExactly(true, true, true, false);
        assertThat(new boolean[]{limit.take(1099), limit.take(1100), limit.take(1100)})
            .containsExactly(false, true, false);
        assertThat(new boolean[]{limit.take(9000), limit.take(9000), limit.take(9000), limit.take(9000)})
            .containsExactly(true, true, true, false);
    }
}
