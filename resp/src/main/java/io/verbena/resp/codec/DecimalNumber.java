package io.verbena.resp.codec;

/**
 * Numbers of 64 bits in decimal digits, in the one form that Redis takes for an integer: no blank, no plus, no zero in
 * front. Stateless; allocates nothing.
 */
public final class DecimalNumber
{
    /** Longest number: the least one. */
    public static final int MAX_DIGITS = 20;
    private static final int RADIX = 10;

    private DecimalNumber()
    {
    }

    /** @return whether the bytes are a number that fits 64 bits. */
    public static boolean isNumber(final byte[] bytes, final int offset, final int lengthBytes)
    {
        if (lengthBytes < 1 || lengthBytes > MAX_DIGITS)
        {
            return false;
        }
        final boolean isNegative = '-' == bytes[offset];
        final int from = offset + (isNegative ? 1 : 0);
        final int end = offset + lengthBytes;
        if (from == end || '0' == bytes[from] && (lengthBytes > 1))
        {
            return false;
        }
        // Down from 0, as there are more negative numbers.
        long sum = 0;
        for (int i = from; i < end; i++)
        {
            final int digit = bytes[i] - '0';
            if (digit < 0 || digit >= RADIX || sum < (Long.MIN_VALUE + digit) / RADIX)
            {
                return false;
            }
            sum = sum * RADIX - digit;
        }
        return isNegative || sum != Long.MIN_VALUE;
    }

    /** @return the number; only where {@link #isNumber}. */
    public static long parse(final byte[] bytes, final int offset, final int lengthBytes)
    {
        final boolean isNegative = '-' == bytes[offset];
        long sum = 0;
        for (int i = offset + (isNegative ? 1 : 0); i < offset + lengthBytes; i++)
        {
            sum = sum * RADIX - (bytes[i] - '0');
        }
        return isNegative ? sum : -sum;
    }

    /**
     * Writes a number.
     *
     * @param number to write.
     * @param target with {@link #MAX_DIGITS} bytes of room.
     * @param offset where it begins.
     * @return its length in bytes.
     */
    public static int write(final long number, final byte[] target, final int offset)
    {
        int length = number < 0 ? 1 : 0;
        long left = number;
        do
        {
            length++;
            left /= RADIX;
        }
        while (0 != left);
        int at = offset + length;
        left = number;
        do
        {
            target[--at] = (byte)('0' + Math.abs(left % RADIX));
            left /= RADIX;
        }
        while (0 != left);
        if (number < 0)
        {
            target[offset] = '-';
        }
        return length;
    }
}
