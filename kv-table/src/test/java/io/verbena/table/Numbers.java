package io.verbena.table;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** In which forms the numbers of a run are written, and what is asked of them. */
enum Numbers
{
    /** As 8 bytes, by callers to whom numbers are that. */
    BYTES,
    /** As digits, by callers of both kinds. */
    DIGITS,
    /** Some as 8 bytes and some as digits, by callers to whom numbers are 8 bytes. */
    BOTH;

    static Numbers of(final long seed)
    {
        return values()[(int)Math.floorMod(seed, (long)values().length)];
    }

    /** @return whether numbers are digits to whoever asks for the operation with this number. */
    boolean isInDigits(final long operation)
    {
        return this == DIGITS && operation % 2 == 0;
    }

    byte[] valueOf(final long number)
    {
        if (this == DIGITS || this == BOTH && number % 2 == 0)
        {
            return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
        }
        final byte[] bytes = new byte[Long.BYTES];
        new UnsafeBuffer(bytes).putLong(0, number, LITTLE_ENDIAN);
        return bytes;
    }

    /** Numbers of a run are small: as 8 bytes they are no digits. @return -1 where there is none. */
    static long numberIn(final byte[] value)
    {
        final String text = new String(value, StandardCharsets.ISO_8859_1);
        return text.matches("-?\\d+") ? Long.parseLong(text) :
            value.length == Long.BYTES ? new UnsafeBuffer(value).getLong(0, LITTLE_ENDIAN) : -1;
    }
}
