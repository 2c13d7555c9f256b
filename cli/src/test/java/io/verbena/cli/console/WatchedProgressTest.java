package io.verbena.cli.console;

import io.verbena.load.report.Progress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class WatchedProgressTest
{
    private static final int COLUMNS = 100;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private long nowNs = Long.MAX_VALUE - 10;

    private WatchedProgress onTerminal()
    {
        return new WatchedProgress(Progress.onTerminal(new PrintStream(out, true, StandardCharsets.UTF_8), COLUMNS),
            "check", "slots", () -> nowNs, Runnable::run);
    }

    private String shown()
    {
        final String text = out.toString(StandardCharsets.UTF_8).strip();
        out.reset();
        return text;
    }

    @Test
    void shouldShowRateAndTimeLeftAndTakeTheLineAway()
    {
        try (WatchedProgress progress = onTerminal())
        {
            progress.update(0.1, 1_000);
            assertThat(shown()).startsWith("check ").endsWith(" 10%  1,000 slots");
            nowNs += TimeUnit.SECONDS.toNanos(2);
            progress.update(0.25, 2_000);
            assertThat(shown()).endsWith(" 25%  2,000 slots, 1,000/s, 6 s left");
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("\r" + " ".repeat(COLUMNS - 1) + "\r");
    }

    @Test
    void shouldShowItTenTimesASecondAtMost()
    {
        final WatchedProgress progress = onTerminal();
        progress.update(0.1, 1);
        assertThat(shown()).isNotEmpty();
        nowNs += WatchedProgress.PAUSE_NS - 1;
        progress.update(0.2, 2);
        assertThat(shown()).isEmpty();
        nowNs++;
        progress.update(0.3, 3);
        assertThat(shown()).endsWith(" 30%  3 slots");
    }

    @Test
    void shouldShowNothingWhereNobodyLooks()
    {
        try (WatchedProgress progress = new WatchedProgress(null, "check", "slots", () -> nowNs, Runnable::run))
        {
            progress.update(0.5, 5);
        }
        try (WatchedProgress progress = onTerminal())
        {
            assertThat(progress).isNotNull();
        }
        assertThat(shown()).as("of what showed nothing yet").isEmpty();
    }

    /** As one on which somebody has pressed Ctrl-S. */
    private static final class HeldTerminal extends ByteArrayOutputStream
    {
        private final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public synchronized void write(final byte[] bytes, final int offset, final int lengthBytes)
        {
            try
            {
                goOn.await();
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
            }
            super.write(bytes, offset, lengthBytes);
        }
    }

    @Test
    @Timeout(30)
    void shouldNotWaitForATerminalThatIsHeldAndShowTheLatestAfterwards() throws InterruptedException
    {
        final HeldTerminal held = new HeldTerminal();
        final ExecutorService writer = Executors.newSingleThreadExecutor();
        final WatchedProgress progress = new WatchedProgress(
            Progress.onTerminal(new PrintStream(held, true, StandardCharsets.UTF_8), COLUMNS), "check", "slots",
            () -> nowNs, writer);
        for (int i = 0; i < 100; i++)
        {
            nowNs += WatchedProgress.PAUSE_NS;
            progress.update(i / 100.0, i);
        }
        progress.close();
        progress.close();
        assertThat(writer.isTerminated()).isFalse();
        held.goOn.countDown();
        assertThat(writer.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        final String all = held.toString(StandardCharsets.UTF_8);
        assertThat(all).contains(" 99 slots").endsWith("\r");
        assertThat(all.split("slots", -1)).as("two writes at most: the one that was held, and the latest")
            .hasSizeLessThanOrEqualTo(3);
    }
}
