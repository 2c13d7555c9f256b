package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DcAcceptEthDescriptor;
import io.verbena.rdma.roce.wire.DcAckEthDescriptor;
import io.verbena.rdma.roce.wire.DcEthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Packets of DC with wrong parts, of a grammar and captured ones with bits flipped, with a right checksum, key, context
 * and number more often than not: no byte changes outside of what a target and its regions give, nothing at all for a
 * wrong key, the heap does not grow, and everything closes.
 * {@code -Dverbena.roce.attacks=10000000} for more than 200,000.
 */
class DcAdversaryPropertyTest
{
    private static final int PACKETS = Integer.getInteger("verbena.roce.attacks", 200_000);
    private static final int PACKETS_PER_CHECK = 5_000;
    private static final long MAX_GROWTH_BYTES = 8L << 20;
    private static final int MEMORY_BYTES = 1 << 16;
    private static final int OPEN_OFFSET = 16_384;
    private static final int OPEN_BYTES = 4_096;
    private static final int TARGET_OFFSET = 24_576;
    private static final int TARGET_BYTES = 600;
    private static final int RESPONSES = RoceOpcode.DC | RoceOpcode.READ_RESPONSE_FIRST;

    private final SplittableRandom random = new SplittableRandom(19);
    private final LossyNetwork network = new LossyNetwork(2, LossyNetwork.Faults.NONE);
    private final EngineNode peer = network.addNode(32, 16);
    private final EngineNode victim = network.addNode(32, 16, 4);
    private final MemoryRegion closed = victim.domain.allocateRegistered(MEMORY_BYTES, AccessFlags.LOCAL_WRITE);
    private final MemoryRegion open =
        victim.domain.register(closed.segment().asSlice(OPEN_OFFSET, OPEN_BYTES), AccessFlags.ALL_REMOTE);
    private final MemoryRegion readable =
        victim.domain.register(closed.segment().asSlice(0, OPEN_BYTES), AccessFlags.REMOTE_READ);
    private final SharedReceiveQueue shared = victim.domain.createSharedReceiveQueue(64);
    private final DcTarget writable = DcRig.target(victim, shared, AccessFlags.ALL_REMOTE, 4);
    private final DcTarget readOnly = DcRig.target(victim, shared, AccessFlags.REMOTE_READ, 4);
    private final RoceQueuePair initiator = DcRig.initiator(victim, 256, 14, 7);
    private final AddressHandle toPeer = DcRig.to(victim, peer);
    private final RocePacket packet = new RocePacket();
    private final InvariantCrc crc = new InvariantCrc();
    private int context;
    private int connection;
    private int expected;
    private int attacked = writable.number();
    private int ofInitiator;
    private int initiatorSequence;
    private final List<RocePacket> captured = new ArrayList<>();

    @Test
    void shouldChangeNoByteOutsideOfRights()
    {
        capture();
        victim.onCompletion = (completion) ->
        {
        };
        network.observe(this::follow);
        closed.segment().fill((byte)0x5A);
        long usedBytes = 0;
        for (int i = 1; i <= PACKETS; i++)
        {
            repair();
            if (random.nextInt(4) == 0)
            {
                attackWithCaptured();
            }
            else
            {
                attack(random.nextInt(30) == 0 ? random.nextLong() : DcRig.KEY);
            }
            victim.work();
            usedBytes = i == PACKETS / 3 ? usedBytes() : usedBytes;
            // Now and then so long that contexts are taken from the silent.
            network.elapse(random.nextInt(300) == 0 ? EngineOptions.DC_SILENCE_NS : random.nextInt(2_000));
            if (i % PACKETS_PER_CHECK == 0)
            {
                assertUntouched();
            }
        }
        assertThat(usedBytes() - usedBytes).as("heap").isLessThan(MAX_GROWTH_BYTES);
        // That much of it was right enough to have an effect says that the rest was stopped by checks that matter.
        final EngineCounters counters = victim.engine.counters();
        assertThat(counters.sent).isGreaterThan(PACKETS / 100);
        assertThat(counters.refused).isGreaterThan(PACKETS / 200);
        assertThat(counters.corrupt).isGreaterThan(PACKETS / 100);
        assertThat(counters.misdirected).isGreaterThan(PACKETS / 100);
        assertThat(counters.malformed).isGreaterThan(PACKETS / 100);
        assertThat(counters.stale).isGreaterThan(PACKETS / 100);
        assertThat(writable.accessKeyViolations()).isGreaterThan(PACKETS / 100);
        assertThat(open.segment().toArray(ValueLayout.JAVA_BYTE))
            .isNotEqualTo(closed.segment().asSlice(0, OPEN_BYTES).toArray(ValueLayout.JAVA_BYTE));
        closeAll();
    }

    /** Packets to the victim of an initiator that does every operation once. */
    private void capture()
    {
        network.observe(sent ->
        {
            if (sent.destinationLow() == victim.address.gidLow())
            {
                final RocePacket copy = new RocePacket();
                copy.copyOf(sent);
                captured.add(copy);
            }
        });
        final RoceQueuePair asking = DcRig.initiator(peer, 256, 14, 7);
        final AddressHandle toVictim = DcRig.to(peer, victim);
        shared.postReceive(1, open.address() + 500, 500, open.localKey());
        final List<Runnable> verbs = List.of(
            () -> asking.write(1, SendFlags.SIGNALED, peer.at(0), 700, peer.key(), open.address(), open.remoteKey()),
            () -> asking.read(2, SendFlags.SIGNALED, peer.at(0), 8, peer.key(), open.address(), open.remoteKey()),
            () -> asking.fetchAdd(3, SendFlags.SIGNALED, peer.at(0), peer.key(), open.address(), open.remoteKey(), 1),
            () -> asking.compareSwap(
                4, SendFlags.SIGNALED, peer.at(0), peer.key(), open.address(), open.remoteKey(), 1, 2),
            () -> asking.send(5, SendFlags.SIGNALED, peer.at(0), 300, peer.key()));
        for (final Runnable verb : verbs)
        {
            asking.begin();
            verb.run();
            asking.toDcTarget(toVictim, writable.number(), DcRig.KEY);
            assertThat(asking.complete()).isZero();
        }
        assertThat(network.run(() -> peer.polled.size() == verbs.size(), 1_000_000_000)).isTrue();
        asking.close();
        toVictim.close();
        network.elapse(1_000_000);
        assertThat(captured).hasSizeGreaterThan(verbs.size() + 1);
    }

    /** Under the present context and number, some bits flipped. */
    private void attackWithCaptured()
    {
        packet.copyOf(captured.get(random.nextInt(captured.size())));
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        final int at = RoceOpcode.dcOffset(opcode);
        if (random.nextInt(4) > 0 && opcode != (RoceOpcode.DC | RoceOpcode.DC_CONNECT))
        {
            final int padBytes = BthDescriptor.padBytes(packet.buffer(), 0);
            BthDescriptor.encode(packet.buffer(), 0, opcode, false, padBytes, attacked,
                true, expected);
            DcEthDescriptor.encode(packet.buffer(), at, DcRig.KEY, context, 0, 5);
        }
        for (int flips = random.nextInt(4); flips > 0; flips--)
        {
            final int index = random.nextInt(packet.lengthBytes() - InvariantCrc.LENGTH_BYTES);
            packet.buffer().putByte(index, (byte)(packet.buffer().getByte(index) ^ 1 << random.nextInt(Byte.SIZE)));
        }
        if (random.nextInt(20) > 0)
        {
            crc.seal(packet);
        }
        victim.engine.onPacket(packet);
    }

    private static long usedBytes()
    {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Everything that was made closes, and with it the engine: packets have made nothing. */
    private void closeAll()
    {
        initiator.close();
        List.of(writable, readOnly).forEach(DcTarget::close);
        shared.close();
        toPeer.close();
        List.of(open, readable, closed, victim.region).forEach(MemoryRegion::close);
        victim.domain.close();
        victim.completions.close();
        assertThat(victim.engine.close()).isTrue();
    }

    @Test
    void shouldChangeAndAnswerNothingWithoutTheKey()
    {
        final long[] answers = {0};
        network.observe((answer) -> answers[0] += BthDescriptor.opcode(answer.buffer(), 0) ==
            (RoceOpcode.DC | RoceOpcode.DC_ACCEPT) ? 0 : 1);
        open.segment().fill((byte)0x33);
        for (int i = 0; i < 20_000; i++)
        {
            // A context that is in use, known to the attacker.
            context = random.nextInt() << EngineOptions.DC_SLOT_BITS | random.nextInt(4);
            attack(DcRig.KEY ^ 1L << random.nextInt(Long.SIZE));
            victim.engine.doWork();
        }
        assertThat(open.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x33);
        assertThat(answers[0]).isZero();
        assertThat(victim.engine.counters().contextsMissed).isZero();
    }

    private void assertUntouched()
    {
        final byte[] bytes = closed.segment().toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; i < bytes.length; i++)
        {
            final boolean isOpen = i >= OPEN_OFFSET && i < OPEN_OFFSET + OPEN_BYTES;
            final boolean isTarget = i >= TARGET_OFFSET && i < TARGET_OFFSET + TARGET_BYTES;
            if (!isOpen && !isTarget && bytes[i] != 0x5A)
            {
                throw new AssertionError("byte " + i + " changed");
            }
        }
    }

    /** One READ of the victim is always under way, and there are receives. */
    private void repair()
    {
        if (initiator.state() != QueuePairState.RTS)
        {
            initiator.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            DcRig.bringUp(initiator, 256, 14, 7);
        }
        if (initiator.sendQueueSpace() > 60)
        {
            initiator.begin();
            initiator.read(1, SendFlags.SIGNALED, closed.address() + TARGET_OFFSET, TARGET_BYTES, closed.localKey(),
                peer.at(0), peer.key());
            initiator.toDcTarget(toPeer, 77, DcRig.KEY);
            initiator.complete();
        }
        shared.postReceive(1, open.address() + 500, random.nextInt(500), open.localKey());
    }

    private void attack(final long key)
    {
        final int operation = pick(RoceOpcode.DC_CONNECT, RoceOpcode.DC_CONNECT, RoceOpcode.DC_RELEASE,
            random.nextInt(0x20), random.nextInt(0x15), random.nextInt(0x15), random.nextInt(0x15));
        final int opcode = random.nextInt(50) == 0 ? random.nextInt(256) : RoceOpcode.DC | operation;
        final int traits = RoceOpcode.traits(opcode);
        final boolean isResponse = (traits & RoceOpcode.IS_RESPONSE) != 0;
        if (operation == RoceOpcode.DC_CONNECT)
        {
            attacked = random.nextInt(3) == 0 ? readOnly.number() : writable.number();
        }
        final int target = random.nextInt(20) == 0 ? readOnly.number() : attacked;
        final int headerBytes = Math.max(BthDescriptor.LENGTH_BYTES, RoceOpcode.headerBytes(opcode));
        final int payloadBytes = pick(0, 4, 8, 256, 256, random.nextInt(400));
        final int usedBytes = (traits & RoceOpcode.HAS_PAYLOAD) == 0 && random.nextInt(20) > 0 ? 0 : payloadBytes;
        final int padBytes = random.nextInt(20) == 0 ? random.nextInt(4) : -usedBytes & 3;
        final int base = isResponse ? initiatorSequence : expected;
        BthDescriptor.encode(packet.buffer(), 0, opcode, random.nextBoolean(), padBytes,
            random.nextInt(20) == 0 ? random.nextInt(1 << 24) : isResponse ? initiator.number() : target,
            random.nextBoolean(), PacketSequence.add(base, random.nextInt(4) == 0 ? random.nextInt(8) - 4 : 0));
        packet.buffer().setMemory(headerBytes, usedBytes + padBytes, (byte)random.nextInt(256));
        putHeaders(opcode, traits, usedBytes, key);
        packet.lengthBytes(Math.max(0, headerBytes + usedBytes + padBytes + InvariantCrc.LENGTH_BYTES +
            (random.nextInt(50) == 0 ? random.nextInt(-24, 24) : 0)));
        packet.path(peer.address.gidHigh(), peer.address.gidLow() + (random.nextInt(30) == 0 ? 7 : 0),
            RocePath.ROCE_PORT, victim.address.gidHigh(), victim.address.gidLow(), RocePath.ROCE_PORT);
        if (packet.lengthBytes() >= RocePacket.MIN_LENGTH_BYTES && random.nextInt(20) > 0)
        {
            crc.seal(packet);
        }
        victim.engine.onPacket(packet);
    }

    /** What the victim says of itself: so the attack knows the next numbers as a real peer does. */
    private void follow(final RocePacket sent)
    {
        final int opcode = BthDescriptor.opcode(sent.buffer(), 0);
        final int sequence = BthDescriptor.sequence(sent.buffer(), 0);
        if ((RoceOpcode.traits(opcode) & RoceOpcode.HAS_DC_ETH) != 0)
        {
            initiatorSequence = sequence;
            ofInitiator = DcEthDescriptor.context(sent.buffer(), RoceOpcode.dcOffset(opcode));
        }
        else if (opcode == (RoceOpcode.DC | RoceOpcode.DC_ACCEPT))
        {
            final int granted = DcAckEthDescriptor.context(sent.buffer(), RoceOpcode.dcOffset(opcode));
            expected = granted == 0 || granted == context ? expected : sequence;
            context = granted == 0 ? context : granted;
        }
        else if (opcode >= RESPONSES && (RoceOpcode.traits(opcode) & RoceOpcode.HAS_AETH) != 0)
        {
            final int syndrome = AethDescriptor.syndrome(sent.buffer(), BthDescriptor.LENGTH_BYTES);
            final boolean isAck = (syndrome & AethDescriptor.KIND_MASK) == AethDescriptor.ACK;
            expected = PacketSequence.add(sequence, isAck ? 1 : 0);
        }
    }

    private void putHeaders(final int opcode, final int traits, final int payloadBytes, final long key)
    {
        final MemoryRegion region = switch (pick(0, 1, 2, 2, 2, 2))
        {
            case 0 -> closed;
            case 1 -> readable;
            default -> open;
        };
        final int remoteKey = random.nextInt(30) == 0 ? random.nextInt() : region.remoteKey();
        final int inside = random.nextInt(OPEN_BYTES) & ~7;
        final long address = random.nextInt(30) == 0 ? random.nextLong() :
            (random.nextInt(10) == 0 ? closed : region).address() + pick(inside, inside, -8, -1, 1, 4090);
        if ((traits & RoceOpcode.HAS_RETH) != 0)
        {
            RethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, address, remoteKey,
                pick(payloadBytes, payloadBytes, payloadBytes, 1_000, random.nextInt(2_000), -1));
        }
        if ((traits & RoceOpcode.HAS_ATOMIC_ETH) != 0)
        {
            AtomicEthDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, address, remoteKey,
                random.nextLong(), random.nextLong());
        }
        if ((traits & RoceOpcode.HAS_AETH) != 0)
        {
            AethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES,
                pick(0x1F, 0x1F, 0x1F, random.nextInt(256)), 3);
        }
        final int at = RoceOpcode.dcOffset(opcode);
        if ((traits & RoceOpcode.HAS_DC_ETH) != 0)
        {
            final boolean isConnect = opcode == (RoceOpcode.DC | RoceOpcode.DC_CONNECT);
            connection += random.nextInt(3) == 0 ? 1 : 0;
            DcEthDescriptor.encode(packet.buffer(), at, key, isConnect ? connection : wrongNowAndThen(context),
                isConnect ? random.nextInt(7) : 0, random.nextInt(30) == 0 ? 4 : 5);
        }
        if ((traits & RoceOpcode.HAS_DC_ACK_ETH) != 0)
        {
            DcAckEthDescriptor.encode(packet.buffer(), at, wrongNowAndThen(ofInitiator));
        }
        if ((traits & RoceOpcode.HAS_DC_ACCEPT_ETH) != 0)
        {
            DcAcceptEthDescriptor.encode(packet.buffer(), at + DcAckEthDescriptor.LENGTH_BYTES,
                wrongNowAndThen(ofInitiator), random.nextInt(7), random.nextInt(256));
        }
    }

    private int wrongNowAndThen(final int number)
    {
        return random.nextInt(10) == 0 ? number + random.nextInt(1024) : number;
    }

    private int pick(final int... values)
    {
        return values[random.nextInt(values.length)];
    }
}
