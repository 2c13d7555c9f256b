package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** Packets from the right sender, sealed rightly, whose form is wrong: each is counted, and has no effect or answer. */
class PacketFormTest
{
    private static final int BYTES = 8;
    private static final int VERSION_OFFSET = 1;
    private static final int PARTITION_OFFSET = 2;
    private static final int READ_BYTES = RoceOpcode.headerBytes(RoceOpcode.READ_REQUEST);

    private final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private long sent;

    @BeforeEach
    void connect()
    {
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
        network.observe((packet) -> sent++);
    }

    /** A packet with a RETH, changed and then sealed; the last 4 bytes of its length are the seal. */
    private void arrive(final int opcode, final int payloadBytes, final Consumer<RocePacket> change)
    {
        final RocePacket packet = new RocePacket();
        final int headerBytes = RoceOpcode.headerBytes(opcode);
        BthDescriptor.encode(packet.buffer(), 0, opcode, false, 0, qb.number(), true,
            ConnectOptions.DEFAULT.firstSequence());
        RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, b.at(0), b.key(), BYTES);
        packet.buffer().setMemory(headerBytes, BYTES + Integer.BYTES, (byte)7);
        packet.lengthBytes(headerBytes + payloadBytes + InvariantCrc.LENGTH_BYTES);
        packet.path(a.address.gidHigh(), a.address.gidLow(), RocePath.ROCE_PORT,
            b.address.gidHigh(), b.address.gidLow(), RocePath.ROCE_PORT);
        change.accept(packet);
        new InvariantCrc().seal(packet);
        b.engine.onPacket(packet);
        b.work();
    }

    private void assertDropped(final int opcode, final int payloadBytes, final Consumer<RocePacket> change)
    {
        final long before = b.engine.counters().malformed;
        arrive(opcode, payloadBytes, change);
        assertThat(b.engine.counters().malformed).isEqualTo(before + 1);
        assertThat(b.word(0)).isZero();
        assertThat(sent).isZero();
    }

    private static void change(final RocePacket packet, final int offset, final int bits)
    {
        packet.buffer().putByte(offset, (byte)(packet.buffer().getByte(offset) ^ bits));
    }

    @Test
    void shouldTakeThePacketThatIsNotChanged()
    {
        arrive(RoceOpcode.WRITE_ONLY, BYTES, (packet) -> { });
        assertThat(b.word(0)).isEqualTo(0x0707_0707_0707_0707L);
        assertThat(sent).isEqualTo(1);
        assertThat(b.engine.counters().malformed).isZero();
    }

    @Test
    void shouldDropLengthsThatAreNotWholeWords()
    {
        for (int more = 1; more < Integer.BYTES; more++)
        {
            assertDropped(RoceOpcode.WRITE_ONLY, BYTES + more, (packet) -> { });
        }
    }

    @Test
    void shouldDropPayloadOfARequestThatHasNone()
    {
        assertDropped(RoceOpcode.READ_REQUEST, Integer.BYTES, (packet) -> { });
    }

    @Test
    void shouldDropAnotherVersionAndPartition()
    {
        assertDropped(RoceOpcode.WRITE_ONLY, BYTES, (packet) -> change(packet, VERSION_OFFSET, 2));
        assertDropped(RoceOpcode.WRITE_ONLY, BYTES, (packet) -> change(packet, PARTITION_OFFSET, 1));
        assertDropped(RoceOpcode.WRITE_ONLY, BYTES, (packet) -> change(packet, PARTITION_OFFSET + 1, 1));
    }

    @Test
    void shouldDropOpcodesThatNobodyKnows()
    {
        assertDropped(RoceOpcode.WRITE_ONLY, BYTES, (packet) -> packet.buffer().putByte(0, (byte)0x1F));
        assertDropped(RoceOpcode.WRITE_ONLY, BYTES, (packet) -> packet.buffer().putByte(0, (byte)0xBF));
    }

    @Test
    void shouldDropWhatIsShorterThanItsHeadersOrLongerThanAnyPacket()
    {
        assertDropped(RoceOpcode.READ_REQUEST, 0, (packet) -> packet.lengthBytes(READ_BYTES));
        assertDropped(RoceOpcode.WRITE_ONLY, RocePacket.MAX_PAYLOAD_BYTES + Integer.BYTES, (packet) -> { });
        final long before = b.engine.counters().malformed;
        final RocePacket packet = new RocePacket();
        for (final int lengthBytes : new int[] {0, RocePacket.MIN_LENGTH_BYTES - 1, RocePacket.MAX_LENGTH_BYTES + 1})
        {
            packet.lengthBytes(lengthBytes);
            b.engine.onPacket(packet);
        }
        assertThat(b.engine.counters().malformed).isEqualTo(before + 3);
    }

    /** Padding makes the payload a multiple of 4 bytes, so that more of it than there is payload is none. */
    @Test
    void shouldDropMorePaddingThanPayload()
    {
        assertDropped(RoceOpcode.READ_REQUEST, 0, (packet) -> change(packet, VERSION_OFFSET, 1 << 4));
    }
}
