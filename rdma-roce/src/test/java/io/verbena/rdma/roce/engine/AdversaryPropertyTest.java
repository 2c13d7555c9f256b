package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.AtomicEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DethDescriptor;
import io.verbena.rdma.roce.wire.GoldenPackets;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSequence;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Packets of a grammar with wrong parts, and packets that others sent with bits flipped, with a right checksum, from
 * the right sender and with the right numbers more often than not: no byte changes outside of what the peer has rights
 * to, receives included, and nothing is left over. {@code -Dverbena.roce.attacks=10000000} for more than 300,000.
 */
class AdversaryPropertyTest
{
    private static final int PACKETS = Integer.getInteger("verbena.roce.attacks", 300_000);
    /** Garbage and pages that may come and go besides. */
    private static final long MAX_GROWTH_BYTES = 8L << 20;
    private static final int PACKETS_PER_CHECK = 5_000;
    private static final int MEMORY_BYTES = 1 << 16;
    private static final int OPEN_OFFSET = 16_384;
    private static final int OPEN_BYTES = 4_096;
    private static final int TARGET_OFFSET = 24_576;
    private static final int TARGET_BYTES = 600;
    private static final int QKEY = 0x1111_1111;
    private static final int PAGE_BYTES = 4096;
    private static final int MANY_PACKETS = 5_000_000;

    private final SplittableRandom random = new SplittableRandom(18);
    private final LossyNetwork network = new LossyNetwork(2, LossyNetwork.Faults.NONE);
    private final EngineNode peer = network.addNode(32, 16);
    private final EngineNode victim = network.addNode(32, 16);
    private final MemoryRegion closed = victim.domain.allocateRegistered(MEMORY_BYTES, AccessFlags.LOCAL_WRITE);
    private final MemoryRegion open =
        victim.domain.register(closed.segment().asSlice(OPEN_OFFSET, OPEN_BYTES), AccessFlags.ALL_REMOTE);
    private final MemoryRegion readable =
        victim.domain.register(closed.segment().asSlice(0, OPEN_BYTES), AccessFlags.REMOTE_READ);
    private final RoceProtectionDomain otherDomain = victim.engine.createProtectionDomain();
    private final MemoryRegion ofOtherDomain =
        otherDomain.allocateRegistered(MEMORY_BYTES, AccessFlags.ALL_REMOTE);
    private final RoceQueuePair reliable = victim.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair unreliable = victim.createQueuePair(QueuePairType.UC, null);
    private final RoceQueuePair datagrams = victim.createQueuePair(QueuePairType.UD, null);
    private final RoceQueuePair peerQueuePair = peer.createQueuePair(QueuePairType.RC, null);
    private final MemorySegment canaries = MemorySegment.ofArray(new byte[MEMORY_BYTES]);
    private final RocePacket packet = new RocePacket();
    private final InvariantCrc crc = new InvariantCrc();
    private final List<RocePacket> captured = List.copyOf(GoldenPackets.read().values());
    private int sequence;
    private int readSequence;

    AdversaryPropertyTest() throws IOException
    {
        // captured packets are read from a file
    }

    @Test
    void shouldChangeNoByteOutsideOfRights() throws IOException
    {
        victim.onCompletion = (completion) ->
        {
        };
        network.observe(this::follow);
        network.lose((answer) -> true);
        List.of(closed.segment(), ofOtherDomain.segment(), canaries).forEach((segment) -> segment.fill((byte)0x5A));
        long usedBytes = 0;
        long residentBytes = 0;
        for (int i = 1; i <= PACKETS; i++)
        {
            reconnect();
            if (random.nextInt(4) == 0)
            {
                attackWithCaptured();
            }
            else
            {
                attack();
            }
            victim.work();
            if (i == PACKETS / 3)
            {
                usedBytes = usedBytes();
                residentBytes = residentBytes();
            }
            if (i % PACKETS_PER_CHECK == 0)
            {
                assertUntouched();
            }
        }
        // That much of it was right enough to have an effect says that the rest was stopped by checks that matter.
        final EngineCounters counters = victim.engine.counters();
        assertThat(usedBytes() - usedBytes).as("heap").isLessThan(MAX_GROWTH_BYTES);
        assertThat(residentBytes() - residentBytes).as("memory of the process").isLessThan(maxResidentGrowth());
        assertThat(counters.sent).isGreaterThan(PACKETS / 20);
        assertThat(counters.refused).isGreaterThan(PACKETS / 50);
        assertThat(counters.corrupt).isGreaterThan(PACKETS / 100);
        assertThat(counters.misdirected).isGreaterThan(PACKETS / 100);
        assertThat(counters.malformed).isGreaterThan(PACKETS / 100);
        final byte[] opened = open.segment().toArray(ValueLayout.JAVA_BYTE);
        assertThat(opened).isNotEqualTo(closed.segment().asSlice(0, OPEN_BYTES).toArray(ValueLayout.JAVA_BYTE));
        closeAll();
    }

    /** Everything that was made closes, and with it the engine: packets have made nothing. */
    private void closeAll()
    {
        List.of(reliable, unreliable, datagrams).forEach(RoceQueuePair::close);
        List.of(open, readable, closed, ofOtherDomain, victim.region).forEach(MemoryRegion::close);
        otherDomain.close();
        victim.domain.close();
        victim.completions.close();
        assertThat(victim.engine.close()).isTrue();
    }

    private static long usedBytes()
    {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Physical memory: with native memory, and that of the heap as far as it was used once. */
    private static long residentBytes() throws IOException
    {
        final String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[1];
        return Long.parseLong(pages) * PAGE_BYTES;
    }

    /** A short run still touches pages of the heap for the first time. */
    private static long maxResidentGrowth()
    {
        return PACKETS < MANY_PACKETS ? Runtime.getRuntime().maxMemory() : 4 * MAX_GROWTH_BYTES;
    }

    private void assertUntouched()
    {
        assertUntouched(closed, 0, OPEN_OFFSET);
        assertUntouched(closed, OPEN_OFFSET + OPEN_BYTES, TARGET_OFFSET);
        assertUntouched(closed, TARGET_OFFSET + TARGET_BYTES, MEMORY_BYTES);
        assertUntouched(ofOtherDomain, 0, MEMORY_BYTES);
    }

    private void assertUntouched(final MemoryRegion region, final int from, final int to)
    {
        final long changed = MemorySegment.mismatch(region.segment(), from, to, canaries, from, to);
        if (changed != -1)
        {
            throw new AssertionError("byte " + (from + changed) + " changed");
        }
    }

    /** Queue pairs that an attack has ended begin anew; one READ of the victim is always outstanding. */
    private void reconnect()
    {
        if (reliable.state() != QueuePairState.RTS)
        {
            sequence = random.nextInt(1 << 24);
            readSequence = sequence;
            reliable.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            EngineNode.connect(reliable, peer, peerQueuePair, new ConnectOptions(
                256, sequence, 4, 0, 7, 7, 1, random.nextInt(8) == 0 ? 0 : AccessFlags.ALL_REMOTE));
            reliable.begin();
            reliable.read(1, SendFlags.SIGNALED, closed.address() + TARGET_OFFSET, TARGET_BYTES, closed.localKey(),
                peer.at(0), peer.key());
            reliable.complete();
            postReceives(reliable);
        }
        if (unreliable.state() != QueuePairState.RTS)
        {
            unreliable.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            EngineNode.connect(unreliable, peer, peerQueuePair, ConnectOptions.DEFAULT);
            postReceives(unreliable);
        }
        if (datagrams.state() != QueuePairState.RTR)
        {
            datagrams.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            datagrams.modify(
                new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY));
            datagrams.modify(new QueuePairAttributes().state(QueuePairState.RTR));
            postReceives(datagrams);
        }
    }

    private void postReceives(final RoceQueuePair queuePair)
    {
        for (int i = 0; i < 4; i++)
        {
            queuePair.postReceive(i, open.address() + i * 500, random.nextInt(500), open.localKey());
        }
    }

    private void attack()
    {
        final int transport = pick(RoceOpcode.RC, RoceOpcode.RC, RoceOpcode.UC, RoceOpcode.UD);
        final int opcode = random.nextInt(50) == 0 ? random.nextInt(256) : transport | random.nextInt(0x18);
        final RoceQueuePair target = random.nextInt(20) == 0 ? reliable :
            transport == RoceOpcode.RC ? reliable : transport == RoceOpcode.UC ? unreliable : datagrams;
        final int traits = RoceOpcode.traits(opcode);
        final int headerBytes = Math.max(BthDescriptor.LENGTH_BYTES, RoceOpcode.headerBytes(opcode));
        final int payloadBytes = pick(0, 4, 8, 256, 256, random.nextInt(400));
        final int padBytes = random.nextInt(20) == 0 ? random.nextInt(4) : -payloadBytes & 3;
        BthDescriptor.encode(packet.buffer(), 0, opcode, random.nextBoolean(), padBytes,
            random.nextInt(20) == 0 ? random.nextInt(1 << 24) : target.number(), random.nextBoolean(),
            PacketSequence.add((traits & RoceOpcode.IS_RESPONSE) != 0 ? readSequence : sequence,
                random.nextInt(4) == 0 ? random.nextInt(8) - 4 : 0));
        packet.buffer().setMemory(headerBytes, payloadBytes + padBytes, (byte)random.nextInt(256));
        putHeaders(traits, payloadBytes);
        packet.lengthBytes(headerBytes + payloadBytes + padBytes + InvariantCrc.LENGTH_BYTES +
            (random.nextInt(50) == 0 ? random.nextInt(-24, 24) : 0));
        if (packet.lengthBytes() < 0)
        {
            packet.lengthBytes(0);
        }
        deliver();
    }

    /** A packet of another implementation, for a queue pair here, with the next number, then changed a little. */
    private void attackWithCaptured()
    {
        packet.copyOf(captured.get(random.nextInt(captured.size())));
        final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
        final int transport = opcode & RoceOpcode.TRANSPORT_MASK;
        final RoceQueuePair target =
            transport == RoceOpcode.UD ? datagrams : transport == RoceOpcode.UC ? unreliable : reliable;
        final int traits = RoceOpcode.traits(opcode);
        BthDescriptor.encode(packet.buffer(), 0, opcode, BthDescriptor.isSolicited(packet.buffer(), 0),
            BthDescriptor.padBytes(packet.buffer(), 0), target.number(), random.nextBoolean(),
            (traits & RoceOpcode.IS_RESPONSE) != 0 ? readSequence : sequence);
        if (random.nextInt(4) > 0)
        {
            putHeaders(traits, Math.max(0,
                packet.lengthBytes() - RoceOpcode.headerBytes(opcode) - InvariantCrc.LENGTH_BYTES));
        }
        for (int changes = random.nextInt(4); changes > 0; changes--)
        {
            final int at = random.nextInt(random.nextBoolean() ? packet.lengthBytes() : RocePacket.MIN_LENGTH_BYTES);
            packet.buffer().putByte(at, (byte)(packet.buffer().getByte(at) ^ 1 << random.nextInt(Byte.SIZE)));
        }
        if (random.nextInt(20) == 0)
        {
            packet.lengthBytes(random.nextInt(packet.lengthBytes() + 1));
        }
        deliver();
    }

    private void deliver()
    {
        packet.path(peer.address.gidHigh(), peer.address.gidLow() + (random.nextInt(30) == 0 ? 7 : 0),
            RocePath.ROCE_PORT, victim.address.gidHigh(), victim.address.gidLow(), RocePath.ROCE_PORT);
        if (packet.lengthBytes() >= RocePacket.MIN_LENGTH_BYTES && random.nextInt(20) > 0)
        {
            crc.seal(packet);
        }
        victim.engine.onPacket(packet);
    }

    /** What the victim says of its progress: so the attack knows the next number as a real peer does. */
    private void follow(final RocePacket answer)
    {
        final int opcode = BthDescriptor.opcode(answer.buffer(), 0);
        if (opcode == RoceOpcode.ACKNOWLEDGE || opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE)
        {
            final int syndrome = AethDescriptor.syndrome(answer.buffer(), BthDescriptor.LENGTH_BYTES);
            final boolean isAck = (syndrome & AethDescriptor.KIND_MASK) == AethDescriptor.ACK;
            sequence = PacketSequence.add(BthDescriptor.sequence(answer.buffer(), 0), isAck ? 1 : 0);
        }
    }

    private void putHeaders(final int traits, final int payloadBytes)
    {
        final MemoryRegion region = switch (random.nextInt(8))
        {
            case 0 -> closed;
            case 1 -> ofOtherDomain;
            case 2 -> readable;
            default -> open;
        };
        final int key = random.nextInt(30) == 0 ? random.nextInt() : region.remoteKey();
        final long inside = random.nextInt(OPEN_BYTES) & ~7;
        final long address = random.nextInt(30) == 0 ? random.nextLong() :
            (random.nextInt(10) == 0 ? closed : region).address() + pick((int)inside, (int)inside, -8, -1, 1, 4090);
        int at = BthDescriptor.LENGTH_BYTES;
        if ((traits & RoceOpcode.HAS_DETH) != 0)
        {
            DethDescriptor.encode(packet.buffer(), at, random.nextInt(10) == 0 ? 5 : QKEY, 9);
            at += DethDescriptor.LENGTH_BYTES;
        }
        if ((traits & RoceOpcode.HAS_RETH) != 0)
        {
            RethDescriptor.encode(packet.buffer(), at, address, key,
                pick(payloadBytes, payloadBytes, payloadBytes, 1_000, random.nextInt(2_000), -1));
        }
        if ((traits & RoceOpcode.HAS_ATOMIC_ETH) != 0)
        {
            AtomicEthDescriptor.encode(packet.buffer(), at, address, key, random.nextLong(), random.nextLong());
        }
        if ((traits & RoceOpcode.HAS_AETH) != 0)
        {
            AethDescriptor.encode(packet.buffer(), at, pick(0x1F, 0x1F, 0x1F, random.nextInt(256)), 3);
        }
    }

    private int pick(final int... values)
    {
        return values[random.nextInt(values.length)];
    }
}
