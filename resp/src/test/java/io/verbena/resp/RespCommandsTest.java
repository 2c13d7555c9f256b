package io.verbena.resp;

import io.verbena.protocol.request.RequestKind;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What each command replies, byte for byte; the same lines are asked of Redis 7 where it is installed. */
@Timeout(60)
class RespCommandsTest
{
    /**
     * A resource of lines as they are sent, each followed by what is replied; "!" in front: Redis replies something
     * else; ":~n": a time left, no more than n and not less than a half of it; "\\s": a blank at the end.
     */
    private static final String SCRIPT = "commands.txt";

    @TempDir
    Path directory;
    private MapEndpoint endpoint;
    private RespServer server;

    @BeforeEach
    void open()
    {
        endpoint = new MapEndpoint(1);
        server = RespServer.open(
            new RespConfiguration().port(0), endpoint, SystemNanoClock.INSTANCE, () -> { });
    }

    @AfterEach
    void close()
    {
        server.close();
        endpoint.close();
    }

    @Test
    void shouldReplyAsRedis() throws IOException
    {
        check(server.port(), true);
    }

    /** Which is one round trip then, where the node knows the number. */
    @Test
    void shouldAskForOneOperationToIncrement() throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            for (final String line :
                List.of("SET n 10", "INCR n", "INCRBY n 5", "DECR n", "DECRBY n 7", "INCR nothing"))
            {
                client.ask(line);
            }
            assertThat(client.ask("GET n")).isEqualTo("$1 8");
        }
        assertThat(endpoint.asked).containsExactly(RequestKind.PUT, RequestKind.INCREMENT, RequestKind.INCREMENT,
            RequestKind.INCREMENT, RequestKind.INCREMENT, RequestKind.INCREMENT, RequestKind.GET);
    }

    /** Operations are used again, and so are their arrays. */
    @Test
    void shouldFillAGapWithZeros() throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            assertThat(client.ask("APPEND long <1000>")).isEqualTo(":1000");
            assertThat(client.ask("SETRANGE gap 500 x")).isEqualTo(":501");
            assertThat(client.ask("GET gap")).isEqualTo("$501 " + "\0".repeat(500) + "x");
        }
    }

    /** What would be absent at once costs no memory. */
    @Test
    void shouldWriteNothingThatIsPastItsDeadline() throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            assertThat(client.ask("SET k v EXAT 1000")).isEqualTo("+OK");
            assertThat(client.ask("SET k v")).isEqualTo("+OK");
            assertThat(client.ask("PEXPIREAT k 1000")).isEqualTo(":1");
        }
        assertThat(endpoint.asked).containsExactly(RequestKind.DELETE, RequestKind.PUT, RequestKind.DELETE);
    }

    /** The script says what Redis says. */
    @Test
    void shouldExpectWhatRedisReplies() throws IOException, InterruptedException
    {
        final Path program = Path.of("/usr/bin/redis-server");
        Assumptions.assumeTrue(Files.isExecutable(program), "skipped: no /usr/bin/redis-server to compare with");
        final int port = freePort();
        final Process redis = new ProcessBuilder(program.toString(), "--port", String.valueOf(port), "--bind",
            "127.0.0.1", "--save", "", "--dir", directory.toString())
            .redirectErrorStream(true).redirectOutput(directory.resolve("log").toFile()).start();
        try
        {
            for (int i = 0; i < 200 && !Files.readString(directory.resolve("log")).contains("Ready to accept"); i++)
            {
                Thread.sleep(50);
            }
            check(port, false);
        }
        finally
        {
            redis.destroyForcibly().waitFor();
        }
    }

    private static int freePort() throws IOException
    {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            return socket.getLocalPort();
        }
    }

    private static List<String> script() throws IOException
    {
        try (InputStream in = RespCommandsTest.class.getResourceAsStream(SCRIPT))
        {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\\s\n", " \n").lines().toList();
        }
    }

    private static void check(final int port, final boolean isOurs) throws IOException
    {
        final List<String> expected = new ArrayList<>();
        final List<String> replied = new ArrayList<>();
        try (RawClient client = new RawClient(port))
        {
            for (final String line : script())
            {
                final boolean isOurOwn = line.startsWith("!");
                final String[] parts = line.substring(isOurOwn ? 1 : 0).split(" \\| ", 2);
                if (isOurs || !isOurOwn)
                {
                    final String reply = client.ask(parts[0]);
                    expected.add(parts[0] + " | " + parts[1]);
                    replied.add(parts[0] + " | " + (isAsMeant(parts[0], reply, parts[1]) ? parts[1] : reply));
                }
            }
            assertThat(client.reply()).as("after QUIT").isEmpty();
        }
        assertThat(String.join("\n", replied)).isEqualTo(String.join("\n", expected));
    }

    private static boolean isAsMeant(final String command, final String reply, final String expected)
    {
        if (expected.startsWith(":~") && reply.matches(":\\d+"))
        {
            final long most = Long.parseLong(expected.substring(2));
            final long left = Long.parseLong(reply.substring(1));
            return left <= most && left >= most / 2;
        }
        return command.startsWith("KEYS") && reply.length() == expected.length();
    }
}
