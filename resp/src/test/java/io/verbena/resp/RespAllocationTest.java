package io.verbena.resp;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** What the network thread allocates for a command, over a socket, in pipelines of 64. */
@Timeout(60)
class RespAllocationTest
{
    private static final int PIPELINE = 64;
    private static final int WARM_UP = 3_000;
    private static final int PIPELINES = 5_000;

    @Test
    void shouldAllocateLessThanOneByteForACommand() throws IOException
    {
        try (RespServer server = RespServer.open(
            new RespConfiguration().port(0), new FixedEndpoint(), SystemNanoClock.INSTANCE, () -> { }))
        {
            assertThat(bytesForACommand(server, server::allocatedBytes)).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void shouldAllocateLessThanOneByteForACommandWhereOneThreadDoesAll() throws IOException, InterruptedException
    {
        final RespServer server = RespServer.openDriven(
            new RespConfiguration().port(0), new FixedEndpoint(), SystemNanoClock.INSTANCE, () -> { });
        final AtomicBoolean isEnding = new AtomicBoolean();
        final Thread driver = RespServer.driver(() ->
        {
            while (!isEnding.get())
            {
                server.await(TimeUnit.MILLISECONDS.toNanos(100));
            }
            server.close();
        }, "driver");
        driver.start();
        try
        {
            assertThat(bytesForACommand(server, () -> HeapAllocation.ofThread(driver.threadId())))
                .isLessThanOrEqualTo(1);
        }
        finally
        {
            isEnding.set(true);
            driver.join(TimeUnit.SECONDS.toMillis(30));
        }
        assertThat(driver.isAlive()).isFalse();
    }

    private static double bytesForACommand(final RespServer server, final LongSupplier allocatedBytes)
        throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            final StringBuilder commands = new StringBuilder();
            for (int i = 0; i < PIPELINE / 8; i++)
            {
                commands.append(RawClient.command("GET key:" + i)).append(RawClient.command("SET key:" + i + " <100>"))
                    .append(RawClient.command("STRLEN key:" + i)).append(RawClient.command("SETNX other:" + i + " v"))
                    .append(RawClient.command("SET key:" + i + " v EX 100"))
                    .append(RawClient.command("EXPIRE key:" + i + " 100 LT"))
                    .append(RawClient.command("GETEX key:" + i + " PX 1000"))
                    .append(RawClient.command("PTTL key:" + i));
            }
            final byte[] sent = commands.toString().getBytes(StandardCharsets.US_ASCII);
            final byte[] expected = ("$100\r\n" + "\0".repeat(FixedEndpoint.VALUE_BYTES) + "\r\n+OK\r\n:100\r\n:1\r\n" +
                "+OK\r\n:1\r\n$100\r\n" + "\0".repeat(FixedEndpoint.VALUE_BYTES) + "\r\n:-1\r\n")
                .repeat(PIPELINE / 8).getBytes(StandardCharsets.US_ASCII);
            run(client, sent, expected, WARM_UP);
            final long before = allocatedBytes.getAsLong();
            run(client, sent, expected, PIPELINES);
            return (double)(allocatedBytes.getAsLong() - before) / (PIPELINES * PIPELINE);
        }
    }

    private static void run(final RawClient client, final byte[] sent, final byte[] expected, final int pipelines)
        throws IOException
    {
        final OutputStream out = client.socket().getOutputStream();
        final InputStream in = client.socket().getInputStream();
        for (int i = 0; i < pipelines; i++)
        {
            out.write(sent);
            assertThat(in.readNBytes(expected.length)).isEqualTo(expected);
        }
    }
}
