package io.verbena.resp.command;

/**
 * Which of the 16,384 slots of a Redis cluster a key belongs to: the CRC-16 of XMODEM of the key, or of what stands
 * between its first brace and the next closing one where that is not empty. Stateless; allocates nothing.
 */
final class HashSlot
{
    /** Slots of a cluster. */
    static final int COUNT = 16_384;
    private static final int POLYNOMIAL = 0x1021;
    private static final int TOP_BIT = 0x8000;
    private static final int MASK = 0xFFFF;
    private static final char[] TABLE = table();

    private HashSlot()
    {
    }

    private static char[] table()
    {
        final char[] table = new char[1 << Byte.SIZE];
        for (int i = 0; i < table.length; i++)
        {
            int crc = i << Byte.SIZE;
            for (int bit = 0; bit < Byte.SIZE; bit++)
            {
                crc = crc << 1 ^ (0 == (crc & TOP_BIT) ? 0 : POLYNOMIAL);
            }
            table[i] = (char)(crc & MASK);
        }
        return table;
    }

    /** @return slot of a key, 0 to 16,383. */
    static int of(final byte[] bytes, final int offset, final int lengthBytes)
    {
        final int end = offset + lengthBytes;
        final int open = indexOf(bytes, offset, end, '{');
        final int close = indexOf(bytes, open + 1, end, '}');
        final boolean isTagged = close < end && close > open + 1;
        return crc(bytes, isTagged ? open + 1 : offset, isTagged ? close : end) % COUNT;
    }

    private static int indexOf(final byte[] bytes, final int from, final int end, final char wanted)
    {
        int at = from;
        while (at < end && wanted != bytes[at])
        {
            at++;
        }
        return at;
    }

    private static int crc(final byte[] bytes, final int from, final int end)
    {
        int crc = 0;
        for (int i = from; i < end; i++)
        {
            crc = crc << Byte.SIZE & MASK ^ TABLE[(crc >>> Byte.SIZE ^ bytes[i]) & 0xFF];
        }
        return crc;
    }
}
