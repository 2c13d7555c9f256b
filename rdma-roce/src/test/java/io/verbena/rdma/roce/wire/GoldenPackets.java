package io.verbena.rdma.roce.wire;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** Packets that others sent, from their IP headers on: lines of a name and hexadecimal digits. */
public final class GoldenPackets
{
    private static final int IPV6 = 6;
    private static final long MAPPED = 0xFFFF_0000_0000L;

    private GoldenPackets()
    {
    }

    /** All of them by name, in the order of the file. */
    public static Map<String, RocePacket> read() throws IOException
    {
        final Map<String, RocePacket> packets = new LinkedHashMap<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
            GoldenPackets.class.getResourceAsStream("golden-packets.txt"), StandardCharsets.US_ASCII)))
        {
            reader.lines().filter((line) -> !line.isBlank() && !line.startsWith("#")).forEach((line) ->
            {
                final String[] parts = line.split(" ");
                packets.put(parts[0], parse(HexFormat.of().parseHex(parts[1])));
            });
        }
        return packets;
    }

    private static RocePacket parse(final byte[] bytes)
    {
        final ByteBuffer ip = ByteBuffer.wrap(bytes);
        final RocePacket packet = new RocePacket();
        final int udpOffset;
        if (bytes[0] >>> 4 == IPV6)
        {
            udpOffset = 40;
            packet.path(ip.getLong(8), ip.getLong(16), port(ip, udpOffset),
                ip.getLong(24), ip.getLong(32), port(ip, udpOffset + 2));
        }
        else
        {
            udpOffset = 20;
            packet.path(0, MAPPED | ip.getInt(12) & 0xFFFF_FFFFL, port(ip, udpOffset),
                0, MAPPED | ip.getInt(16) & 0xFFFF_FFFFL, port(ip, udpOffset + 2));
            packet.identification(ip.getShort(4) & 0xFFFF);
        }
        packet.lengthBytes(bytes.length - udpOffset - 8);
        packet.buffer().putBytes(0, bytes, udpOffset + 8, packet.lengthBytes());
        return packet;
    }

    private static int port(final ByteBuffer ip, final int offset)
    {
        return ip.getShort(offset) & 0xFFFF;
    }
}
