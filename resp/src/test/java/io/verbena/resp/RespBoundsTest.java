package io.verbena.resp;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.User;
import io.verbena.protocol.request.RequestKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** At a limit, and one past it. */
@Timeout(60)
class RespBoundsTest extends ServerFixture
{
    private static final int MAX_VALUE_BYTES = 16_384;

    @Test
    void shouldAppendUpToTheLongestValue() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("APPEND k <" + (MAX_VALUE_BYTES - 1) + ">")).isEqualTo(":" + (MAX_VALUE_BYTES - 1));
            assertThat(client.ask("APPEND k y")).isEqualTo(":" + MAX_VALUE_BYTES);
            assertThat(client.ask("APPEND k z")).startsWith("-ERR string exceeds maximum allowed size");
            assertThat(client.ask("STRLEN k")).isEqualTo(":" + MAX_VALUE_BYTES);
            assertThat(client.ask("INCRBYFLOAT n 1e400")).isEqualTo("-ERR value is not a valid float");
        }
    }

    @Test
    void shouldWriteNothingWhereTheDeadlineStays() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("SET k v")).isEqualTo("+OK");
            assertThat(client.ask("GETEX k PERSIST")).isEqualTo("$1 v");
        }
        assertThat(endpoint.asked).containsExactly(RequestKind.PUT, RequestKind.GET);
    }

    /** As many replies as may wait: one more closes the connection, and its memory is back. */
    @Test
    void shouldCloseAtTheOutputLimit() throws IOException
    {
        final int port = open(new RespConfiguration().limits(1 << 20, 4 * MAX_VALUE_BYTES, 64 << 20));
        try (RawClient client = new RawClient(port); RawClient other = new RawClient(port))
        {
            assertThat(client.ask("SET k <" + MAX_VALUE_BYTES + ">")).isEqualTo("+OK");
            for (final int count : new int[]{3, 4})
            {
                final long before = server.commandCount();
                endpoint.isStopped = true;
                client.send(RawClient.command("MGET" + " k".repeat(count)));
                await("begun", () -> before + 1 == server.commandCount());
                endpoint.isStopped = false;
                assertThat(client.reply()).startsWith(3 == count ? "*3 $16384 x" : "");
            }
            await("it is closed", () -> 1 == server.connections());
            assertThat(other.ask("STRLEN k")).isEqualTo(":" + MAX_VALUE_BYTES);
        }
        await("all memory is back", () -> 0 == server.bufferBytes());
    }

    @Test
    void shouldReplySetsInVersion3() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("CLIENT TRACKINGINFO")).startsWith("*6 $5 flags *1 $3 off");
            client.ask("HELLO 3");
            assertThat(client.ask("CLIENT TRACKINGINFO")).startsWith("%3 $5 flags ~1 $3 off");
        }
    }

    /** The old form does not pass over the one that asks. */
    @Test
    void shouldCloseItselfByItsAddress() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            final String address = client.ask("CLIENT INFO").replaceAll("(?s).* addr=(\\S+).*", "$1");
            assertThat(client.ask("CLIENT KILL " + address)).isEqualTo("+OK");
            assertThat(client.reply()).isEmpty();
        }
    }

    @Test
    void shouldPauseForTheLongestTime() throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient admin = new RawClient(port); RawClient other = new RawClient(port))
        {
            assertThat(admin.ask("CLIENT PAUSE " + Long.MAX_VALUE + " WRITE")).isEqualTo("+OK");
            other.send(RawClient.command("SET k v"));
            await("it waits", () -> 1 == server.pause().waiters());
            assertThat(admin.ask("CLIENT UNPAUSE")).isEqualTo("+OK");
            assertThat(other.reply()).isEqualTo("+OK");
        }
    }

    /** Without a password of the port, as soon as there is a user. */
    @Test
    void shouldServeNoStrangerWhereThereAreUsers() throws IOException
    {
        try (RawClient client = new RawClient(open(new RespConfiguration())))
        {
            assertThat(client.ask("PING")).isEqualTo("+PONG");
            endpoint.access = AccessRules.NONE.with(1, List.of(
                new User("ann", 1, 1, 1, SecretVerifier.of("a-long-secret"), List.of())));
            assertThat(client.ask("GET k")).isEqualTo("-NOAUTH Authentication required.");
            assertThat(client.ask("PING")).isEqualTo("-NOAUTH Authentication required.");
        }
    }
}
