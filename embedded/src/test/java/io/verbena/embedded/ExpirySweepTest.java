package io.verbena.embedded;

import io.verbena.client.Expiry;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Records with deadlines that nobody asks for, in a cluster whose compute nodes sweep. */
@Timeout(60)
class ExpirySweepTest
{
    private static final int RECORDS = 400;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private static EmbeddedCluster start(final int computeNodes, final Duration interval)
    {
        return EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(16 << 20)
            .computeNodes(computeNodes).sweepInterval(interval));
    }

    private static void fill(final KvTable table)
    {
        for (int i = 0; i < RECORDS; i++)
        {
            table.put(("short-" + i).getBytes(UTF_8), new byte[100], Expiry.in(Duration.ofMillis(1)));
            table.put(("long-" + i).getBytes(UTF_8), new byte[100], Expiry.in(Duration.ofHours(1)));
        }
    }

    private static long records(final EmbeddedCluster cluster)
    {
        return cluster.check(false, TIMEOUT_NS).records();
    }

    @Test
    void shouldTakeAwayWhatNobodyAsksForAndLeaveTheRest() throws InterruptedException
    {
        for (int nodes = 1; nodes <= 2; nodes++)
        {
            try (EmbeddedCluster cluster = start(nodes, Duration.ofMillis(50)))
            {
                final KvTable table = cluster.client().createTable("t", new TableOptions(2_000));
                fill(table);
                while (records(cluster) > RECORDS)
                {
                    Thread.sleep(10);
                }
                for (int i = 0; i < RECORDS; i++)
                {
                    assertThat(table.get(("long-" + i).getBytes(UTF_8))).isPresent();
                }
                final MemoryCheck check = cluster.check(false, TIMEOUT_NS);
                assertThat(check.records()).isEqualTo(RECORDS);
                assertThat(check.problems()).isEmpty();
                assertThat(check.lostBytes()).isZero();
            }
        }
    }

    @Test
    void shouldNotSweepWhereItIsSwitchedOff() throws InterruptedException
    {
        try (EmbeddedCluster cluster = start(1, Duration.ZERO))
        {
            final KvTable table = cluster.client().createTable("t", new TableOptions(2_000));
            fill(table);
            Thread.sleep(300);
            assertThat(records(cluster)).isEqualTo(2 * RECORDS);
        }
    }

    @Test
    void shouldRefuseIntervalsThatSayNothing()
    {
        for (final Duration interval : new Duration[]{Duration.ofNanos(1), Duration.ofMillis(-1), Duration.ofDays(2)})
        {
            assertThatThrownBy(() -> new EmbeddedClusterOptions().sweepInterval(interval))
                .isInstanceOf(EmbeddedClusterException.class).hasMessageContaining("1 ms to 1 day, or zero");
        }
    }
}
