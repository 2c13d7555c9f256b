package io.verbena.rdma.roce.wire;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class InvariantCrcTest
{
    private static final long MAPPED = 0xFFFF_0000_0000L;

    private final InvariantCrc crc = new InvariantCrc();

    @Test
    void shouldAcceptPacketsThatOthersSent() throws IOException
    {
        final Map<String, RocePacket> packets = GoldenPackets.read();
        assertThat(packets).isNotEmpty().allSatisfy((name, packet) -> assertThat(crc.isIntact(packet)).isTrue());
    }

    @Test
    void shouldSealAsOthersDo() throws IOException
    {
        GoldenPackets.read().forEach((name, packet) ->
        {
            final RocePacket copy = new RocePacket();
            copy.copyOf(packet);
            copy.buffer().putInt(copy.lengthBytes() - InvariantCrc.LENGTH_BYTES, 0);
            assertThat(crc.isIntact(copy)).as(name).isFalse();
            crc.seal(copy);
            for (int i = 0; i < packet.lengthBytes(); i++)
            {
                assertThat(copy.buffer().getByte(i)).as("%s, byte %d", name, i).isEqualTo(packet.buffer().getByte(i));
            }
        });
    }

    @Test
    void shouldCoverEveryBitOfThePacketExceptCongestionMarks() throws IOException
    {
        GoldenPackets.read().forEach((name, packet) ->
        {
            for (int bit = 0; bit < packet.lengthBytes() * Byte.SIZE; bit++)
            {
                final int at = bit / Byte.SIZE;
                packet.buffer().putByte(at, (byte)(packet.buffer().getByte(at) ^ 1 << bit % Byte.SIZE));
                assertThat(crc.isIntact(packet)).as("%s, bit %d of byte %d", name, bit % Byte.SIZE, at)
                    .isEqualTo(at == BthDescriptor.CONGESTION_OFFSET);
                packet.buffer().putByte(at, (byte)(packet.buffer().getByte(at) ^ 1 << bit % Byte.SIZE));
            }
        });
    }

    @Test
    void shouldCoverAddressesPortsAndLength()
    {
        for (final boolean isIpv4 : new boolean[] {false, true})
        {
            final RocePacket packet = sealed(isIpv4);
            final long high = packet.sourceHigh();
            final long low = packet.sourceLow();
            packet.path(high, low ^ 1, 1, high, low, RocePath.ROCE_PORT);
            assertThat(crc.isIntact(packet)).isFalse();
            packet.path(high, low, 1, high, low ^ 1, RocePath.ROCE_PORT);
            assertThat(crc.isIntact(packet)).isFalse();
            packet.path(high, low, 2, high, low, RocePath.ROCE_PORT);
            assertThat(crc.isIntact(packet)).isFalse();
            packet.path(high, low, 1, high, low, RocePath.ROCE_PORT + 1);
            assertThat(crc.isIntact(packet)).isFalse();
            packet.path(high, low, 1, high, low, RocePath.ROCE_PORT);
            assertThat(crc.isIntact(packet)).isTrue();
        }
    }

    /** A UDP socket does not show the field, so every value of it is as good as another. */
    @Test
    void shouldAcceptAnyIdentificationOfIpv4AndNothingElse()
    {
        final SplittableRandom random = new SplittableRandom(4);
        int acceptedCount = 0;
        for (int i = 0; i < 200_000; i++)
        {
            final RocePacket packet = sealed(true);
            packet.lengthBytes(BthDescriptor.LENGTH_BYTES + 4 * random.nextInt(i % 50 == 0 ? 1024 : 40) +
                InvariantCrc.LENGTH_BYTES);
            packet.identification(random.nextInt(1 << Short.SIZE));
            crc.seal(packet);
            packet.identification(0);
            assertThat(crc.isIntact(packet)).isTrue();
            final int at = random.nextInt(packet.lengthBytes());
            packet.buffer().putInt(Math.min(at, packet.lengthBytes() - Integer.BYTES), random.nextInt());
            packet.buffer().putByte(BthDescriptor.OPCODE_OFFSET, (byte)random.nextInt(256));
            acceptedCount += crc.isIntact(packet) ? 1 : 0;
        }
        // One in 65,536, and a few that changed nothing.
        assertThat(acceptedCount).isLessThan(20);
        final RocePacket overIpv6 = sealed(false);
        overIpv6.buffer().putInt(overIpv6.lengthBytes() - Integer.BYTES, 1);
        assertThat(crc.isIntact(overIpv6)).isFalse();
    }

    /** More ways and lengths than are kept, in an order that takes each other's places, beside one that keeps none. */
    @Test
    void shouldComputeTheSameHoweverManyWaysItHasSeen()
    {
        final SplittableRandom random = new SplittableRandom(9);
        final RocePacket packet = new RocePacket();
        for (int i = 0; i < 100_000; i++)
        {
            final boolean isIpv4 = random.nextInt(4) == 0;
            final long high = isIpv4 ? 0 : 0xFD00_0000_0000_0000L + random.nextInt(2);
            final long low = isIpv4 ? MAPPED : 0;
            packet.path(high, low | random.nextInt(3), random.nextInt(4) << 14, high, low | random.nextInt(3),
                RocePath.ROCE_PORT + random.nextInt(3));
            packet.identification(isIpv4 ? random.nextInt(3) : 0);
            BthDescriptor.encode(packet.buffer(), 0, random.nextInt(256), false, 0, random.nextInt(), true, i);
            packet.buffer().putByte(BthDescriptor.CONGESTION_OFFSET, (byte)(random.nextInt(4) == 0 ? 0x80 : 0));
            packet.lengthBytes(RocePacket.MIN_LENGTH_BYTES + 4 * random.nextInt(random.nextInt(10) == 0 ? 1024 : 20));
            packet.buffer().putLong(BthDescriptor.LENGTH_BYTES, random.nextLong());
            if (i % 1000 == 0 || random.nextInt(100) == 0)
            {
                assertThat(crc.compute(packet)).as("%d: %d bytes", i, packet.lengthBytes())
                    .isEqualTo(new InvariantCrc().compute(packet)).isEqualTo(ofAllBytes(packet));
            }
            else
            {
                crc.compute(packet);
            }
        }
    }

    /** Bit by bit over all that the specification names, written down once more. */
    private static int ofAllBytes(final RocePacket packet)
    {
        final int udpBytes = 8 + packet.lengthBytes();
        final ByteBuffer bytes = ByteBuffer.allocate(8 + 40 + 8 + packet.lengthBytes());
        bytes.putLong(-1);
        if (packet.isIpv4())
        {
            bytes.putShort((short)0x45FF).putShort((short)(20 + udpBytes)).putShort((short)packet.identification())
                .putShort((short)0x4000).put((byte)-1).put((byte)17).putShort((short)-1)
                .putInt((int)packet.sourceLow()).putInt((int)packet.destinationLow());
        }
        else
        {
            bytes.putInt(0x6FFF_FFFF).putShort((short)udpBytes).put((byte)17).put((byte)-1)
                .putLong(packet.sourceHigh()).putLong(packet.sourceLow())
                .putLong(packet.destinationHigh()).putLong(packet.destinationLow());
        }
        bytes.putShort((short)packet.sourcePort()).putShort((short)packet.destinationPort())
            .putShort((short)udpBytes).putShort((short)-1);
        for (int i = 0; i < packet.lengthBytes() - InvariantCrc.LENGTH_BYTES; i++)
        {
            bytes.put(i == BthDescriptor.CONGESTION_OFFSET ? (byte)-1 : packet.buffer().getByte(i));
        }
        int register = -1;
        for (int bit = 0; bit < bytes.position() * Byte.SIZE; bit++)
        {
            register ^= bytes.get(bit / Byte.SIZE) >>> bit % Byte.SIZE & 1;
            register = register >>> 1 ^ ((register & 1) == 0 ? 0 : 0xEDB8_8320);
        }
        return ~register;
    }

    @Test
    void shouldAllocateNothing()
    {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final RocePacket packet = sealed(false);
        long allocatedBytes = 0;
        for (int round = 0; round < 20; round++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++)
            {
                crc.seal(packet);
            }
            allocatedBytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        // The measurement itself may allocate a little; a packet that did would come to 10,000 times its part.
        assertThat(allocatedBytes).isLessThan(10_000);
    }

    private RocePacket sealed(final boolean isIpv4)
    {
        final RocePacket packet = new RocePacket();
        final long high = isIpv4 ? 0 : 0xFD00_0000_0000_0001L;
        final long low = isIpv4 ? MAPPED | 0x0A00_0001 : 5;
        packet.path(high, low, 1, high, low, RocePath.ROCE_PORT);
        BthDescriptor.encode(packet.buffer(), 0, RoceOpcode.SEND_ONLY, false, 0, 17, true, 4);
        packet.buffer().setMemory(BthDescriptor.LENGTH_BYTES, 100, (byte)7);
        packet.lengthBytes(BthDescriptor.LENGTH_BYTES + 100 + InvariantCrc.LENGTH_BYTES);
        crc.seal(packet);
        return packet;
    }
}
