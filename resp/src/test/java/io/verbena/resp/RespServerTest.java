package io.verbena.resp;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(90)
class RespServerTest extends ServerFixture
{
    private static final String PONG = "+PONG";

    /** The node carries out what waits in any order; the replies are those of one command after the other. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldReplyAPipelineAsOneCommandAfterTheOther(final long seed) throws IOException
    {
        final Random random = new Random(seed);
        final Map<String, String> model = new HashMap<>();
        final StringBuilder sent = new StringBuilder();
        final List<String> expected = new ArrayList<>();
        for (int i = 0; i < 3_000; i++)
        {
            final String key = "k" + random.nextInt(1 + random.nextInt(40));
            sent.append(RawClient.command(next(random, model, key, i, expected)));
        }
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

    private static String next(
        final Random random, final Map<String, String> model, final String key, final int i,
        final List<String> expected)
    {
        switch (random.nextInt(8))
        {
            case 0, 1 ->
            {
                model.put(key, "" + i);
                expected.add("+OK");
                return "SET " + key + " " + i;
            }
            case 2 ->
            {
                expected.add(null == model.remove(key) ? ":0" : ":1");
                return "DEL " + key;
            }
            case 3 ->
            {
                final long sum = Long.parseLong(model.getOrDefault(key, "0")) + 5;
                model.put(key, "" + sum);
                expected.add(":" + sum);
                return "INCRBY " + key + " 5";
            }
            case 4 ->
            {
                final String old = model.put(key, "" + i);
                expected.add(null == old ? "$-1" : "$" + old.length() + " " + old);
                return "GETSET " + key + " " + i;
            }
            case 5 ->
            {
                final String other = model.get("k0");
                final String own = model.get(key);
                expected.add("*2 " + bulk(other) + " " + bulk(own));
                return "MGET k0 " + key;
            }
            default ->
            {
                expected.add(bulk(model.get(key)));
                return "GET " + key;
            }
        }
    }

    private static String bulk(final String text)
    {
        return null == text ? "$-1" : "$" + text.length() + " " + text;
    }

    @Test
    void shouldSpeakVersion3() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("HELLO 3")).startsWith("%7 $6 server $5 redis $7 version ").contains("$5 proto :3");
            assertThat(client.ask("GET nothing")).isEqualTo("_");
            assertThat(client.ask("CONFIG GET save")).isEqualTo("%1 $4 save $0 ");
            assertThat(client.ask("COMMAND INFO nothing")).isEqualTo("*1 _");
            assertThat(client.ask("CLIENT INFO")).startsWith("=").contains("resp=3");
            assertThat(client.ask("HELLO 2")).startsWith("*14 ");
            assertThat(client.ask("GET nothing")).isEqualTo("$-1");
        }
    }

    @Test
    void shouldAskForThePassword() throws IOException
    {
        final int port = open(new RespConfiguration().password("secret".getBytes()));
        try (RawClient client = new RawClient(port))
        {
            assertThat(client.ask("GET a")).isEqualTo("-NOAUTH Authentication required.");
            assertThat(client.ask("PING")).isEqualTo("-NOAUTH Authentication required.");
            assertThat(client.ask("HELLO 3")).startsWith("-NOAUTH HELLO must be called");
            assertThat(client.ask("AUTH wrong")).startsWith("-WRONGPASS invalid username-password pair");
            assertThat(client.ask("AUTH somebody secret")).startsWith("-WRONGPASS ");
            assertThat(client.ask("GET a")).startsWith("-NOAUTH");
            assertThat(client.ask("AUTH secret")).isEqualTo("+OK");
            assertThat(client.ask("PING")).isEqualTo(PONG);
            assertThat(client.ask("RESET")).isEqualTo("+RESET");
            assertThat(client.ask("PING")).startsWith("-NOAUTH");
            assertThat(client.ask("HELLO 3 AUTH default secret SETNAME me")).startsWith("%7");
            assertThat(client.ask("CLIENT GETNAME")).isEqualTo("$2 me");
        }
        try (RawClient client = new RawClient(port))
        {
            client.send("*1\r\n$20000\r\n");
            assertThat(client.reply()).isEqualTo("-ERR Protocol error: unauthenticated bulk length");
            assertThat(client.reply()).isEmpty();
        }
    }

    @Test
    void shouldNotServeOtherHostsByMistake()
    {
        assertThatThrownBy(() -> open(new RespConfiguration().host("0.0.0.0"))).isInstanceOf(RespException.class)
            .hasMessageContaining("--resp-password-file").hasMessageContaining("--resp-open");
        assertThatThrownBy(() -> open(new RespConfiguration().host("no such name"))).isInstanceOf(RespException.class)
            .hasMessageContaining("no such address");
        final int port = open(new RespConfiguration());
        assertThatThrownBy(() -> RespServer.open(
            new RespConfiguration().port(port), endpoint, SystemNanoClock.INSTANCE, () -> { }))
            .isInstanceOf(RespException.class).hasMessageContaining("choose another --resp-port");
    }

    @Test
    void shouldRefuseOneClientTooMany() throws IOException
    {
        final int port = open(new RespConfiguration().maxClients(2));
        try (RawClient first = new RawClient(port); RawClient second = new RawClient(port))
        {
            assertThat(first.ask("PING")).isEqualTo(PONG);
            assertThat(second.ask("PING")).isEqualTo(PONG);
            try (RawClient third = new RawClient(port))
            {
                assertThat(third.reply()).isEqualTo("-ERR max number of clients reached");
                assertThat(third.reply()).isEmpty();
            }
        }
        await("room again", () -> 0 == server.connections());
        try (RawClient again = new RawClient(port))
        {
            assertThat(again.ask("PING")).isEqualTo(PONG);
        }
        assertThat(server.refusals()).isEqualTo(1);
    }

    /** Its replies wait up to a bound, its commands in its own socket; others are served; then it is closed. */
    @Test
    void shouldCloseAClientThatNeverReads() throws IOException
    {
        final int port = open(new RespConfiguration().stallNs(TimeUnit.SECONDS.toNanos(1)));
        try (RawClient client = new RawClient(port); RawClient other = new RawClient(port))
        {
            assertThat(other.ask("SET big <16384>")).isEqualTo("+OK");
            final Thread sender = new Thread(() -> sendUntilClosed(client));
            sender.start();
            final long before = server.commandCount();
            long served = 0;
            while (sender.isAlive())
            {
                assertThat(other.ask("PING")).isEqualTo(PONG);
                served++;
            }
            assertThat(server.commandCount() - before - served).as("commands begun for it").isLessThan(5_000);
            await("it is closed", () -> 1 == server.connections());
            assertThat(server.bufferBytes()).as("of the other one").isLessThanOrEqualTo(64 << 10);
            assertThat(other.ask("STRLEN big")).isEqualTo(":16384");
        }
        await("all memory is back", () -> 0 == server.bufferBytes());
    }

    private static void sendUntilClosed(final RawClient client)
    {
        final String commands = RawClient.command("GET big").repeat(1_000);
        try
        {
            for (int i = 0; i < 1_000_000; i++)
            {
                client.send(commands);
            }
        }
        catch (final SocketException ex)
        {
            return;
        }
        catch (final IOException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void shouldAnswerWhatWasSentBeforeTheClientEnded() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            client.send("SET a 1\r\nGET a\r\nDBSIZE\r\nINCR");
            client.socket().shutdownOutput();
            assertThat(List.of(client.reply(), client.reply(), client.reply(), client.reply()))
                .containsExactly("+OK", "$1 1", ":1", "");
        }
        await("it is closed", () -> 0 == server.connections());
    }

    @Test
    void shouldCloseAfterBytesThatAreNoCommand() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            client.send(RawClient.command("SET a 1") + RawClient.command("GET a") + "*1\r\nGET\r\n" + "PING\r\n");
            assertThat(List.of(client.reply(), client.reply(), client.reply(), client.reply()))
                .containsExactly("+OK", "$1 1", "-ERR Protocol error: expected '$', got 'G'", "");
        }
    }

    /** Long replies to short commands: they are sent in parts, and no output limit closes a client that reads. */
    @Test
    void shouldReplyALongPipelineOfLongReplies() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration().limits(8 << 20, 1 << 20, 64 << 20))))
        {
            final int count = 1_000;
            final Thread sender = new Thread(() ->
            {
                try
                {
                    client.send("COMMAND DOCS\r\n".repeat(count));
                }
                catch (final IOException ex)
                {
                    throw new IllegalStateException(ex);
                }
            });
            sender.start();
            final String first = client.reply();
            assertThat(first).startsWith("*").hasSizeGreaterThan(4_000);
            for (int i = 1; i < count; i++)
            {
                assertThat(client.reply()).isEqualTo(first);
            }
        }
    }

    /** Replies that pass the water mark, and are read at once, so that the connection is full and free in one step. */
    @Test
    void shouldSendEachReplyOnce() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            final int bytes = 16_384;
            assertThat(client.ask("SET big <" + bytes + ">")).isEqualTo("+OK");
            final String value = "$" + bytes + " " + "x".repeat(bytes);
            for (int round = 0; round < 20; round++)
            {
                endpoint.isStopped = true;
                client.send(RawClient.command("GET big").repeat(100) + RawClient.command("INCR k" + round));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
                endpoint.isStopped = false;
                for (int i = 0; i < 100; i++)
                {
                    assertThat(client.reply()).isEqualTo(value);
                }
                assertThat(client.reply()).isEqualTo(":1");
                assertThat(client.ask("PING")).isEqualTo(PONG);
            }
        }
    }

    /** As Redis: an error and the end, before anything of it was kept; nobody else is concerned. */
    @ParameterizedTest
    @ValueSource(strings = {
        "*1\r\n*1\r\n", "*1\r\n$2147483648\r\n", "*1\r\n$9223372036854775808\r\n", "*2147483648\r\n"})
    void shouldEndAClientThatAnnouncesTooMuch(final String bytes) throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient client = new RawClient(port); RawClient other = new RawClient(port))
        {
            assertThat(other.ask("PING")).isEqualTo(PONG);
            client.send(bytes);
            assertThat(client.reply()).startsWith("-ERR Protocol error: ");
            assertThat(client.reply()).isEmpty();
            assertThat(other.ask("PING")).isEqualTo(PONG);
        }
        await("all memory is back", () -> 0 == server.connections() && 0 == server.bufferBytes());
    }

    /** Redis has no arrays in commands: the second header is the error, however many follow. */
    @Test
    void shouldEndAClientThatNestsAMillionArrays() throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient client = new RawClient(port); RawClient other = new RawClient(port))
        {
            sendUntilRefused(client, "*1\r\n".repeat(1_000_000));
            await("it is closed", () -> server.connections() <= 1);
            assertThat(other.ask("PING")).isEqualTo(PONG);
            assertThat(server.bufferBytes()).isZero();
        }
    }

    private static void sendUntilRefused(final RawClient client, final String bytes)
    {
        try
        {
            client.send(bytes);
        }
        catch (final IOException ex)
        {
            assertThat(ex).isInstanceOf(SocketException.class); // closed while it still sends
        }
    }

    /** What was begun is finished, then the connection is closed. */
    @Test
    void shouldFinishWhatWasBegunBeforeItEnds() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("SET a 1")).isEqualTo("+OK");
            endpoint.isStopped = true;
            client.send(RawClient.command("GET a").repeat(3));
            await("begun", () -> 4 == server.commandCount());
            server.drain();
            endpoint.isStopped = false;
            assertThat(List.of(client.reply(), client.reply(), client.reply(), client.reply()))
                .containsExactly("$1 1", "$1 1", "$1 1", "");
        }
        await("it is closed", () -> 0 == server.connections());
    }

    @Test
    void shouldSayThatItsNodeIsGone() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("SET a 1")).isEqualTo("+OK");
            endpoint.close();
            assertThat(client.ask("GET a")).startsWith("-LOADING ");
            assertThat(client.ask("MGET a b")).startsWith("-LOADING ");
            assertThat(client.ask("DBSIZE")).startsWith("-LOADING ");
            assertThat(client.ask("PING")).isEqualTo(PONG);
        }
    }

    /** Operations of clients that left come back: more of them leave than a thread has operations. */
    @Test
    void shouldUseTheOperationsOfClientsThatLeftAgain() throws IOException
    {
        final int port = open(new RespConfiguration());
        final StringBuilder pipeline = new StringBuilder();
        for (int i = 0; i < 100; i++)
        {
            pipeline.append(RawClient.command("GET k" + i));
        }
        for (int i = 0; i < 15; i++)
        {
            final long before = server.commandCount();
            try (RawClient client = new RawClient(port))
            {
                assertThat(client.ask("GET k")).isEqualTo("$-1");
                endpoint.isStopped = true;
                client.send(pipeline.toString());
                await("begun", () -> before + 101 == server.commandCount());
                client.socket().setSoLinger(true, 0); // a reset: an end alone would wait for the replies
            }
            await("it left", () -> 0 == server.connections());
            endpoint.isStopped = false;
        }
        try (RawClient client = new RawClient(port))
        {
            assertThat(client.ask("SET k 1")).isEqualTo("+OK");
        }
    }

    /** A thread has fewer operations than its clients together may have under way. */
    @Test
    void shouldShareItsOperationsAmongManyClients() throws IOException
    {
        final int port = open(new RespConfiguration());
        final List<RawClient> clients = new ArrayList<>();
        try
        {
            endpoint.isStopped = true;
            final StringBuilder pipeline = new StringBuilder();
            for (int i = 0; i < 200; i++)
            {
                pipeline.append(RawClient.command("SET k" + i + " " + i));
            }
            pipeline.append(RawClient.command("MGET k0 k199"));
            for (int i = 0; i < 30; i++)
            {
                clients.add(new RawClient(port));
                clients.getLast().send("SELECT 0\r\n" + pipeline);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            endpoint.isStopped = false;
            for (final RawClient client : clients)
            {
                assertThat(client.reply()).isEqualTo("+OK");
                for (int i = 0; i < 200; i++)
                {
                    assertThat(client.reply()).isEqualTo("+OK");
                }
                assertThat(client.reply()).isEqualTo("*2 $1 0 $3 199");
            }
        }
        finally
        {
            for (final RawClient client : clients)
            {
                client.close();
            }
        }
    }
}
