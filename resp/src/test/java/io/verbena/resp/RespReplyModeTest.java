package io.verbena.resp;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** CLIENT REPLY. */
@Timeout(60)
class RespReplyModeTest extends ServerFixture
{
    private static final String MODE = "CLIENT REPLY ";

    /** What Redis 7.0.15 replies to the same; lines are sent together, and an ECHO behind them ends what is read. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "CLIENT REPLY SKIP; PING; ECHO a | $1 a",
        "CLIENT REPLY OFF; PING; foo; CLIENT REPLY x; CLIENT REPLY ON; ECHO a | +OK $1 a",
        "CLIENT REPLY SKIP; CLIENT REPLY SKIP; PING; ECHO a | $1 a",
        "CLIENT REPLY SKIP; CLIENT REPLY ON; ECHO a | +OK $1 a",
        "CLIENT REPLY SKIP; CLIENT REPLY OFF; PING; CLIENT REPLY SKIP; PING; CLIENT REPLY ON | +OK",
        "CLIENT REPLY OFF; RESET; PING | +RESET +PONG",
        "CLIENT REPLY SKIP; RESET; PING; ECHO a | +PONG $1 a",
        "CLIENT REPLY SKIP; CLIENT REPLY x; ECHO a | $1 a",
        "CLIENT REPLY SKIP; foo; ECHO a | $1 a",
        "CLIENT REPLY SKIP; GET; ECHO a | $1 a",
        "CLIENT REPLY SKIP; HELLO 3; PING | +PONG",
        "CLIENT REPLY SKIP; SET k v; GET k; GET k | $1 v $1 v",
        "CLIENT REPLY SKIP; KEYS *; ECHO a | $1 a",
        "CLIENT REPLY SKIP; MSET k 1 l 2; MGET k l | *2 $1 1 $1 2",
        "CLIENT REPLY SKIP; GET k; GET l; GET m | $-1 $-1",
        "CLIENT REPLY OFF; CLIENT REPLY SKIP; CLIENT REPLY ON; ECHO a; ECHO b | +OK $1 a $1 b"})
    void shouldReplyWhatRedisReplies(final String lines, final String expected) throws IOException
    {
        final StringBuilder sent = new StringBuilder();
        for (final String line : lines.split("; "))
        {
            sent.append(RawClient.command(line));
        }
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            client.send(sent + RawClient.command("ECHO end"));
            final List<String> replies = new ArrayList<>();
            for (String reply = client.reply(); !"$3 end".equals(reply); reply = client.reply())
            {
                replies.add(reply);
            }
            assertThat(String.join(" ", replies)).isEqualTo(expected);
        }
    }

    /** The node carries out what waits in any order: each reply is there or left out as its command says. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldLeaveOutRepliesInAPipeline(final long seed) throws IOException
    {
        final Random random = new Random(seed);
        final Map<String, String> model = new HashMap<>();
        final StringBuilder sent = new StringBuilder();
        final List<String> expected = new ArrayList<>();
        boolean isOff = false;
        int skips = 0;
        for (int i = 0; i < 3_000; i++)
        {
            final String key = "k" + random.nextInt(1 + random.nextInt(40));
            final boolean isReplied = !isOff && 0 == skips;
            skips = Math.max(0, skips - 1);
            switch (random.nextInt(14))
            {
                case 0 ->
                {
                    sent.append(RawClient.command(MODE + "SKIP"));
                    skips = isOff ? 0 : 1;
                }
                case 1 ->
                {
                    sent.append(RawClient.command(MODE + "OFF"));
                    isOff = true;
                }
                case 2, 3 ->
                {
                    sent.append(RawClient.command(MODE + "ON"));
                    isOff = false;
                    skips = 0;
                    expected.add("+OK");
                }
                case 4, 5, 6 ->
                {
                    sent.append(RawClient.command("SET " + key + " " + i));
                    model.put(key, "" + i);
                    add(expected, isReplied, "+OK");
                }
                case 7 ->
                {
                    sent.append(RawClient.command("MGET k0 " + key));
                    add(expected, isReplied, "*2 " + bulk(model.get("k0")) + " " + bulk(model.get(key)));
                }
                default ->
                {
                    sent.append(RawClient.command("GET " + key));
                    add(expected, isReplied, bulk(model.get(key)));
                }
            }
        }
        sent.append(RawClient.command(MODE + "ON"));
        expected.add("+OK");
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            client.send(sent.toString());
            for (final String reply : expected)
            {
                assertThat(client.reply()).isEqualTo(reply);
            }
        }
        await("operations come back", () -> 0 == server.connections());
    }

    private static void add(final List<String> expected, final boolean isReplied, final String reply)
    {
        if (isReplied)
        {
            expected.add(reply);
        }
    }

    private static String bulk(final String text)
    {
        return null == text ? "$-1" : "$" + text.length() + " " + text;
    }

    /** However much it would be: nothing of it is kept. */
    @Test
    void shouldKeepNothingOfWhatIsNotReplied() throws IOException
    {
        final RespConfiguration small = new RespConfiguration().limits(64 << 10, 128 << 10, 1 << 20);
        try (RawClient client = new RawClient(open(small)))
        {
            client.ask("SET k <10000>");
            client.send(RawClient.command(MODE + "OFF") + RawClient.command("MGET" + " k".repeat(1_000)) +
                RawClient.command(MODE + "ON") + RawClient.command("STRLEN k"));
            assertThat(client.reply()).isEqualTo("+OK");
            assertThat(client.reply()).isEqualTo(":10000");
            client.send(RawClient.command(MODE + "OFF") + RawClient.command("QUIT"));
            assertThat(client.reply()).isEmpty();
        }
    }
}
