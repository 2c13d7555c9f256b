package io.verbena.table.format;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Numbers of 64 bits as values of records, in the forms that an increment adds to. Digits are those of Redis: a minus
 * where the number is below 0, no plus, no blank, no zero in front. Stateless; allocates nothing.
 */
public final class CounterValue
{
    /** No number. */
    public static final int NONE = 0;
    /** 8 bytes, little-endian, two's complement, of a block that says so: {@link BlockDescriptor#FLAG_COUNTER}. */
    public static final int BINARY = 1;
    /** Decimal digits. */
    public static final int DIGITS = 2;
    /** 8 bytes that are no digits, of a block that does not say what they are: a number for those who expect one. */
    public static final int BYTES = 3;
    /** Longest number in digits: the least one. */
    public static final int MAX_DIGITS_BYTES = 20;

    private static final int RADIX = 10;

    private CounterValue()
    {
    }

    /**
     * @param buffer      holds the value.
     * @param offset      of its first byte.
     * @param lengthBytes of the value.
     * @param flags       of its block.
     * @return in which form the value is a number, or {@link #NONE}.
     */
    public static int form(final DirectBuffer buffer, final int offset, final int lengthBytes, final int flags)
    {
        if (lengthBytes == Long.BYTES && (flags & BlockDescriptor.FLAG_COUNTER) != 0)
        {
            return BINARY;
        }
        return isDigits(buffer, offset, lengthBytes) ? DIGITS : lengthBytes == Long.BYTES ? BYTES : NONE;
    }

    private static boolean isDigits(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        if (lengthBytes < 1 || lengthBytes > MAX_DIGITS_BYTES)
        {
            return false;
        }
        final boolean isNegative = buffer.getByte(offset) == '-';
        final int end = offset + lengthBytes;
        int at = offset + (isNegative ? 1 : 0);
        if (at == end || buffer.getByte(at) == '0' && lengthBytes > 1)
        {
            return false;
        }
        // Down from 0: there is one more number below it than above.
        long sum = 0;
        for (; at < end; at++)
        {
            final int digit = buffer.getByte(at) - '0';
            if (digit < 0 || digit >= RADIX || sum < (Long.MIN_VALUE + digit) / RADIX)
            {
                return false;
            }
            sum = sum * RADIX - digit;
        }
        return isNegative || sum != Long.MIN_VALUE;
    }

    /**
     * @param form of the value, not {@link #NONE}.
     * @return the number that the value is.
     */
    public static long number(final DirectBuffer buffer, final int offset, final int lengthBytes, final int form)
    {
        if (form != DIGITS)
        {
            return buffer.getLong(offset, LITTLE_ENDIAN);
        }
        final boolean isNegative = buffer.getByte(offset) == '-';
        long sum = 0;
        for (int at = offset + (isNegative ? 1 : 0); at < offset + lengthBytes; at++)
        {
            sum = sum * RADIX - (buffer.getByte(at) - '0');
        }
        return isNegative ? sum : -sum;
    }

    /**
     * Writes a number as a value.
     *
     * @param buffer with {@link #MAX_DIGITS_BYTES} of room.
     * @param offset of the value's first byte.
     * @param number to write.
     * @param form   {@link #BINARY} or {@link #DIGITS}.
     * @return length of the value in bytes.
     */
    public static int write(final MutableDirectBuffer buffer, final int offset, final long number, final int form)
    {
        if (form != DIGITS)
        {
            buffer.putLong(offset, number, LITTLE_ENDIAN);
            return Long.BYTES;
        }
        int length = number < 0 ? 1 : 0;
        long left = number;
        do
        {
            length++;
            left /= RADIX;
        }
        while (left != 0);
        int at = offset + length;
        left = number;
        do
        {
            buffer.putByte(--at, (byte)('0' + Math.abs(left % RADIX)));
            left /= RADIX;
        }
        while (left != 0);
        if (number < 0)
        {
            buffer.putByte(offset, (byte)'-');
        }
        return length;
    }

    /** @return the flags of a block whose value is a number in this form. */
    public static int flags(final int form)
    {
        return form == BINARY ? BlockDescriptor.FLAG_COUNTER : 0;
    }
}
