package io.verbena.rdma.roce.wire;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * The invariant CRC (ICRC) at the end of each packet (specification, 7.8.1, and annex A17.3.3): the CRC-32 of Ethernet
 * over what no router changes. It begins with 8 bytes of ones, then come the IP and UDP headers, the BTH, the other
 * headers, payload and padding. Ones stand in place of what may change on the way: traffic class, flow label and hop
 * limit (IPv6), type of service, time to live and checksum (IPv4), the UDP checksum, and the byte of the BTH with the
 * congestion marks. Little-endian in the packet, as the lowest byte goes first in Ethernet.
 *
 * <pre>
 *  |  8  |  IPv6: 40, IPv4: 20  |  8  | 12  |                        | 4  |
 *  +-----+----------------------+-----+-----+------------------------+----+
 *  |ones |      IP header       | UDP | BTH |headers, payload, padding|ICRC|
 *  +-----+----------------------+-----+-----+------------------------+----+
 *  |&lt;------------- covered, with ones in changing fields ----------&gt;|
 * </pre>
 *
 * IPv4 packets are taken as sent without options and with "don't fragment". Their identification field, which a UDP
 * socket does not show, may have any value: the CRC is linear, so that what this field adds to it can be separated from
 * everything else, and the other 16 bits of the CRC check the packet. Used by one thread at a time; allocates nothing
 * once made.
 */
public final class InvariantCrc
{
    /** Length of the CRC. */
    public static final int LENGTH_BYTES = Integer.BYTES;

    private static final int ONES_BYTES = 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP_BYTES = 8;
    private static final int PROTOCOL_UDP = 17;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final int VERSION_6_AND_ONES = 0x6FFF_FFFF;
    private static final int VERSION_4_AND_ONES = 0x45FF;
    private static final int ONES = 0xFF;
    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    private static final int POLYNOMIAL = 0xEDB8_8320;
    /** Bytes of the prefix that are behind the identification field of IPv4. */
    private static final int BEHIND_IDENTIFICATION_BYTES = IPV4_BYTES - 6 + UDP_BYTES;
    private static final int IDENTIFICATION_BYTES = Short.BYTES;
    private static final int IDENTIFICATION_BITS = Short.SIZE;
    /** Linear: what a bit of the register was, 1, 2, 4, ... bytes of zeros earlier. */
    private static final int[][] EARLIER = new int[Short.SIZE][Integer.SIZE];

    static
    {
        for (int bit = 0; bit < Integer.SIZE; bit++)
        {
            int register = 1 << bit;
            for (int step = 0; step < Byte.SIZE; step++)
            {
                register = register < 0 ? (register ^ POLYNOMIAL) << 1 | 1 : register << 1;
            }
            EARLIER[0][bit] = register;
        }
        for (int power = 1; power < EARLIER.length; power++)
        {
            for (int bit = 0; bit < Integer.SIZE; bit++)
            {
                EARLIER[power][bit] = apply(EARLIER[power - 1], EARLIER[power - 1][bit]);
            }
        }
    }

    private static final int CACHED_WAYS = 256;
    /** Words of a cached way: the four of its addresses, ports and length, what the headers add. */
    private static final int WAY_WORDS = 6;
    private static final int WAY_HASH = 0x9E37_79B1;
    private static final int WAY_SHIFT = Integer.SIZE - Integer.numberOfTrailingZeros(CACHED_WAYS);

    private final EthernetCrc own = new EthernetCrc();
    private final CRC32 crc = new CRC32();
    private final byte[] prefix = new byte[ONES_BYTES + IPV6_BYTES + UDP_BYTES + BthDescriptor.LENGTH_BYTES];
    private final UnsafeBuffer prefixBuffer = new UnsafeBuffer(prefix);
    /**
     * The CRC is linear: what the headers of the network and the ones add to the CRC of the packet's own bytes depends
     * on them and the length alone. Kept for each address, port and length, in one place of the table.
     */
    private final long[] ways = new long[CACHED_WAYS * WAY_WORDS];

    /** Makes one; the prefix begins with its ones. */
    public InvariantCrc()
    {
        prefixBuffer.setMemory(0, ONES_BYTES, (byte)ONES);
    }

    /**
     * Writes the CRC into the last four bytes of a packet.
     *
     * @param packet complete but for them.
     */
    public void seal(final RocePacket packet)
    {
        packet.buffer().putInt(packet.lengthBytes() - LENGTH_BYTES, compute(packet), ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Decides whether a packet arrived as it was sealed.
     *
     * @param packet with at least {@link RocePacket#MIN_LENGTH_BYTES}.
     * @return whether its last four bytes are the CRC of the rest; over IPv4, with any identification field.
     */
    public boolean isIntact(final RocePacket packet)
    {
        final int difference =
            packet.buffer().getInt(packet.lengthBytes() - LENGTH_BYTES, ByteOrder.LITTLE_ENDIAN) ^ compute(packet);
        return difference == 0 || packet.isIpv4() && isOfIdentification(difference, packet.lengthBytes());
    }

    /** Whether a CRC differs as it does for another identification field and nothing else. */
    private static boolean isOfIdentification(final int difference, final int lengthBytes)
    {
        final int bytes = IDENTIFICATION_BYTES + BEHIND_IDENTIFICATION_BYTES + lengthBytes - LENGTH_BYTES;
        int register = difference;
        for (int power = 0; bytes >>> power != 0; power++)
        {
            if ((bytes >>> power & 1) != 0)
            {
                register = apply(EARLIER[power], register);
            }
        }
        return register >>> IDENTIFICATION_BITS == 0;
    }

    private static int apply(final int[] images, final int register)
    {
        int sum = 0;
        for (int left = register; left != 0; left &= left - 1)
        {
            sum ^= images[Integer.numberOfTrailingZeros(left)];
        }
        return sum;
    }

    /**
     * Computes the CRC.
     *
     * @param packet with room for the CRC in its length.
     * @return the CRC.
     */
    public int compute(final RocePacket packet)
    {
        if (packet.buffer().getByte(BthDescriptor.CONGESTION_OFFSET) != 0)
        {
            return computeAll(packet);
        }
        // No length is 0: an empty place is nobody's.
        final long portsAndLength = (long)packet.sourcePort() << 48 | (long)packet.destinationPort() << 32 |
            (long)packet.identification() << 16 | packet.lengthBytes();
        final int way = WAY_WORDS * ((int)(portsAndLength >>> 32 ^ portsAndLength) * WAY_HASH >>> WAY_SHIFT);
        if (((ways[way] ^ packet.sourceHigh()) | (ways[way + 1] ^ packet.sourceLow()) |
            (ways[way + 2] ^ packet.destinationHigh()) | (ways[way + 3] ^ packet.destinationLow()) |
            (ways[way + 4] ^ portsAndLength)) != 0)
        {
            ways[way] = packet.sourceHigh();
            ways[way + 1] = packet.sourceLow();
            ways[way + 2] = packet.destinationHigh();
            ways[way + 3] = packet.destinationLow();
            ways[way + 4] = portsAndLength;
            ways[way + 5] = computeAll(packet) ^ computeOwn(packet);
        }
        return computeOwn(packet) ^ (int)ways[way + 5];
    }

    /** Of the packet's own bytes, as a CRC of their own. */
    private int computeOwn(final RocePacket packet)
    {
        return own.compute(packet.bytes(), packet.address(), packet.offset(), packet.lengthBytes() - LENGTH_BYTES,
            packet.offset());
    }

    /** Headers and all, the congestion marks as ones. */
    private int computeAll(final RocePacket packet)
    {
        final int bthOffset = encodeNetworkHeaders(packet);
        prefixBuffer.putBytes(bthOffset, packet.buffer(), 0, BthDescriptor.LENGTH_BYTES);
        prefixBuffer.putByte(bthOffset + BthDescriptor.CONGESTION_OFFSET, (byte)ONES);
        crc.reset();
        crc.update(prefix, 0, bthOffset + BthDescriptor.LENGTH_BYTES);
        final ByteBuffer bytes = packet.bytes();
        final int offset = packet.offset();
        bytes.limit(offset + packet.lengthBytes() - LENGTH_BYTES).position(offset + BthDescriptor.LENGTH_BYTES);
        crc.update(bytes);
        return (int)crc.getValue();
    }

    private int encodeNetworkHeaders(final RocePacket packet)
    {
        final int udpBytes = UDP_BYTES + packet.lengthBytes();
        final int udpOffset;
        if (packet.isIpv4())
        {
            prefixBuffer.putShort(ONES_BYTES, (short)VERSION_4_AND_ONES, ORDER);
            prefixBuffer.putShort(ONES_BYTES + 2, (short)(IPV4_BYTES + udpBytes), ORDER);
            prefixBuffer.putShort(ONES_BYTES + 4, (short)packet.identification(), ORDER);
            prefixBuffer.putShort(ONES_BYTES + 6, (short)DO_NOT_FRAGMENT, ORDER);
            prefixBuffer.putByte(ONES_BYTES + 8, (byte)ONES);
            prefixBuffer.putByte(ONES_BYTES + 9, (byte)PROTOCOL_UDP);
            prefixBuffer.putShort(ONES_BYTES + 10, (short)-1, ORDER);
            prefixBuffer.putInt(ONES_BYTES + 12, (int)packet.sourceLow(), ORDER);
            prefixBuffer.putInt(ONES_BYTES + 16, (int)packet.destinationLow(), ORDER);
            udpOffset = ONES_BYTES + IPV4_BYTES;
        }
        else
        {
            prefixBuffer.putInt(ONES_BYTES, VERSION_6_AND_ONES, ORDER);
            prefixBuffer.putShort(ONES_BYTES + 4, (short)udpBytes, ORDER);
            prefixBuffer.putByte(ONES_BYTES + 6, (byte)PROTOCOL_UDP);
            prefixBuffer.putByte(ONES_BYTES + 7, (byte)ONES);
            prefixBuffer.putLong(ONES_BYTES + 8, packet.sourceHigh(), ORDER);
            prefixBuffer.putLong(ONES_BYTES + 16, packet.sourceLow(), ORDER);
            prefixBuffer.putLong(ONES_BYTES + 24, packet.destinationHigh(), ORDER);
            prefixBuffer.putLong(ONES_BYTES + 32, packet.destinationLow(), ORDER);
            udpOffset = ONES_BYTES + IPV6_BYTES;
        }
        prefixBuffer.putShort(udpOffset, (short)packet.sourcePort(), ORDER);
        prefixBuffer.putShort(udpOffset + 2, (short)packet.destinationPort(), ORDER);
        prefixBuffer.putShort(udpOffset + 4, (short)udpBytes, ORDER);
        prefixBuffer.putShort(udpOffset + 6, (short)-1, ORDER);
        return udpOffset + UDP_BYTES;
    }
}
