package io.verbena.resp;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands about clients, and about tables as a whole. */
@Timeout(90)
class RespManagementTest
{
    private final MapEndpoint endpoint = new MapEndpoint(7);
    private final RespServer server =
        RespServer.open(new RespConfiguration().port(0), endpoint, SystemNanoClock.INSTANCE, () -> { });

    @AfterEach
    void close()
    {
        server.close();
        endpoint.close();
    }

    private static void await(final String what, final BooleanSupplier isSo)
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!isSo.getAsBoolean())
        {
            assertThat(System.nanoTime()).as(what).isLessThan(deadlineNs);
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void shouldListAndCloseClients() throws Exception
    {
        final int port = server.port();
        try (RawClient first = new RawClient(port); RawClient second = new RawClient(port))
        {
            first.ask("CLIENT SETNAME first");
            second.ask("CLIENT SETNAME second");
            second.ask("SELECT 1");
            second.ask("MEMORY USAGE k");
            final String listed = first.ask("CLIENT LIST");
            assertThat(listed).containsPattern("id=1 addr=127.0.0.1:\\d+ laddr=127.0.0.1:" + port +
                " name=first age=\\d+ idle=\\d+ flags=N db=0 .* cmd=client\\|list user=default .*table=default\n" +
                "id=2 .* name=second .* db=1 .* cmd=memory\\|usage .*table=db1\n");
            assertThat(first.ask("CLIENT LIST ID 2")).contains("name=second").doesNotContain("name=first");
            final String address = listed.replaceAll("(?s).*id=2 addr=(\\S+).*", "$1");
            assertThat(first.ask("CLIENT KILL ADDR " + address + " ID 1")).isEqualTo(":0");
            assertThat(first.ask("CLIENT KILL " + address)).isEqualTo("+OK");
            assertThat(second.reply()).isEmpty();
            await("the list is that of one", () -> 1 == server.connections());
            assertThat(first.ask("CLIENT KILL TYPE normal")).isEqualTo(":0");
            assertThat(first.ask("CLIENT KILL SKIPME no")).isEqualTo(":1");
            assertThat(first.reply()).isEmpty();
        }
    }

    /** Others are served meanwhile, and a client that is closed takes its sleep with it. */
    @Test
    void shouldLetOneClientSleep() throws Exception
    {
        final int port = server.port();
        try (RawClient sleeping = new RawClient(port); RawClient other = new RawClient(port))
        {
            final long beginNs = System.nanoTime();
            sleeping.send(RawClient.command("DEBUG SLEEP 0.2") + RawClient.command("PING"));
            assertThat(other.ask("SET k v")).isEqualTo("+OK");
            assertThat(sleeping.reply()).isEqualTo("+OK");
            assertThat(sleeping.reply()).isEqualTo("+PONG");
            assertThat(System.nanoTime() - beginNs).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(190));
            final String id = sleeping.ask("CLIENT ID").substring(1);
            sleeping.send(RawClient.command("DEBUG SLEEP 3000"));
            assertThat(other.ask("DEBUG SLEEP 0.001")).isEqualTo("+OK");
            assertThat(other.ask("CLIENT KILL ID " + id)).isEqualTo(":1");
            await("its connection is gone", () -> 1 == server.connections());
            assertThat(sleeping.reply()).isEmpty();
        }
    }

    /** A client that sends a transaction at once must not find a part of it done; one that waits goes on. */
    @Test
    void shouldExecuteNothingOfATransaction() throws Exception
    {
        try (RawClient client = new RawClient(server.port()))
        {
            final String refusal = "is not supported: operations on several keys are not atomic here";
            for (int round = 0; round < 100; round++)
            {
                client.send(RawClient.command("INCR before") + RawClient.command("MULTI") +
                    RawClient.command("SET a 1") + RawClient.command("PING") + RawClient.command("EXEC") +
                    RawClient.command("GET a"));
                assertThat(client.reply()).isEqualTo(":" + (1 + 2 * round));
                assertThat(client.reply()).isEqualTo("-ERR MULTI " + refusal);
                assertThat(client.reply()).startsWith("-ERR not executed: it came with MULTI");
                assertThat(client.reply()).startsWith("-ERR not executed: it came with MULTI");
                assertThat(client.reply()).isEqualTo("-ERR EXEC " + refusal);
                assertThat(client.reply()).isEqualTo("$-1");
                assertThat(client.ask("MULTI")).isEqualTo("-ERR MULTI " + refusal);
                assertThat(client.ask("INCR before")).isEqualTo(":" + (2 + 2 * round));
                client.send(RawClient.command("MULTI") + RawClient.command("SET a 1"));
                client.reply();
                assertThat(client.reply()).startsWith("-ERR not executed");
                assertThat(client.ask("GET a")).isEqualTo("$-1");
            }
        }
    }

    /** All keys are found, wherever the place is that a number chooses. */
    @Test
    void shouldFindAnyKey() throws Exception
    {
        try (RawClient client = new RawClient(server.port()))
        {
            final int keys = 30;
            for (int i = 0; i < keys; i++)
            {
                client.ask("SET k" + i + " v");
            }
            final Map<String, Integer> found = new HashMap<>();
            for (int i = 0; i < 3_000; i++)
            {
                found.merge(client.ask("RANDOMKEY"), 1, Integer::sum);
            }
            assertThat(found).hasSize(keys);
        }
    }

    /** What is only a name's is no database of Redis: clients of the Java API keep it. */
    @Test
    void shouldEmptyDatabasesAndLeaveOtherTables() throws Exception
    {
        try (RawClient client = new RawClient(server.port()))
        {
            for (final String table : List.of("users", "1", "0"))
            {
                client.ask("SELECT " + table);
                for (int i = 0; i < 200; i++)
                {
                    client.ask("SET k" + i + " v");
                }
            }
            assertThat(client.ask("FLUSHALL")).isEqualTo("+OK");
            assertThat(client.ask("DBSIZE")).isEqualTo(":0");
            client.ask("SELECT 1");
            assertThat(client.ask("DBSIZE")).isEqualTo(":0");
            client.ask("SELECT users");
            assertThat(client.ask("DBSIZE")).isEqualTo(":200");
            assertThat(client.ask("FLUSHDB")).isEqualTo("+OK");
            assertThat(client.ask("DBSIZE")).isEqualTo(":0");
        }
    }

    /** As C prints texts. */
    @Test
    void shouldShowUnknownCommandsToTheirFirstZero() throws Exception
    {
        try (RawClient client = new RawClient(server.port()))
        {
            assertThat(client.ask("quux\0more a\0b \0 c"))
                .isEqualTo("-ERR unknown command 'quux', with args beginning with: 'a' '' 'c' ");
            assertThat(client.ask("quux\r\n+OK")).as("an error is one line")
                .isEqualTo("-ERR unknown command 'quux  +OK', with args beginning with: ");
            assertThat(client.ask("EXPIRE k 1 NX\0X")).isEqualTo("-ERR Unsupported option NX");
            assertThat(client.ask("SCAN \0")).isEqualTo("*2 $1 0 *0");
            assertThat(client.ask("SCAN x\0")).isEqualTo("-ERR invalid cursor");
        }
    }
}
