package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.seal.SealedPacketDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What engines send and take of connections whose packets are sealed, and what somebody on the path can do. */
class SealedPacketsTest
{
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int BYTES = 64;
    private static final long SECRET = 0x0123_4567_89AB_CDEFL;

    private final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE).sealed();
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private final List<RocePacket> sent = new ArrayList<>();
    private final InvariantCrc crc = new InvariantCrc();

    @BeforeEach
    void connect()
    {
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
        network.observe((packet) ->
        {
            final RocePacket copy = new RocePacket();
            copy.copyOf(packet);
            sent.add(copy);
        });
    }

    private void fill(final EngineNode node, final int offset)
    {
        for (int i = 0; i < BYTES; i += Long.BYTES)
        {
            node.word(offset + i, SECRET);
        }
    }

    private void write(final RoceQueuePair from)
    {
        from.begin();
        from.write(1, SIGNALED, a.at(0), BYTES, a.key(), b.at(0), b.key());
        assertThat(from.complete()).isZero();
    }

    private int await(final EngineNode node)
    {
        final int before = node.polled.size();
        assertThat(network.run(() -> node.polled.size() > before, LIMIT_NS)).isTrue();
        return node.polled.getLast().status();
    }

    /** The WRITE that a would send, kept from arriving. */
    private RocePacket heldWrite()
    {
        fill(a, 0);
        sent.clear();
        network.lose((packet) -> true);
        write(qa);
        a.work();
        network.lose((packet) -> false);
        return sent.getFirst();
    }

    private void arrive(final RocePacket packet, final Consumer<RocePacket> change)
    {
        final RocePacket copy = new RocePacket();
        copy.copyOf(packet);
        change.accept(copy);
        crc.seal(copy);
        b.engine.onPacket(copy);
        sent.clear();
        b.work();
    }

    private static void flip(final RocePacket packet, final int at, final int bits)
    {
        packet.buffer().putByte(at, (byte)(packet.buffer().getByte(at) ^ bits));
    }

    /** Nothing was written and nothing is answered. */
    private void assertNoEffect()
    {
        assertThat(b.word(0)).isZero();
        assertThat(sent).isEmpty();
        assertThat(qb.state()).isEqualTo(QueuePairState.RTS);
    }

    private static boolean holds(final RocePacket packet, final long word)
    {
        for (int at = 0; at + Long.BYTES <= packet.lengthBytes(); at++)
        {
            if (packet.buffer().getLong(at) == word || packet.buffer().getLong(at, ByteOrder.BIG_ENDIAN) == word)
            {
                return true;
            }
        }
        return false;
    }

    @Test
    void shouldCarryEverythingAndShowNoneOfItOnTheWire()
    {
        fill(a, 0);
        qa.begin();
        qa.write(1, SIGNALED, a.at(0), BYTES, a.key(), b.at(0), b.key());
        qa.read(2, SIGNALED, a.at(1000), BYTES, a.key(), b.at(0), b.key());
        qa.compareSwap(3, SIGNALED, a.at(2000), a.key(), b.at(0), b.key(), SECRET, ~SECRET);
        assertThat(qa.complete()).isZero();
        assertThat(network.run(() -> a.polled.size() == 3, LIMIT_NS)).isTrue();
        assertThat(a.polled).allMatch((completion) -> completion.status() == WorkCompletionStatus.SUCCESS);
        assertThat(a.word(1000)).isEqualTo(SECRET);
        assertThat(a.word(2000)).isEqualTo(SECRET);
        assertThat(b.word(0)).isEqualTo(~SECRET);
        assertThat(sent).hasSizeGreaterThan(4).allSatisfy((packet) ->
        {
            assertThat(BthDescriptor.version(packet.buffer(), 0)).isEqualTo(SealedPacketDescriptor.VERSION);
            assertThat(crc.isIntact(packet)).isTrue();
            assertThat(holds(packet, SECRET) || holds(packet, ~SECRET) || holds(packet, b.at(0))).isFalse();
        });
        assertThat(sent.getFirst().lengthBytes()).isEqualTo(RoceOpcode.headerBytes(RoceOpcode.WRITE_ONLY) + BYTES +
            SealedPacketDescriptor.OVERHEAD_BYTES + InvariantCrc.LENGTH_BYTES);
    }

    @Test
    void shouldSendPacketsOfOneLengthForEachPartOfAMessage()
    {
        qa.begin();
        qa.write(1, SIGNALED, a.at(0), 5 * 256, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        await(a);
        assertThat(sent.subList(1, 5)).allMatch((packet) -> packet.lengthBytes() == sent.get(1).lengthBytes());
    }

    /** READ again after the memory has changed: the answer has the PSN of the first one, and other bytes. */
    @Test
    void shouldUseNoCountTwiceWhenAnswersAreSentAgain()
    {
        fill(b, 0);
        network.lose((packet) -> packet.sourceLow() == b.address.gidLow());
        qa.begin();
        qa.read(1, SIGNALED, a.at(0), BYTES, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        network.run(() -> sent.stream().anyMatch((packet) -> packet.sourceLow() == b.address.gidLow()), LIMIT_NS);
        fill(b, 8);
        b.word(0, 42);
        network.lose((packet) -> false);
        assertThat(await(a)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(a.word(0)).isEqualTo(42);
        final List<RocePacket> answers =
            sent.stream().filter((packet) -> packet.sourceLow() == b.address.gidLow()).toList();
        assertThat(answers).hasSizeGreaterThan(1);
        final Set<Long> counts = new HashSet<>();
        answers.forEach((packet) -> counts.add(packet.buffer().getLong(SealedPacketDescriptor.COUNTER_OFFSET)));
        assertThat(counts).hasSameSizeAs(answers);
        assertThat(answers.stream().map((packet) -> BthDescriptor.sequence(packet.buffer(), 0)).distinct()).hasSize(1);
    }

    @Test
    void shouldDropAndCountAPacketOfWhichAByteIsAnother()
    {
        final RocePacket packet = heldWrite();
        final EngineCounters counters = b.engine.counters();
        for (int at = 0; at < packet.lengthBytes() - InvariantCrc.LENGTH_BYTES; at++)
        {
            final int changed = at;
            final long before = dropped(counters);
            final boolean isMark = at == BthDescriptor.CONGESTION_OFFSET;
            if (!isMark)
            {
                arrive(packet, (copy) -> flip(copy, changed, 1));
                assertNoEffect();
                assertThat(dropped(counters)).as("byte %d", at).isEqualTo(before + 1);
            }
        }
        arrive(packet, (copy) -> { });
        assertThat(b.word(0)).isEqualTo(SECRET);
    }

    private static long dropped(final EngineCounters counters)
    {
        return counters.malformed + counters.misdirected + counters.wronglySealed + counters.notOpened +
            counters.replayed;
    }

    @Test
    void shouldDropAPacketThatWasCutOrIsLonger()
    {
        final RocePacket packet = heldWrite();
        for (int lengthBytes = RocePacket.MIN_LENGTH_BYTES; lengthBytes < packet.lengthBytes() + 40; lengthBytes++)
        {
            if (lengthBytes != packet.lengthBytes())
            {
                final int changed = lengthBytes;
                final long before = dropped(b.engine.counters());
                arrive(packet, (copy) -> copy.lengthBytes(changed));
                assertNoEffect();
                assertThat(dropped(b.engine.counters())).as("length %d", lengthBytes).isEqualTo(before + 1);
            }
        }
    }

    /** Else one that was sealed would go on in clear. */
    @Test
    void shouldKeepTheKeysOfAQueuePairThatIsConnected()
    {
        final Object keys = a.engine.cipher(qa.number());
        assertThatThrownBy(() -> a.engine.seal(qa, null)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("RTS already");
        assertThat(a.engine.cipher(qa.number())).isSameAs(keys).isNotNull();
    }

    @Test
    void shouldDropAPacketThatCameBefore()
    {
        fill(a, 0);
        write(qa);
        await(a);
        final RocePacket packet = sent.getFirst();
        b.word(0, 0);
        arrive(packet, (copy) -> { });
        assertNoEffect();
        assertThat(b.engine.counters().replayed).isEqualTo(1);
        assertThat(b.engine.counters().duplicates).isZero();
    }

    @Test
    void shouldDropAPacketOfAnotherQueuePairOrDirection()
    {
        final RoceQueuePair otherA = a.createQueuePair(QueuePairType.RC, null);
        final RoceQueuePair otherB = b.createQueuePair(QueuePairType.RC, null);
        EngineNode.connect(otherA, b, otherB, ConnectOptions.DEFAULT);
        EngineNode.connect(otherB, a, otherA, ConnectOptions.DEFAULT);
        final RocePacket packet = heldWrite();
        arrive(packet, (copy) -> copy.buffer().putInt(
            BthDescriptor.DESTINATION_OFFSET, otherB.number(), ByteOrder.BIG_ENDIAN));
        assertNoEffect();
        assertThat(b.engine.counters().notOpened).isEqualTo(1);
        // Back to its sender, with the addresses the other way round.
        final RocePacket back = new RocePacket();
        back.copyOf(packet);
        back.path(packet.destinationHigh(), packet.destinationLow(), packet.destinationPort(),
            packet.sourceHigh(), packet.sourceLow(), packet.sourcePort());
        back.buffer().putInt(BthDescriptor.DESTINATION_OFFSET, qa.number(), ByteOrder.BIG_ENDIAN);
        crc.seal(back);
        assertThat(a.engine.onPacket(back)).isFalse();
        assertThat(a.engine.counters().notOpened).isEqualTo(1);
    }

    @Test
    void shouldDropPacketsOfAnEarlierConnectionOfTheSameQueuePairs()
    {
        fill(a, 0);
        write(qa);
        await(a);
        final RocePacket packet = sent.getFirst();
        b.word(0, 0);
        final QueuePairAttributes reset = new QueuePairAttributes().state(QueuePairState.RESET);
        qb.modify(reset);
        assertThat(b.engine.cipher(qb.number())).isNull();
        assertThatThrownBy(() -> EngineNode.connect(
            qb, new LossyNetwork(1, LossyNetwork.Faults.NONE).addNode(1, 1), qa, ConnectOptions.DEFAULT))
            .isInstanceOf(UnsupportedVerbException.class).hasMessageContaining("use Device.connect")
            .hasMessageNotContaining("\n");
        qb.modify(reset);
        b.engine.seal(qb, SealedPair.keys(qb.number() + 1, qa.number()));
        EngineNode.bringUp(qb, a, qa, ConnectOptions.DEFAULT);
        arrive(packet, (copy) -> { });
        assertNoEffect();
        assertThat(b.engine.counters().notOpened).isEqualTo(1);
    }

    /** What a peer in clear would send, or an attacker that takes the seal away. */
    @Test
    void shouldDropPacketsInClear()
    {
        final RocePacket clear = new RocePacket();
        BthDescriptor.encode(clear.buffer(), 0, RoceOpcode.SEND_ONLY, false, 0, qb.number(), true,
            ConnectOptions.DEFAULT.firstSequence());
        clear.lengthBytes(BthDescriptor.LENGTH_BYTES + 64 + InvariantCrc.LENGTH_BYTES);
        clear.path(heldWrite().wayBack());
        clear.path(clear.destinationHigh(), clear.destinationLow(), clear.destinationPort(),
            clear.sourceHigh(), clear.sourceLow(), clear.sourcePort());
        for (final int opcode : new int[] {RoceOpcode.SEND_ONLY, RoceOpcode.WRITE_ONLY, RoceOpcode.ACKNOWLEDGE,
            RoceOpcode.READ_RESPONSE_ONLY, RoceOpcode.CONGESTION_NOTIFICATION})
        {
            final long before = b.engine.counters().wronglySealed;
            arrive(clear, (copy) ->
            {
                copy.buffer().putByte(0, (byte)opcode);
                copy.lengthBytes(opcode == RoceOpcode.CONGESTION_NOTIFICATION ? 32 :
                    opcode == RoceOpcode.ACKNOWLEDGE ? 20 : copy.lengthBytes());
            });
            assertNoEffect();
            assertThat(b.engine.counters().wronglySealed).as("opcode %d", opcode).isEqualTo(before + 1);
        }
        assertThat(b.engine.counters().notifications).isZero();
    }

    @Test
    void shouldDropSealedPacketsWhereThereAreNoKeys()
    {
        final RocePacket packet = heldWrite();
        qb.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        b.engine.seal(qb, null);
        EngineNode.bringUp(qb, a, qa, ConnectOptions.DEFAULT);
        arrive(packet, (copy) -> { });
        assertNoEffect();
        assertThat(b.engine.counters().wronglySealed).isEqualTo(1);
    }

    /** A mark is no secret and not authenticated; the notification that answers it is sealed. */
    @Test
    void shouldSealNotificationsOfCongestion()
    {
        arrive(heldWrite(), (copy) ->
        {
            copy.congestionMarked(true);
            copy.buffer().putByte(BthDescriptor.CONGESTION_OFFSET, (byte)BthDescriptor.FORWARD_CONGESTION_FLAG);
        });
        assertThat(b.word(0)).isEqualTo(SECRET);
        assertThat(await(a)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(a.engine.counters().notifications).isEqualTo(1);
        assertThat(a.engine.counters().wronglySealed + a.engine.counters().notOpened).isZero();
    }

    @Test
    void shouldRefuseInOneLineWhatHasNoKeys()
    {
        for (final QueuePairType type : new QueuePairType[] {QueuePairType.UD, QueuePairType.DC_INITIATOR})
        {
            assertThatThrownBy(() -> a.createQueuePair(type, null)).isInstanceOf(UnsupportedVerbException.class)
                .hasMessageContaining("packets are sealed").hasMessageNotContaining("\n");
        }
        assertThatThrownBy(() -> b.domain.createDcTarget(new DcTargetOptions(b.completions,
            b.domain.createSharedReceiveQueue(1), 1, AccessFlags.ALL_REMOTE, 4)))
            .isInstanceOf(UnsupportedVerbException.class).hasMessageContaining("packets are sealed");
    }

    @Test
    void shouldSealUnreliableConnections()
    {
        final RoceQueuePair ua = a.createQueuePair(QueuePairType.UC, null);
        final RoceQueuePair ub = b.createQueuePair(QueuePairType.UC, null);
        EngineNode.connect(ua, b, ub, ConnectOptions.DEFAULT);
        EngineNode.connect(ub, a, ua, ConnectOptions.DEFAULT);
        fill(a, 0);
        write(ua);
        assertThat(await(a)).isEqualTo(WorkCompletionStatus.SUCCESS);
        network.settle();
        assertThat(b.word(0)).isEqualTo(SECRET);
        assertThat(holds(sent.getFirst(), SECRET)).isFalse();
    }
}
