package io.verbena.table.format;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Which values are numbers, in which form; judged by the arithmetic of the JDK. */
class CounterValueTest
{
    private static final int AT = 3;

    private static int form(final String value, final int flags)
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        // What is next to the value must not count.
        buffer.setMemory(0, buffer.capacity(), (byte)'7');
        buffer.putBytes(AT, value.getBytes(StandardCharsets.ISO_8859_1));
        return CounterValue.form(buffer, AT, value.length(), flags);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "+5", " 5", "5 ", "007", "00", "-0", "-05", "--5", "5-", "1.5", "1e3", "0x1",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999", "100000000000000000000",
        "18446744073709551617", "123456789012345678901", "12/4", "12:4", "\u0000", "5\n"})
    void shouldTakeNothingElseForDigits(final String value)
    {
        assertThat(form(value, 0)).isEqualTo(CounterValue.NONE);
        assertThat(form(value, BlockDescriptor.FLAG_COUNTER)).isEqualTo(CounterValue.NONE);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, 9, 10, -10, 99, 100, 12345678, -1234567, Long.MAX_VALUE, Long.MIN_VALUE,
        Long.MAX_VALUE - 1, Long.MIN_VALUE + 1, 1000000000000000000L, -1000000000000000000L, 999999999999999999L})
    void shouldWriteAndReadDigits(final long number)
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        final int length = CounterValue.write(buffer, AT, number, CounterValue.DIGITS);
        assertThat(buffer.getStringWithoutLengthAscii(AT, length)).isEqualTo(Long.toString(number));
        assertThat(CounterValue.form(buffer, AT, length, 0)).isEqualTo(CounterValue.DIGITS);
        assertThat(CounterValue.number(buffer, AT, length, CounterValue.DIGITS)).isEqualTo(number);
        assertThat(length).isLessThanOrEqualTo(CounterValue.MAX_DIGITS_BYTES);
        assertThat(buffer.getByte(AT + length)).isZero();
        assertThat(buffer.getByte(AT - 1)).isZero();
    }

    @Test
    void shouldWriteAndReadEightBytes()
    {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        assertThat(CounterValue.write(buffer, AT, 0x0102030405060708L, CounterValue.BINARY)).isEqualTo(8);
        assertThat(buffer.getByte(AT)).as("little-endian").isEqualTo((byte)8);
        assertThat(CounterValue.number(buffer, AT, 8, CounterValue.BINARY)).isEqualTo(0x0102030405060708L);
        assertThat(CounterValue.number(buffer, AT, 8, CounterValue.BYTES)).isEqualTo(0x0102030405060708L);
        assertThat(CounterValue.flags(CounterValue.BINARY)).isEqualTo(BlockDescriptor.FLAG_COUNTER);
        assertThat(CounterValue.flags(CounterValue.DIGITS)).isZero();
    }

    @Test
    void shouldGoByTheFlagBeforeTheContent()
    {
        assertThat(form("12345678", 0)).isEqualTo(CounterValue.DIGITS);
        assertThat(form("12345678", BlockDescriptor.FLAG_COUNTER)).isEqualTo(CounterValue.BINARY);
        assertThat(form("hello123", 0)).isEqualTo(CounterValue.BYTES);
        assertThat(form("hello123", BlockDescriptor.FLAG_COUNTER)).isEqualTo(CounterValue.BINARY);
        assertThat(form("00000000", 0)).isEqualTo(CounterValue.BYTES);
        assertThat(form("hello12", 0)).isEqualTo(CounterValue.NONE);
        assertThat(form("hello1234", 0)).isEqualTo(CounterValue.NONE);
    }

    /** Of many strings that are nearly numbers. */
    @Test
    void shouldAgreeWithTheJdk()
    {
        final Random random = new Random(24);
        for (int i = 0; i < 200_000; i++)
        {
            final int length = 1 + random.nextInt(21);
            final StringBuilder text = new StringBuilder(random.nextInt(4) == 0 ? "-" : "");
            for (int at = 0; at < length; at++)
            {
                text.append(random.nextInt(60) == 0 ? (char)random.nextInt(128) : (char)('0' + random.nextInt(10)));
            }
            // Around the largest and the least number, where most is to be got wrong.
            final String value = random.nextInt(4) > 0 ? text.toString() : BigInteger.valueOf(
                random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE).add(BigInteger.valueOf(random.nextInt(41) - 20))
                .toString();
            final boolean isNumber = value.matches("0|-?[1-9]\\d{0,18}") && new BigInteger(value).bitLength() < 64;
            final int expected = isNumber ? CounterValue.DIGITS :
                value.length() == Long.BYTES ? CounterValue.BYTES : CounterValue.NONE;
            assertThat(form(value, 0)).as(value).isEqualTo(expected);
        }
    }
}
