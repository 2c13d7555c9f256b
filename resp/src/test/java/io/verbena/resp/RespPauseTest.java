package io.verbena.resp;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** CLIENT PAUSE. */
@Timeout(90)
class RespPauseTest extends ServerFixture
{
    private static final long SHORT_MS = 300;

    private static void expectWaiting(final RawClient client) throws IOException
    {
        client.socket().setSoTimeout(100);
        assertThatThrownBy(client::reply).isInstanceOf(SocketTimeoutException.class);
        client.socket().setSoTimeout(20_000);
    }

    @Test
    void shouldHoldWritesOfAllClientsUntilItIsEnded() throws IOException
    {
        final int port = open(new RespConfiguration());
        final List<RawClient> clients = new ArrayList<>();
        try (RawClient admin = new RawClient(port))
        {
            for (int i = 0; i < 8; i++)
            {
                clients.add(new RawClient(port));
                assertThat(clients.getLast().ask("SET k" + i + " old")).isEqualTo("+OK");
            }
            assertThat(admin.ask("CLIENT PAUSE 600000 WRITE")).isEqualTo("+OK");
            for (int i = 0; i < 8; i++)
            {
                clients.get(i).send(RawClient.command("GET k" + i) + RawClient.command("SET k" + i + " new") +
                    RawClient.command("GET k" + i));
                assertThat(clients.get(i).reply()).isEqualTo("$3 old");
            }
            expectWaiting(clients.getFirst());
            assertThat(admin.ask("GET k3")).as("reads go on").isEqualTo("$3 old");
            assertThat(admin.ask("SET k")).startsWith("-ERR wrong number");
            assertThat(admin.ask("foo")).startsWith("-ERR unknown command");
            await("all wait", () -> 8 == server.pause().waiters());
            assertThat(admin.ask("CLIENT UNPAUSE")).isEqualTo("+OK");
            for (final RawClient client : clients)
            {
                assertThat(client.reply()).isEqualTo("+OK");
                assertThat(client.reply()).isEqualTo("$3 new");
            }
            assertThat(server.pause().waiters()).isZero();
        }
        finally
        {
            for (final RawClient client : clients)
            {
                client.close();
            }
        }
    }

    /** The one who pauses waits as well, as in Redis; it ends by itself. */
    @Test
    void shouldHoldAllCommandsForAsLongAsWasSaid() throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient admin = new RawClient(port); RawClient other = new RawClient(port))
        {
            assertThat(other.ask("PING")).isEqualTo("+PONG");
            final long beginNs = System.nanoTime();
            assertThat(admin.ask("CLIENT PAUSE " + SHORT_MS)).isEqualTo("+OK");
            admin.send(RawClient.command("CLIENT UNPAUSE"));
            assertThat(other.ask("foo")).startsWith("-ERR unknown");
            assertThat(other.ask("PING")).isEqualTo("+PONG");
            assertThat(System.nanoTime() - beginNs).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(SHORT_MS));
            assertThat(admin.reply()).isEqualTo("+OK");
            assertThat(server.pause().waiters()).isZero();
        }
    }

    /** A second pause makes the first one neither shorter nor weaker; one that is over does not count. */
    @Test
    void shouldNotShortenAPause() throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient admin = new RawClient(port); RawClient other = new RawClient(port))
        {
            final long beginNs = System.nanoTime();
            admin.send(RawClient.command("CLIENT PAUSE " + SHORT_MS + " WRITE") +
                RawClient.command("CLIENT PAUSE 1 WRITE"));
            assertThat(admin.reply()).isEqualTo("+OK");
            assertThat(admin.reply()).isEqualTo("+OK");
            assertThat(other.ask("SET k v")).isEqualTo("+OK");
            assertThat(System.nanoTime() - beginNs).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(SHORT_MS));
            assertThat(admin.ask("CLIENT PAUSE 1 ALL")).isEqualTo("+OK");
            assertThat(admin.ask("PING")).isEqualTo("+PONG");
            assertThat(admin.ask("CLIENT PAUSE 600000 WRITE")).isEqualTo("+OK");
            assertThat(admin.ask("GET k")).as("the pause of all is over").isEqualTo("$1 v");
            other.send(RawClient.command("SET k w"));
            expectWaiting(other);
            assertThat(admin.ask("CLIENT UNPAUSE")).isEqualTo("+OK");
            assertThat(other.reply()).isEqualTo("+OK");
        }
    }

    /** Clients that send on are not read, and those that leave are forgotten. */
    @Test
    void shouldTakeLittleOfWhoSendsOnMeanwhile() throws Exception
    {
        final int port = open(new RespConfiguration());
        try (RawClient admin = new RawClient(port); RawClient sender = new RawClient(port))
        {
            admin.ask("CLIENT PAUSE 600000 WRITE");
            final int count = 4_000;
            final Thread sending = new Thread(() ->
            {
                try
                {
                    sender.send(RawClient.command("SET k <10000>").repeat(count));
                }
                catch (final IOException ex)
                {
                    throw new IllegalStateException(ex);
                }
            });
            sending.start();
            await("it waits", () -> 1 == server.pause().waiters());
            long mostBytes = 0;
            for (int i = 0; i < 100; i++)
            {
                mostBytes = Math.max(mostBytes, server.bufferBytes());
                Thread.sleep(2);
            }
            assertThat(mostBytes).isLessThan(1 << 20);
            for (int i = 0; i < 20; i++)
            {
                try (RawClient leaving = new RawClient(port))
                {
                    leaving.send(RawClient.command("DEL k"));
                    await("it waits, too", () -> 2 == server.pause().waiters());
                    leaving.socket().setSoLinger(true, 0);
                }
                await("it is forgotten", () -> 1 == server.pause().waiters());
            }
            assertThat(admin.ask("CLIENT UNPAUSE")).isEqualTo("+OK");
            for (int i = 0; i < count; i++)
            {
                assertThat(sender.reply()).isEqualTo("+OK");
            }
            sending.join();
        }
    }
}
