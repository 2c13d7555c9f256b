package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.DeviceAddress;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;

/**
 * What one side sends the other of its queue pair over TCP, in the texts of perftest and of rdma-core's ping-pong
 * programs. All are of a fixed length and end with a 0.
 *
 * @param address   of the memory that the peer reaches; 0 in texts that have none.
 * @param sequence  of the first packet that it sends.
 * @param remoteKey of the memory; 0 in texts that have none.
 */
record QueuePairKeys(DeviceAddress device, int number, int sequence, int remoteKey, long address)
{
    static final int PERFTEST_BYTES = 108;
    static final int PINGPONG_BYTES = 52;

    private static final int HEX = 16;
    private static final int GID_BYTES = 16;
    /** READs and atomics that a peer may have outstanding here. */
    static final int READ_ATOMIC = 16;
    private static final int PERFTEST_PARTS = 6 + GID_BYTES + 1;
    private static final int PINGPONG_PARTS = 4;

    byte[] toPerftest()
    {
        final StringBuilder text = new StringBuilder(String.format("0000:%04x:%06x:%06x:%08x:%016x:", READ_ATOMIC,
            number, sequence, remoteKey, address));
        for (int i = 0; i < GID_BYTES; i++)
        {
            text.append(gid(), 2 * i, 2 * i + 2).append(':');
        }
        return withEnd(text.append("00000000:").toString(), PERFTEST_BYTES);
    }

    static QueuePairKeys ofPerftest(final byte[] message)
    {
        final String[] parts = parts(message, PERFTEST_PARTS);
        return new QueuePairKeys(device(String.join("", Arrays.copyOfRange(parts, 6, 6 + GID_BYTES))),
            number(parts[2]), number(parts[3]), number(parts[4]), Long.parseUnsignedLong(parts[5], HEX));
    }

    byte[] toPingpong()
    {
        return withEnd(String.format("0000:%06x:%06x:%s", number, sequence, gid()), PINGPONG_BYTES);
    }

    static QueuePairKeys ofPingpong(final byte[] message)
    {
        final String[] parts = parts(message, PINGPONG_PARTS);
        return new QueuePairKeys(device(parts[3]), number(parts[1]), number(parts[2]), 0, 0);
    }

    private String gid()
    {
        return String.format("%016x%016x", device.gidHigh(), device.gidLow());
    }

    private static DeviceAddress device(final String gid)
    {
        if (2 * GID_BYTES != gid.length())
        {
            throw new AssertionError("GID is not of 16 bytes: " + gid);
        }
        return new DeviceAddress(HexFormat.fromHexDigitsToLong(gid, 0, HEX),
            HexFormat.fromHexDigitsToLong(gid, HEX, 2 * HEX));
    }

    private static int number(final String text)
    {
        return Integer.parseUnsignedInt(text, HEX);
    }

    private static String[] parts(final byte[] message, final int count)
    {
        final String text = new String(message, StandardCharsets.US_ASCII).replace("\0", "").toLowerCase(Locale.ROOT);
        final String[] parts = text.split(":");
        if (count != parts.length)
        {
            throw new AssertionError("not " + count + " parts: " + text);
        }
        return parts;
    }

    private static byte[] withEnd(final String text, final int lengthBytes)
    {
        if (lengthBytes - 1 != text.length())
        {
            throw new AssertionError(text.length() + " characters, not " + (lengthBytes - 1) + ": " + text);
        }
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), lengthBytes);
    }
}
