package io.verbena.resp;

import io.verbena.resp.session.SlowOperations;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** SLOWLOG and LATENCY of a node that keeps slow operations. */
@Timeout(60)
class RespSlowLogTest
{
    private static final class Kept implements SlowOperations
    {
        private final List<SlowOperation> latestFirst = new ArrayList<>();
        private int number;

        private synchronized void add(final long endedMs, final long responseUs)
        {
            latestFirst.addFirst(new SlowOperation(
                number++, endedMs, TimeUnit.MICROSECONDS.toNanos(responseUs), List.of("put", "table=default")));
        }

        @Override
        public long thresholdNs()
        {
            return 2_500_000;
        }

        @Override
        public int capacity()
        {
            return 128;
        }

        @Override
        public synchronized List<SlowOperation> latestFirst()
        {
            return List.copyOf(latestFirst);
        }

        @Override
        public synchronized void forget()
        {
            latestFirst.clear();
        }
    }

    private final Kept kept = new Kept();
    private final MapEndpoint endpoint = new MapEndpoint(7);
    private final RespServer server = RespServer.open(new RespConfiguration().port(0).slowOperations(kept), endpoint,
        SystemNanoClock.INSTANCE, () -> { });

    @AfterEach
    void close()
    {
        server.close();
        endpoint.close();
    }

    private static String row(final int number, final long second, final long us)
    {
        return " *6 :" + number + " :" + second + " :" + us + " *2 $3 put $13 table=default $3 ?:0 $0 ";
    }

    @Test
    void shouldShowSlowOperations() throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            kept.add(5_999, 2_501);
            kept.add(6_000, 7_000);
            assertThat(client.ask("SLOWLOG LEN")).isEqualTo(":2");
            assertThat(client.ask("SLOWLOG GET")).isEqualTo("*2" + row(1, 6, 7_000) + row(0, 5, 2_501));
            assertThat(client.ask("SLOWLOG GET 1")).isEqualTo("*1" + row(1, 6, 7_000));
            assertThat(client.ask("SLOWLOG GET 0")).isEqualTo("*0");
            for (int i = 2; i < 12; i++)
            {
                kept.add(7_000, 3_000);
            }
            assertThat(client.ask("SLOWLOG GET")).startsWith("*10 ");
            assertThat(client.ask("SLOWLOG GET -1")).startsWith("*12 ").endsWith(row(0, 5, 2_501));
            assertThat(client.ask("SLOWLOG RESET")).isEqualTo("+OK");
            assertThat(client.ask("SLOWLOG LEN")).isEqualTo(":0");
            assertThat(client.ask("SLOWLOG GET -1")).isEqualTo("*0");
            assertThat(client.ask("CONFIG GET slowlog-log-slower-than")).endsWith("$4 2500");
            assertThat(client.ask("CONFIG GET slowlog-max-len")).endsWith("$3 128");
            assertThat(client.ask("CONFIG GET latency-monitor-threshold")).endsWith("$1 2");
        }
    }

    /** The latest second comes at the end, each with its longest; to reset them leaves the slow operations. */
    @Test
    void shouldShowHowLongTheyTook() throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            kept.add(5_000, 9_999);
            kept.add(8_000, 4_000);
            kept.add(8_999, 3_000);
            assertThat(client.ask("LATENCY LATEST")).isEqualTo("*1 *4 $7 command :8 :3 :9");
            assertThat(client.ask("LATENCY HISTORY command")).isEqualTo("*2 *2 :5 :9 *2 :8 :4");
            assertThat(client.ask("LATENCY HISTORY fork")).isEqualTo("*0");
            assertThat(client.ask("LATENCY RESET fork")).isEqualTo(":0");
            assertThat(client.ask("LATENCY RESET fork command")).isEqualTo(":1");
            assertThat(client.ask("LATENCY RESET")).isEqualTo(":0");
            assertThat(client.ask("LATENCY LATEST")).isEqualTo("*0");
            assertThat(client.ask("LATENCY HISTORY command")).isEqualTo("*0");
            assertThat(client.ask("SLOWLOG LEN")).isEqualTo(":3");
            kept.add(9_000, 5_000);
            assertThat(client.ask("LATENCY HISTORY command")).isEqualTo("*1 *2 :9 :5");
            assertThat(client.ask("LATENCY RESET")).isEqualTo(":1");
        }
    }

    @Test
    void shouldSayWhatIsNotKept() throws IOException
    {
        try (RawClient client = new RawClient(server.port()))
        {
            for (final String command : List.of("DOCTOR", "GRAPH command", "HISTOGRAM", "HISTOGRAM get"))
            {
                assertThat(client.ask("LATENCY " + command)).startsWith("-ERR LATENCY " + command.split(" ")[0] +
                    " is not supported");
            }
        }
    }
}
