package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * READs that begin among PSNs which the responder has executed, and end there or behind: requests written by hand, and
 * the answers packet by packet. A requester repeats a READ so after it has lost answers and the request of its next
 * part.
 */
class RepeatedReadTest
{
    /** Eight PSNs before they wrap, so that each READ of more packets spans the wrap. */
    private static final int FIRST = ConnectOptions.DEFAULT.firstSequence();
    private static final int MTU = ConnectOptions.DEFAULT.mtu();
    private static final long LIMIT_NS = 60_000_000_000L;

    /** A packet of the responder. */
    private record Answer(int opcode, int sequence, int syndrome, int messages, byte[] payload)
    {
    }

    private final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private final List<Answer> answers = new ArrayList<>();

    @BeforeEach
    void connect()
    {
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
        for (int i = 0; i < 100 * MTU; i++)
        {
            b.memory().set(ValueLayout.JAVA_BYTE, i, (byte)(i * 7 + i / MTU));
        }
        network.observe(this::onPacket);
    }

    private void onPacket(final RocePacket packet)
    {
        if (packet.sourceLow() == b.address.gidLow())
        {
            final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
            final boolean hasAeth = (RoceOpcode.traits(opcode) & RoceOpcode.HAS_AETH) != 0;
            final int headerBytes = RoceOpcode.headerBytes(opcode);
            final byte[] payload = new byte[packet.lengthBytes() - headerBytes - InvariantCrc.LENGTH_BYTES];
            packet.buffer().getBytes(headerBytes, payload);
            answers.add(new Answer(opcode, BthDescriptor.sequence(packet.buffer(), 0),
                hasAeth ? AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES) : -1,
                hasAeth ? AethDescriptor.messageSequence(packet.buffer(), BthDescriptor.LENGTH_BYTES) : -1, payload));
        }
    }

    /** Begins at packets of the first READ, and ends one or several behind it. */
    @ParameterizedTest
    @CsvSource({"0, 12", "1, 12", "3, 12", "0, 5", "3, 5", "2, 9"})
    void shouldAnswerInOneWhatIsRepeatedAndPartlyNew(final int skipped, final int end)
    {
        arrive(read(0, 4, 0));
        answers.clear();
        arrive(read(skipped, end - skipped, skipped));
        assertThat(answers).extracting(Answer::opcode).startsWith(RoceOpcode.READ_RESPONSE_FIRST)
            .endsWith(RoceOpcode.READ_RESPONSE_LAST).hasSize(end - skipped);
        assertThat(answers.subList(1, answers.size() - 1))
            .allMatch((answer) -> answer.opcode == RoceOpcode.READ_RESPONSE_MIDDLE);
        assertPackets(skipped, end);
        assertThat(answers.get(0).messages).isEqualTo(2);
        // The packet behind it is the next one that is expected, and the READ counted as one message.
        answers.clear();
        arrive(write(end));
        assertThat(answers).extracting(Answer::opcode, Answer::sequence, Answer::messages)
            .containsExactly(tuple(RoceOpcode.ACKNOWLEDGE, sequence(end), 3));
    }

    /** Up to the last packet that was executed, or before; the PSNs of the first READ wrap. */
    @ParameterizedTest
    @CsvSource({"2, 4", "2, 12", "9, 12", "11, 12"})
    void shouldCountNothingForWhatIsWhollyRepeated(final int skipped, final int end)
    {
        arrive(read(0, 12, 0));
        answers.clear();
        arrive(read(skipped, end - skipped, skipped));
        assertPackets(skipped, end);
        assertThat(answers.get(0).messages).isEqualTo(1);
        answers.clear();
        arrive(write(12));
        assertThat(answers).extracting(Answer::sequence, Answer::messages).containsExactly(tuple(sequence(12), 2));
    }

    @Test
    void shouldAnswerReadThatBeginsInAnEarlierPartOfItself()
    {
        arrive(read(0, 2, 0));
        arrive(read(2, 2, 2));
        answers.clear();
        arrive(read(1, 8, 1));
        assertPackets(1, 9);
        assertThat(answers.get(0).messages).isEqualTo(3);
    }

    @Test
    void shouldSendWhatTheMemoryHoldsNow()
    {
        arrive(read(0, 2, 0));
        b.memory().asSlice(0, 3 * MTU).fill((byte)9);
        answers.clear();
        arrive(read(0, 3, 0));
        for (final Answer answer : answers)
        {
            assertThat(answer.payload).hasSize(MTU).containsOnly(9);
        }
    }

    /** The refusal of a packet that came too early is no longer due when a READ covers the missing one. */
    @Test
    void shouldGoOnBehindAGapThatTheReadCloses()
    {
        arrive(read(0, 2, 0));
        arrive(write(5));
        assertThat(answers).last().extracting(Answer::syndrome, Answer::sequence)
            .containsExactly(AethDescriptor.SEQUENCE_ERROR, sequence(2));
        answers.clear();
        arrive(read(1, 4, 1));
        assertPackets(1, 5);
        answers.clear();
        arrive(write(9));
        assertThat(answers).extracting(Answer::syndrome, Answer::sequence)
            .containsExactly(tuple(AethDescriptor.SEQUENCE_ERROR, sequence(5)));
        arrive(write(5));
        assertThat(answers).last().extracting(Answer::opcode, Answer::sequence)
            .containsExactly(RoceOpcode.ACKNOWLEDGE, sequence(5));
    }

    /** Those PSNs are packets of the message that has begun. */
    @ParameterizedTest
    @ValueSource(ints = {1, 6})
    void shouldDropReadThatCoversAnOpenMessage(final int newPackets)
    {
        arrive(read(0, 2, 0));
        arrive(packet(RoceOpcode.WRITE_FIRST, 2, 0, b.key(), 2 * MTU, MTU));
        answers.clear();
        arrive(read(0, 3 + newPackets, 0));
        assertThat(answers).isEmpty();
        arrive(packet(RoceOpcode.WRITE_LAST, 3, 0, b.key(), 0, MTU));
        assertThat(answers).extracting(Answer::opcode, Answer::sequence, Answer::messages)
            .containsExactly(tuple(RoceOpcode.ACKNOWLEDGE, sequence(3), 2));
    }

    /** The atomic waits for the answers before it, and has the first PSN that the READ would take. */
    @ParameterizedTest
    @ValueSource(ints = {1, 6})
    void shouldDropReadThatCoversAWaitingAtomic(final int newPackets)
    {
        b.engine.onPacket(read(0, 40, 0));
        b.engine.onPacket(fetchAdd(40));
        b.engine.onPacket(read(38, 2 + newPackets, 38));
        network.settle();
        assertPackets(answers.subList(0, 40), 0, 40);
        assertThat(answers.subList(40, answers.size())).extracting(Answer::opcode, Answer::sequence, Answer::messages)
            .containsExactly(tuple(RoceOpcode.ATOMIC_ACKNOWLEDGE, sequence(40), 2));
        arrive(write(41));
        assertThat(answers).last().extracting(Answer::sequence, Answer::messages).containsExactly(sequence(41), 3);
    }

    /** The refusal of the request behind the first READ is due, and names its PSN. */
    @ParameterizedTest
    @ValueSource(ints = {1, 6})
    void shouldDropReadThatCoversARefusedRequest(final int newPackets)
    {
        b.engine.onPacket(read(0, 40, 0));
        b.engine.onPacket(packet(RoceOpcode.WRITE_ONLY, 40, 0, b.key() + 1, 8, 8));
        b.engine.onPacket(read(38, 2 + newPackets, 38));
        network.settle();
        assertPackets(answers.subList(0, 40), 0, 40);
        assertThat(answers.subList(40, answers.size())).extracting(Answer::syndrome, Answer::sequence)
            .containsExactly(tuple(AethDescriptor.REMOTE_ACCESS_ERROR, sequence(40)));
        assertThat(qb.state()).isEqualTo(QueuePairState.ERR);
    }

    /** All its PSNs are its own, so nothing else is in the way of its answers. */
    @Test
    void shouldAnswerWhatIsWhollyRepeatedWhileAnAtomicWaits()
    {
        b.engine.onPacket(read(0, 40, 0));
        b.engine.onPacket(fetchAdd(40));
        b.engine.onPacket(read(38, 2, 38));
        network.settle();
        assertThat(answers).extracting(Answer::sequence).hasSize(43)
            .endsWith(sequence(38), sequence(39), sequence(38), sequence(39), sequence(40));
        assertThat(answers).last().extracting(Answer::opcode).isEqualTo(RoceOpcode.ATOMIC_ACKNOWLEDGE);
    }

    /** What comes behind it executes in its turn: the atomic when the READ was answered. */
    @Test
    void shouldExecuteAtomicBehindIt()
    {
        b.word(39 * MTU, 40);
        b.engine.onPacket(read(0, 2, 0));
        b.engine.onPacket(read(1, 39, 1));
        b.engine.onPacket(packet(RoceOpcode.FETCH_ADD, 40, 39 * MTU, b.key(), 0, 0));
        network.settle();
        assertThat(answers).last().extracting(Answer::opcode, Answer::sequence)
            .containsExactly(RoceOpcode.ATOMIC_ACKNOWLEDGE, sequence(40));
        assertThat(answers.get(answers.size() - 2).payload[0]).isEqualTo((byte)40);
        assertThat(b.word(39 * MTU)).isEqualTo(41);
    }

    /** It may be a late copy: the requester learns that it has no right to all of it, and nothing ends here. */
    @Test
    void shouldRefuseWhatExceedsTheRegionAndGoOn()
    {
        final MemoryRegion region = b.domain.register(b.memory().asSlice(0, 4 * MTU), AccessFlags.ALL_REMOTE);
        arrive(packet(RoceOpcode.READ_REQUEST, 0, 0, region.remoteKey(), 2 * MTU, 0));
        answers.clear();
        arrive(packet(RoceOpcode.READ_REQUEST, 1, MTU, region.remoteKey(), 4 * MTU, 0));
        assertThat(answers).extracting(Answer::syndrome, Answer::sequence, Answer::messages)
            .containsExactly(tuple(AethDescriptor.REMOTE_ACCESS_ERROR, sequence(1), 1));
        assertThat(qb.state()).isEqualTo(QueuePairState.RTS);
        answers.clear();
        arrive(packet(RoceOpcode.READ_REQUEST, 1, MTU, region.remoteKey(), 3 * MTU, 0));
        assertPackets(1, 4);
        region.close();
    }

    /** The requester that still waits is refused at each attempt, at the packet that it asks for. */
    @Test
    void shouldRefuseWhenTheRightEndsBeforeTheLastAnswer()
    {
        final MemoryRegion region = b.domain.register(b.memory().asSlice(0, 100 * MTU), AccessFlags.ALL_REMOTE);
        b.engine.onPacket(packet(RoceOpcode.READ_REQUEST, 0, 0, region.remoteKey(), 2 * MTU, 0));
        answers.clear();
        b.engine.onPacket(packet(RoceOpcode.READ_REQUEST, 1, MTU, region.remoteKey(), 40 * MTU, 0));
        region.close();
        network.settle();
        final Answer refusal = answers.removeLast();
        assertPackets(1, 1 + answers.size());
        assertThat(answers).hasSizeBetween(1, 39);
        assertThat(refusal).extracting(Answer::syndrome, Answer::sequence)
            .containsExactly(AethDescriptor.REMOTE_ACCESS_ERROR, sequence(1 + answers.size()));
        answers.clear();
        arrive(packet(RoceOpcode.READ_REQUEST, 30, 30 * MTU, region.remoteKey(), 11 * MTU, 0));
        assertThat(answers).extracting(Answer::syndrome, Answer::sequence)
            .containsExactly(tuple(AethDescriptor.REMOTE_ACCESS_ERROR, sequence(30)));
        assertThat(qb.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void shouldDropReadOfMoreThanAnyMessageHas()
    {
        arrive(read(0, 2, 0));
        answers.clear();
        for (final int lengthBytes : new int[] {Integer.MIN_VALUE, -1})
        {
            arrive(packet(RoceOpcode.READ_REQUEST, 1, MTU, b.key(), lengthBytes, 0));
        }
        assertThat(answers).isEmpty();
        arrive(write(2));
        assertThat(answers).extracting(Answer::sequence, Answer::messages).containsExactly(tuple(sequence(2), 2));
    }

    /** A requester of ours, whose requests are stretched over what it has asked for before. */
    @Test
    void shouldGiveOurOwnRequesterWhatItAskedFor()
    {
        final StretchedReads stretched = new StretchedReads(1, 1000);
        network.rewrite(stretched);
        qa.begin();
        qa.read(1, SIGNALED, a.at(100 * MTU), 90 * MTU, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        assertThat(a.polled).extracting(Completion::status).containsExactly(0);
        assertThat(a.memory().asSlice(100 * MTU, 90 * MTU).mismatch(b.memory().asSlice(0, 90 * MTU))).isEqualTo(-1);
        assertThat(stretched.count()).isPositive();
        assertThat(a.engine.counters().resent).isZero();
        assertThat(b.engine.counters().duplicates).isEqualTo(stretched.count());
    }

    private void arrive(final RocePacket packet)
    {
        network.inject(packet, 0);
        network.settle();
    }

    private void assertPackets(final int first, final int end)
    {
        assertPackets(answers, first, end);
    }

    /** One answer for each packet of the READ from the first byte of the region on. */
    private void assertPackets(final List<Answer> packets, final int first, final int end)
    {
        assertThat(packets).hasSize(end - first);
        for (int i = 0; i < packets.size(); i++)
        {
            assertThat(packets.get(i).sequence).isEqualTo(sequence(first + i));
            assertThat(packets.get(i).payload).isEqualTo(
                b.memory().asSlice((long)(first + i) * MTU, MTU).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private static int sequence(final int index)
    {
        return PacketSequence.add(FIRST, index);
    }

    /** A READ of whole packets; {@code at} is the packet of the region that it begins with. */
    private RocePacket read(final int index, final int packets, final int at)
    {
        return packet(RoceOpcode.READ_REQUEST, index, at * MTU, b.key(), packets * MTU, 0);
    }

    private RocePacket write(final int index)
    {
        return packet(RoceOpcode.WRITE_ONLY, index, 0, b.key(), 8, 8);
    }

    private RocePacket fetchAdd(final int index)
    {
        return packet(RoceOpcode.FETCH_ADD, index, 50 * MTU, b.key(), 0, 0);
    }

    /** A packet from a to b; a FETCH_ADD adds one. */
    private RocePacket packet(
        final int opcode,
        final int index,
        final int offset,
        final int key,
        final int lengthBytes,
        final int payloadBytes)
    {
        final RocePacket packet = new RocePacket();
        final int headerBytes = RoceOpcode.headerBytes(opcode);
        BthDescriptor.encode(packet.buffer(), 0, opcode, false, 0, qb.number(), true, sequence(index));
        if ((RoceOpcode.traits(opcode) & RoceOpcode.HAS_RETH) != 0)
        {
            RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(offset), key, lengthBytes);
        }
        if ((RoceOpcode.traits(opcode) & RoceOpcode.HAS_ATOMIC_ETH) != 0)
        {
            AtomicEthDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(offset), key, 1, 0);
        }
        packet.lengthBytes(headerBytes + payloadBytes + InvariantCrc.LENGTH_BYTES);
        packet.path(a.address.gidHigh(), a.address.gidLow(), RocePath.ROCE_PORT,
            b.address.gidHigh(), b.address.gidLow(), RocePath.ROCE_PORT);
        new InvariantCrc().seal(packet);
        return packet;
    }
}
