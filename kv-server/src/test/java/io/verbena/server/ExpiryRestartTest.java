package io.verbena.server;

import io.verbena.client.Expiry;
import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.compute.ComputeNodeConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Deadlines over the end of a memory node, with its memory and from a checkpoint; expired records are swept there. */
@Timeout(180)
class ExpiryRestartTest extends MemoryRestartRig
{
    private static final int RECORDS = 50;

    @Override
    ComputeNodeConfiguration computeNode()
    {
        return new ComputeNodeConfiguration().sweepIntervalNs(TimeUnit.MILLISECONDS.toNanos(100));
    }

    private static byte[] key(final String kind, final int i)
    {
        return (kind + i).getBytes(UTF_8);
    }

    @Test
    void shouldKeepDeadlinesAndSweepWhatPassedWhileTheNodeWasDown() throws InterruptedException
    {
        restart(false);
    }

    @Test
    void shouldRestoreDeadlinesFromACheckpointAndSweepWhatPassedMeanwhile() throws InterruptedException
    {
        restart(true);
    }

    private void restart(final boolean losesMemory) throws InterruptedException
    {
        final KvTable other = client.createTable("other", new TableOptions(1_000));
        final Instant late = Instant.now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MILLIS);
        final Instant soon = Instant.now().plusSeconds(3);
        for (int i = 0; i < RECORDS; i++)
        {
            other.put(key("soon", i), VALUE, Expiry.at(soon));
            other.put(key("late", i), VALUE, Expiry.at(late));
        }
        checkpoint();
        end();
        if (losesMemory)
        {
            loseMemory();
        }
        Thread.sleep(Math.max(0, Duration.between(Instant.now(), soon).toMillis()));

        memory = start(openMemory());
        for (int i = 0; i < RECORDS; i++)
        {
            final KvEntry entry = other.get(key("late", i)).orElseThrow();
            assertThat(entry.value()).isEqualTo(VALUE);
            assertThat(entry.deadline()).contains(late);
        }
        // Of the others nobody asks for one: only the sweep can have taken them away.
        while (!checkpoint().getProperty("records").equals(String.valueOf(RECORDS + 1)))
        {
            Thread.sleep(20);
        }
        assertThat(other.get(key("soon", 0))).isEmpty();
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
    }
}
