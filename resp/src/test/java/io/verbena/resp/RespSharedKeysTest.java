package io.verbena.resp;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;

/** Clients that change the same keys at the same time, and clients that vanish while they do. */
@Timeout(90)
class RespSharedKeysTest extends ServerFixture
{
    /** What is added while a key gets another name is under one of the two. */
    @Test
    void shouldLoseNoWriteWhileAKeyIsRenamed() throws Exception
    {
        final int port = open(new RespConfiguration());
        try (RawClient adding = new RawClient(port); RawClient renaming = new RawClient(port))
        {
            for (int round = 0; round < 100; round++)
            {
                adding.ask("DEL from to");
                final int additions = 30;
                adding.ask("SET from 1");
                adding.send(RawClient.command("INCR from").repeat(additions));
                for (int i = 0; i < round % 20; i++)
                {
                    adding.reply();
                }
                final boolean isIfAbsent = 0 == round % 2;
                assertThat(renaming.ask(isIfAbsent ? "RENAMENX from to" : "RENAME from to"))
                    .isEqualTo(isIfAbsent ? ":1" : "+OK");
                for (int i = round % 20; i < additions; i++)
                {
                    assertThat(adding.reply()).startsWith(":");
                }
                final String left = adding.ask("INCRBY from 0");
                final String moved = adding.ask("INCRBY to 0");
                assertThat(Long.parseLong(left.substring(1)) + Long.parseLong(moved.substring(1)))
                    .as("round %d, %s and %s", round, left, moved).isEqualTo(1 + additions);
            }
        }
    }

    @Test
    void shouldSucceedInRenamingIfAndOnlyIfTheOtherKeyIsThere() throws Exception
    {
        final int port = open(new RespConfiguration());
        try (RawClient ending = new RawClient(port); RawClient renaming = new RawClient(port))
        {
            for (int round = 0; round < 300; round++)
            {
                ending.ask("DEL to");
                ending.ask("SET from 1");
                ending.send(RawClient.command("INCR from").repeat(8) + RawClient.command("DEL from"));
                for (int i = 0; i < round % 8; i++)
                {
                    ending.reply();
                }
                final String reply = renaming.ask("RENAME from to");
                for (int i = round % 8; i < 9; i++)
                {
                    ending.reply();
                }
                assertThat(ending.ask("EXISTS to")).as(reply).isEqualTo("+OK".equals(reply) ? ":1" : ":0");
            }
        }
    }

    @Test
    void shouldTakeOperationsBackFromRenames() throws Exception
    {
        final int port = open(new RespConfiguration());
        for (int i = 0; i < 200; i++)
        {
            try (RawClient gone = new RawClient(port))
            {
                gone.send(RawClient.command("SET a " + i) + RawClient.command("RENAME a b").repeat(20));
                // Closed at once with a reset: a client that only ends its commands is served to the end.
                gone.socket().setSoLinger(true, 0);
                if (0 == i % 2)
                {
                    gone.reply();
                }
            }
        }
        await("all are closed", () -> 0 == server.connections());
        try (RawClient client = new RawClient(port))
        {
            assertThat(client.ask("SET a 1")).isEqualTo("+OK");
            // More than a thread has operations.
            client.send(RawClient.command("RENAME a a").repeat(1_500));
            for (int i = 0; i < 1_500; i++)
            {
                assertThat(client.reply()).isEqualTo("+OK");
            }
            final StringBuilder sent = new StringBuilder();
            for (int i = 0; i < 1_000; i++)
            {
                sent.append(RawClient.command("SET x" + i + " v" + i)).append(RawClient.command("GET x" + i));
            }
            client.send(sent.toString());
            for (int i = 0; i < 1_000; i++)
            {
                assertThat(client.reply()).isEqualTo("+OK");
                assertThat(client.reply()).isEqualTo("$" + ("v" + i).length() + " v" + i);
            }
        }
    }

    /** Each reads, then writes over the version that it has read: no increment is lost between clients. */
    @Test
    void shouldLoseNoIncrementOfClientsAtTheSameKey() throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient first = new RawClient(port); RawClient second = new RawClient(port))
        {
            first.send(RawClient.command("INCR n").repeat(500));
            second.send(RawClient.command("INCR n").repeat(500));
            for (int i = 0; i < 500; i++)
            {
                assertThat(first.reply()).startsWith(":");
                assertThat(second.reply()).startsWith(":");
            }
            assertThat(first.ask("GET n")).isEqualTo("$4 1000");
        }
    }

    /** What changes a deadline writes the value again that it has read; what changes the value keeps the deadline. */
    @Test
    void shouldLoseNoIncrementToAChangeOfTheDeadline() throws IOException
    {
        final int port = open(new RespConfiguration());
        try (RawClient first = new RawClient(port); RawClient second = new RawClient(port))
        {
            assertThat(first.ask("SET n 0 EX 1000")).isEqualTo("+OK");
            first.send(RawClient.command("INCR n").repeat(500));
            second.send((RawClient.command("GETEX n EX 1000") + RawClient.command("EXPIRE n 900 XX LT")).repeat(250));
            for (int i = 0; i < 250; i++)
            {
                assertThat(first.reply()).isEqualTo(":" + (2 * i + 1));
                assertThat(first.reply()).isEqualTo(":" + (2 * i + 2));
                assertThat(second.reply()).startsWith("$");
                assertThat(second.reply()).isEqualTo(":1");
            }
            assertThat(first.ask("GET n")).isEqualTo("$3 500");
            assertThat(Long.parseLong(first.ask("TTL n").substring(1))).isBetween(800L, 900L);
        }
    }
}
