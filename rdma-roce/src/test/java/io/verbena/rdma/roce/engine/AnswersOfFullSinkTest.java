package io.verbena.rdma.roce.engine;

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
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Packets that reach a responder of RC one by one, most of them while it cannot send: which answers leave when it can,
 * and in which order.
 */
class AnswersOfFullSinkTest
{
    private static final int FIRST = ConnectOptions.DEFAULT.firstSequence();
    private static final int MTU = 256;
    private static final int READ_PACKETS = 4;
    private static final int ACK = AethDescriptor.ACK_WITHOUT_CREDITS;
    private static final int NONE = -1;

    /** A packet as it was sent; its PSN counts from the first request. */
    private record Answer(int opcode, int place, int syndrome)
    {
    }

    private final LossyNetwork network = new LossyNetwork(3, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private final List<Answer> answers = new ArrayList<>();

    private void connect(final ConnectOptions options)
    {
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        network.observe((packet) ->
        {
            final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
            final boolean hasAeth = (RoceOpcode.traits(opcode) & RoceOpcode.HAS_AETH) != 0;
            answers.add(new Answer(opcode,
                PacketSequence.distance(BthDescriptor.sequence(packet.buffer(), 0), FIRST & 0xFF_FFFF),
                hasAeth ? AethDescriptor.syndrome(packet.buffer(), BthDescriptor.LENGTH_BYTES) : NONE));
        });
    }

    private void arrive(final RocePacket packet)
    {
        b.engine.onPacket(packet);
    }

    private void hasRoomAgain()
    {
        b.isFull = false;
        for (int i = 0; i < 10; i++)
        {
            b.work();
        }
    }

    private RocePacket packet(final int opcode, final int place, final int payloadBytes, final boolean asks)
    {
        final RocePacket packet = new RocePacket();
        BthDescriptor.encode(
            packet.buffer(), 0, opcode, false, 0, qb.number(), asks, PacketSequence.add(FIRST, place));
        packet.buffer().setMemory(RoceOpcode.headerBytes(opcode), payloadBytes, (byte)7);
        packet.lengthBytes(RoceOpcode.headerBytes(opcode) + payloadBytes + InvariantCrc.LENGTH_BYTES);
        packet.path(a.address.gidHigh(), a.address.gidLow(), RocePath.ROCE_PORT,
            b.address.gidHigh(), b.address.gidLow(), RocePath.ROCE_PORT);
        return packet;
    }

    private static RocePacket sealed(final RocePacket packet)
    {
        new InvariantCrc().seal(packet);
        return packet;
    }

    private RocePacket write(final int place, final boolean asks, final int key)
    {
        final RocePacket packet = packet(RoceOpcode.WRITE_ONLY, place, Long.BYTES, asks);
        RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), key, Long.BYTES);
        return sealed(packet);
    }

    private RocePacket read(final int place, final MemoryRegion region, final int lengthBytes)
    {
        final RocePacket packet = packet(RoceOpcode.READ_REQUEST, place, 0, true);
        RethDescriptor.encode(
            packet.buffer(), BthDescriptor.LENGTH_BYTES, region.address(), region.remoteKey(), lengthBytes);
        return sealed(packet);
    }

    private RocePacket fetchAdd(final int place)
    {
        final RocePacket packet = packet(RoceOpcode.FETCH_ADD, place, 0, true);
        AtomicEthDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), b.key(), 1, 0);
        return sealed(packet);
    }

    private void assertReadIsAnswered(final int from)
    {
        for (int i = 0; i < READ_PACKETS; i++)
        {
            assertThat(answers.get(from + i)).extracting(Answer::opcode, Answer::place).containsExactly(
                i == 0 ? RoceOpcode.READ_RESPONSE_FIRST : i == READ_PACKETS - 1 ? RoceOpcode.READ_RESPONSE_LAST :
                    RoceOpcode.READ_RESPONSE_MIDDLE, i);
        }
    }

    @Test
    void shouldAnswerAShortReadBehindALongOneThatWaits()
    {
        connect(ConnectOptions.DEFAULT);
        b.isFull = true;
        arrive(read(0, b.region, READ_PACKETS * MTU));
        b.isFull = false;
        arrive(read(READ_PACKETS, b.region, Long.BYTES));
        hasRoomAgain();
        assertThat(answers).hasSize(READ_PACKETS + 1);
        assertReadIsAnswered(0);
        assertThat(answers.getLast()).isEqualTo(new Answer(RoceOpcode.READ_RESPONSE_ONLY, READ_PACKETS, ACK));
    }

    @Test
    void shouldRefuseOneReadMoreThanItsDepth()
    {
        connect(ConnectOptions.DEFAULT.depth(2));
        b.isFull = true;
        arrive(read(0, b.region, READ_PACKETS * MTU));
        arrive(read(READ_PACKETS, b.region, Long.BYTES));
        arrive(read(READ_PACKETS + 1, b.region, Long.BYTES));
        hasRoomAgain();
        assertReadIsAnswered(0);
        assertThat(answers.subList(READ_PACKETS, answers.size())).containsExactly(
            new Answer(RoceOpcode.READ_RESPONSE_ONLY, READ_PACKETS, ACK),
            new Answer(RoceOpcode.ACKNOWLEDGE, READ_PACKETS + 1, AethDescriptor.INVALID_REQUEST));
    }

    /** What came behind it is not acknowledged by the refusal. */
    @Test
    void shouldRefuseTheReadWhoseRightIsGoneByItsOwnPsn()
    {
        connect(ConnectOptions.DEFAULT);
        final MemoryRegion lent = b.domain.allocateRegistered(READ_PACKETS * MTU, AccessFlags.REMOTE_READ);
        b.isFull = true;
        arrive(read(0, lent, READ_PACKETS * MTU));
        arrive(write(READ_PACKETS, true, b.key()));
        lent.close();
        hasRoomAgain();
        assertThat(answers).containsExactly(
            new Answer(RoceOpcode.ACKNOWLEDGE, 0, AethDescriptor.REMOTE_ACCESS_ERROR));
    }

    @Test
    void shouldAnswerNothingOnceItIsInError()
    {
        connect(ConnectOptions.DEFAULT);
        b.isFull = true;
        arrive(read(0, b.region, READ_PACKETS * MTU));
        qb.moveToError();
        hasRoomAgain();
        assertThat(answers).isEmpty();
    }

    @Test
    void shouldAskOnceForWhatCameBehindAnAtomicThatWaited()
    {
        connect(ConnectOptions.DEFAULT);
        b.isFull = true;
        arrive(read(0, b.region, READ_PACKETS * MTU));
        arrive(fetchAdd(READ_PACKETS));
        arrive(write(READ_PACKETS + 1, true, b.key()));
        arrive(write(READ_PACKETS + 2, true, b.key()));
        hasRoomAgain();
        assertReadIsAnswered(0);
        assertThat(answers.subList(READ_PACKETS, answers.size())).containsExactly(
            new Answer(RoceOpcode.ATOMIC_ACKNOWLEDGE, READ_PACKETS, ACK),
            new Answer(RoceOpcode.ACKNOWLEDGE, READ_PACKETS + 1, AethDescriptor.SEQUENCE_ERROR));
        assertThat(b.word(0)).isEqualTo(1);
    }

    @Test
    void shouldRefuseOnceWhatIsRepeatedBeforeTheRefusalHasLeft()
    {
        connect(ConnectOptions.DEFAULT);
        b.isFull = true;
        arrive(write(0, true, b.key() + 1));
        arrive(write(0, true, b.key() + 1));
        hasRoomAgain();
        assertThat(answers).containsExactly(
            new Answer(RoceOpcode.ACKNOWLEDGE, 0, AethDescriptor.REMOTE_ACCESS_ERROR));
        assertThat(b.engine.counters().refused).isEqualTo(1);
    }

    @Test
    void shouldAnswerNothingThatComesBehindARefusedRequest()
    {
        connect(ConnectOptions.DEFAULT);
        arrive(write(0, true, b.key() + 1));
        arrive(write(1, true, b.key()));
        arrive(write(2, true, b.key()));
        assertThat(answers).containsExactly(
            new Answer(RoceOpcode.ACKNOWLEDGE, 0, AethDescriptor.REMOTE_ACCESS_ERROR));
    }

    @Test
    void shouldAskForAGapThoughAnEarlierPacketIsRepeated()
    {
        connect(ConnectOptions.DEFAULT);
        arrive(write(0, false, b.key()));
        b.isFull = true;
        arrive(write(2, true, b.key()));
        arrive(write(0, true, b.key()));
        hasRoomAgain();
        assertThat(answers).containsExactly(
            new Answer(RoceOpcode.ACKNOWLEDGE, 1, AethDescriptor.SEQUENCE_ERROR));
    }

    @Test
    void shouldAcknowledgeWhatFilledAGapBeforeThatWasSaid()
    {
        connect(ConnectOptions.DEFAULT);
        b.isFull = true;
        arrive(write(1, true, b.key()));
        arrive(write(0, false, b.key()));
        hasRoomAgain();
        assertThat(answers).containsExactly(new Answer(RoceOpcode.ACKNOWLEDGE, 0, ACK));
    }

    @Test
    void shouldLetTheResponseOfAReadAcknowledgeTheWriteBeforeIt()
    {
        connect(ConnectOptions.DEFAULT);
        b.isFull = true;
        arrive(write(0, true, b.key()));
        arrive(read(1, b.region, Long.BYTES));
        hasRoomAgain();
        assertThat(answers).containsExactly(new Answer(RoceOpcode.READ_RESPONSE_ONLY, 1, ACK));
    }

    /** The requester has gone back, and its first packet was lost once more. */
    @Test
    void shouldAskAgainForAGapWhenThePacketsBehindItComeAgain()
    {
        connect(ConnectOptions.DEFAULT);
        for (final int place : new int[] {2, 3, 4, 1, 2, 3, 2})
        {
            arrive(write(place, true, b.key()));
        }
        assertThat(answers).extracting(Answer::place, Answer::syndrome).containsExactly(
            tuple(0, AethDescriptor.SEQUENCE_ERROR), tuple(0, AethDescriptor.SEQUENCE_ERROR),
            tuple(0, AethDescriptor.SEQUENCE_ERROR));
    }

    /** The receive of an earlier message is complete, and takes nothing more. */
    @Test
    void shouldTakeNoPacketOfASendInsideAWrite()
    {
        connect(ConnectOptions.DEFAULT);
        qb.postReceive(1, b.at(1024), 1024, b.key());
        arrive(sealed(packet(RoceOpcode.SEND_ONLY, 0, Long.BYTES, false)));
        final RocePacket first = packet(RoceOpcode.WRITE_FIRST, 1, MTU, false);
        RethDescriptor.encode(first.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), b.key(), 3 * MTU);
        arrive(sealed(first));
        arrive(sealed(packet(RoceOpcode.SEND_MIDDLE, 2, MTU, false)));
        assertThat(answers).containsExactly(new Answer(RoceOpcode.ACKNOWLEDGE, 2, AethDescriptor.INVALID_REQUEST));
        assertThat(b.memory().asSlice(1024 + Long.BYTES, 512).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void shouldTakeNoPacketOfAWriteInsideASend()
    {
        connect(ConnectOptions.DEFAULT);
        qb.postReceive(1, b.at(1024), 1024, b.key());
        final RocePacket first = packet(RoceOpcode.WRITE_FIRST, 0, MTU, false);
        RethDescriptor.encode(first.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), b.key(), 2 * MTU);
        arrive(sealed(first));
        arrive(sealed(packet(RoceOpcode.WRITE_LAST, 1, MTU, false)));
        arrive(sealed(packet(RoceOpcode.SEND_FIRST, 2, MTU, false)));
        arrive(sealed(packet(RoceOpcode.WRITE_MIDDLE, 3, MTU, false)));
        assertThat(answers).containsExactly(new Answer(RoceOpcode.ACKNOWLEDGE, 3, AethDescriptor.INVALID_REQUEST));
    }

    @Test
    void shouldTakeNoEmptyPacketAtTheEndOfALongerMessage()
    {
        connect(ConnectOptions.DEFAULT);
        qb.postReceive(1, b.at(1024), 1024, b.key());
        arrive(sealed(packet(RoceOpcode.SEND_FIRST, 0, MTU, false)));
        arrive(sealed(packet(RoceOpcode.SEND_LAST, 1, 0, true)));
        assertThat(answers).containsExactly(new Answer(RoceOpcode.ACKNOWLEDGE, 1, AethDescriptor.INVALID_REQUEST));
    }
}
