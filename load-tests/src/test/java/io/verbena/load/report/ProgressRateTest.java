package io.verbena.load.report;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class ProgressRateTest
{
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private long nowNs;
    private final Progress progress = Progress.plain(new PrintStream(out, true, StandardCharsets.UTF_8));

    private String shown(final long elapsedMs, final double fraction, final long count)
    {
        out.reset();
        final long elapsedNs = TimeUnit.MILLISECONDS.toNanos(elapsedMs);
        // Long after the line before, so that each is shown.
        nowNs += TimeUnit.HOURS.toNanos(1);
        progress.update(elapsedNs, nowNs, "load", fraction, count, "records");
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldSayHowFastItIsAndHowLongTheRestTakes()
    {
        assertThat(shown(2_000, 0.25, 10_000)).isEqualTo("load   25%  10,000 records, 5,000/s, 6 s left\n");
        assertThat(shown(60_000, 0.1, 300)).isEqualTo("load   10%  300 records, 5/s, 9 min 0 s left\n");
        assertThat(shown(10_000, 1, 50_000)).isEqualTo("load  100%  50,000 records, 5,000/s, 0 s left\n");
        assertThat(shown(10_000, 1.2, 50_000)).as("more than was expected").endsWith("/s, 0 s left\n");
    }

    @Test
    void shouldNotGuessAtTheBeginning()
    {
        assertThat(shown(499, 0.01, 100)).isEqualTo("load    1%  100 records\n");
        assertThat(shown(501, 0, 0)).isEqualTo("load    0%  0 records\n");
        assertThat(shown(500, 0.5, 100)).isEqualTo("load   50%  100 records, 200/s, 1 s left\n");
    }
}
