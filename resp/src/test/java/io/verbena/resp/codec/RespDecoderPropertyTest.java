package io.verbena.resp.codec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class RespDecoderPropertyTest
{
    private static final int MAX_COMMAND = 1 << 20;

    private final MemoryBudget budget = new MemoryBudget(64 << 20);

    private static byte[] bytes(final String text)
    {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Feeds bytes in pieces, and lists what is found; an error ends the list. */
    private List<String> decode(final byte[] input, final Random splits, final int most)
    {
        final RespDecoder decoder = new RespDecoder(budget, MAX_COMMAND);
        final List<String> found = new ArrayList<>();
        boolean isWhole = true;
        for (int at = 0; at < input.length && isWhole;)
        {
            final int piece = Math.min(input.length - at, null == splits ? most : 1 + splits.nextInt(most));
            isWhole = decoder.reserve(piece);
            System.arraycopy(input, at, decoder.array(), decoder.arrayOffset(), piece);
            decoder.received(piece);
            at += piece;
            int next;
            while (RespDecoder.COMMAND == (next = decoder.next()))
            {
                found.add(describe(decoder));
            }
            isWhole &= RespDecoder.NEEDS_MORE == next;
        }
        if (null != decoder.error())
        {
            found.add("error: " + decoder.error());
        }
        decoder.close();
        return found;
    }

    private static String describe(final RespDecoder decoder)
    {
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < decoder.count(); i++)
        {
            final int hash = decoder.isKept(i) ? Arrays.hashCode(decoder.bytes(i)) : 0;
            text.append(decoder.isKept(i) && decoder.length(i) < 40 ? decoder.text(i) : "#" + hash)
                .append('/').append(decoder.length(i)).append(' ');
        }
        return text.toString();
    }

    /** Whatever the reads are, the commands are those that were sent. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldFindTheSameCommandsHoweverTheBytesAreSplit(final long seed)
    {
        final Random random = new Random(seed);
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        final List<String> expected = new ArrayList<>();
        for (int i = 0; i < 200; i++)
        {
            append(random, all, expected);
        }
        final byte[] input = all.toByteArray();
        assertThat(decode(input, null, 1 << 20)).isEqualTo(expected);
        assertThat(decode(input, random, 7)).isEqualTo(expected);
        assertThat(decode(input, random, 5_000)).isEqualTo(expected);
        assertThat(decode(input, random, 200_000)).isEqualTo(expected);
        assertThat(budget.takenBytes()).isZero();
    }

    private static void append(final Random random, final ByteArrayOutputStream all, final List<String> expected)
    {
        switch (random.nextInt(8))
        {
            case 0 -> all.writeBytes(bytes("\r\n"));
            case 1 -> all.writeBytes(bytes("*0\r\n"));
            case 2 -> all.writeBytes(bytes("*-1\r\n"));
            case 3 ->
            {
                all.writeBytes(bytes("set  k" + " \"a\\x41\\n\\\"\" 'it\\'s'\r\n"));
                expected.add("set/3 k/1 aA\n\"/4 it's/4 ");
            }
            default -> appendArray(random, all, expected);
        }
    }

    private static void appendArray(final Random random, final ByteArrayOutputStream all, final List<String> expected)
    {
        final int count = 1 + random.nextInt(5) + (0 == random.nextInt(40) ? 2_000 : 0);
        all.writeBytes(bytes("*" + count + "\r\n"));
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++)
        {
            final int length = switch (random.nextInt(count > 100 ? 2 : 60))
            {
                case 2 -> RespDecoder.MAX_ARGUMENT_BYTES;
                case 3 -> RespDecoder.MAX_ARGUMENT_BYTES + 1;
                case 4 -> 300_000;
                default -> random.nextInt(60);
            };
            final byte[] argument = new byte[length];
            for (int j = 0; j < length; j++)
            {
                argument[j] = (byte)("\r\n*$abc\0".charAt(random.nextInt(8)));
            }
            all.writeBytes(bytes("$" + length + "\r\n"));
            all.writeBytes(argument);
            all.writeBytes(bytes("\r\n"));
            final boolean isKept = length <= RespDecoder.MAX_ARGUMENT_BYTES;
            text.append(isKept && length < 40 ? new String(argument, StandardCharsets.ISO_8859_1) :
                "#" + (isKept ? Arrays.hashCode(argument) : 0)).append('/').append(length).append(' ');
        }
        expected.add(text.toString());
    }

    /** As Redis says it; the same in one read and byte by byte. */
    @Test
    void shouldRefuseWhatRedisRefuses()
    {
        final String[][] cases = {
            {"*x\r\n", "Protocol error: invalid multibulk length"},
            {"*3000000000\r\n", "Protocol error: invalid multibulk length"},
            {"*99999999999999999999\r\n", "Protocol error: invalid multibulk length"},
            {"*1\r\nGET\r\n", "Protocol error: expected '$', got 'G'"},
            {"*1\r\n*1\r\n$4\r\nPING\r\n", "Protocol error: expected '$', got '*'"},
            {"*1\r\n$x\r\n", "Protocol error: invalid bulk length"},
            {"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
            {"*1\r\n$536870913\r\n", "Protocol error: invalid bulk length"},
            {"*1\r\n$2147483648\r\n", "Protocol error: invalid bulk length"},
            {"SET \"a\r\n", "Protocol error: unbalanced quotes in request"},
            {"SET \"a\"b\r\n", "Protocol error: unbalanced quotes in request"},
            {"a".repeat(65_537), "Protocol error: too big inline request"},
            {"*" + "1".repeat(65_537), "Protocol error: too big mbulk count string"},
            {"*1\r\n$" + "1".repeat(65_537), "Protocol error: too big bulk count string"}};
        for (final String[] one : cases)
        {
            assertThat(decode(bytes(one[0]), null, 1 << 20)).as(one[1]).containsExactly("error: " + one[1]);
            assertThat(decode(bytes(one[0]), null, 1)).as(one[1]).containsExactly("error: " + one[1]);
        }
        assertThat(decode(bytes("a".repeat(65_536)), null, 1 << 20)).as("as long as may be").isEmpty();
        assertThat(budget.takenBytes()).isZero();
    }

    @Test
    void shouldAllowLittleBeforeThePassword()
    {
        final RespDecoder decoder = new RespDecoder(budget, MAX_COMMAND);
        decoder.restrict(true);
        feed(decoder, "*11\r\n");
        assertThat(decoder.next()).isEqualTo(RespDecoder.MALFORMED);
        assertThat(decoder.error()).isEqualTo("Protocol error: unauthenticated multibulk length");
        final RespDecoder other = new RespDecoder(budget, MAX_COMMAND);
        other.restrict(true);
        feed(other, "*10\r\n$16385\r\n");
        assertThat(other.next()).isEqualTo(RespDecoder.MALFORMED);
        assertThat(other.error()).isEqualTo("Protocol error: unauthenticated bulk length");
        final RespDecoder most = new RespDecoder(budget, MAX_COMMAND);
        most.restrict(true);
        feed(most, "*10\r\n$16384\r\n");
        assertThat(most.next()).as("as much as may be").isEqualTo(RespDecoder.NEEDS_MORE);
    }

    /** A line ends at a zero, as a text of C, and words at whatever C calls a space. */
    @Test
    void shouldReadLinesAsTextsOfC()
    {
        for (final int piece : new int[]{1, 1_000})
        {
            assertThat(decode(bytes("PING\0junk more\r\nECHO\013x\fy\tz \r\nECHO \"\\x00\"\r\n"), null, piece))
                .containsExactly("PING/4 ", "ECHO/4 x/1 y/1 z/1 ", "ECHO/4 \0/1 ");
        }
    }

    /** All arguments together count, and so does what their positions take. */
    @Test
    void shouldKeepNoCommandThatIsLonger()
    {
        final String tooLong =
            "error: Protocol error: command is longer than this node keeps, in bytes: " + MAX_COMMAND;
        final int length = 1_000;
        final int count = MAX_COMMAND / length;
        final String argument = "$" + length + "\r\n" + "x".repeat(length) + "\r\n";
        assertThat(decode(bytes("*" + count + "\r\n" + argument.repeat(count)), null, 1 << 20))
            .containsExactly(tooLong);
        final int least = MAX_COMMAND / (2 * Integer.BYTES);
        final List<String> most = decode(bytes("*" + least + "\r\n" + "$0\r\n\r\n".repeat(least)), null, 1 << 20);
        assertThat(most).hasSize(1);
        assertThat(most.getFirst()).startsWith("/0 ");
        assertThat(decode(bytes("*" + (least + 1) + "\r\n" + "$0\r\n\r\n".repeat(least + 1)), null, 1 << 20))
            .containsExactly(tooLong);
        assertThat(budget.takenBytes()).isZero();
    }

    /** What is announced costs nothing until it arrives, and no more than the limit then. */
    @Test
    void shouldKeepNoMoreThanItsLimit()
    {
        final RespDecoder decoder = new RespDecoder(budget, MAX_COMMAND);
        feed(decoder, "*2147483647\r\n$536870912\r\n");
        assertThat(decoder.next()).isEqualTo(RespDecoder.NEEDS_MORE);
        for (int i = 0; i < 2_000; i++)
        {
            feed(decoder, "x".repeat(10_000));
            assertThat(decoder.next()).isEqualTo(RespDecoder.NEEDS_MORE);
        }
        assertThat(budget.takenBytes()).isLessThan(64 << 10);
        decoder.close();
        final RespDecoder second = new RespDecoder(budget, MAX_COMMAND);
        feed(second, "*2147483647\r\n");
        int state = second.next();
        for (int i = 0; i < 1_000_000 && RespDecoder.NEEDS_MORE == state; i++)
        {
            feed(second, "$1\r\nx\r\n");
            state = second.next();
        }
        assertThat(second.error()).startsWith("Protocol error: command is longer than this node keeps");
        assertThat(budget.takenBytes()).isLessThan(8 << 20);
        second.close();
        assertThat(budget.takenBytes()).isZero();
    }

    private static void feed(final RespDecoder decoder, final String text)
    {
        final byte[] bytes = bytes(text);
        assertThat(decoder.reserve(bytes.length)).as(decoder.error()).isTrue();
        System.arraycopy(bytes, 0, decoder.array(), decoder.arrayOffset(), bytes.length);
        decoder.received(bytes.length);
    }

    @Test
    void shouldTakeNumbersInOneFormOnly()
    {
        for (final String number : List.of("0", "1", "-1", "9223372036854775807", "-9223372036854775808", "10"))
        {
            assertThat(DecimalNumber.isNumber(bytes(number), 0, number.length())).as(number).isTrue();
            assertThat(DecimalNumber.parse(bytes(number), 0, number.length())).isEqualTo(Long.parseLong(number));
            final byte[] target = new byte[30];
            final int length = DecimalNumber.write(Long.parseLong(number), target, 3);
            assertThat(new String(target, 3, length, StandardCharsets.ISO_8859_1)).isEqualTo(number);
        }
        for (final String number : List.of("", "-", "+1", "01", "-0", "00", " 1", "1 ", "9223372036854775808",
            "-9223372036854775809", "99999999999999999999", "1e3", "0x1", "1.0"))
        {
            assertThat(DecimalNumber.isNumber(bytes(number), 0, number.length())).as(number).isFalse();
        }
    }
}
