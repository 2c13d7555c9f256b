package io.verbena.cli.console;

import io.verbena.load.report.Progress;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How far a command is that a person waits for: on a terminal one line with rate and time left, which goes away at the
 * end; elsewhere nothing. A thread of its own writes to the terminal: one that is held (Ctrl-S) delays nobody who
 * reports how far it is, and who may have writers of a store wait meanwhile. Used by one thread.
 */
public final class WatchedProgress implements AutoCloseable
{
    /** Between two times that it is shown: 100 ms. */
    static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** For the line to go away; longer where the terminal is held, and then nobody waits for it. */
    private static final long END_MS = 1_000;

    /** How far it was when that was to be shown. */
    private record Reached(long nowNs, double fraction, long count)
    {
    }

    private final Progress progress;
    private final String phase;
    private final String noun;
    private final NanoClock clock;
    private final Executor writer;
    private final AtomicReference<Reached> latest = new AtomicReference<>();
    private final long beganNs;
    private long shownNs;
    private boolean isClosed;

    /**
     * @param progress shows it; null: nothing is shown.
     * @param phase    one word.
     * @param noun     what is counted, for more than one.
     * @param writer   does what may block, one after the other; closed with this if it is an {@link ExecutorService}.
     */
    WatchedProgress(
        final Progress progress, final String phase, final String noun, final NanoClock clock, final Executor writer)
    {
        this.progress = progress;
        this.phase = phase;
        this.noun = noun;
        this.clock = clock;
        this.writer = writer;
        beganNs = clock.nanoTime();
        shownNs = beganNs - PAUSE_NS;
    }

    /**
     * Begins, on standard error.
     *
     * @param phase one word.
     * @param noun  what is counted, for more than one.
     * @return closed by the caller before anything else is printed.
     */
    public static WatchedProgress begin(final String phase, final String noun)
    {
        final Progress progress = Terminal.watched();
        return new WatchedProgress(progress, phase, noun, SystemNanoClock.INSTANCE, null == progress ? Runnable::run :
            Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("verbena-progress").factory()));
    }

    /**
     * Shows how far it is, unless that was shown a moment ago. Does not wait for the terminal.
     *
     * @param fraction done, 0 to 1.
     * @param count    done.
     */
    public void update(final double fraction, final long count)
    {
        final long nowNs = clock.nanoTime();
        if (null != progress && nowNs - shownNs >= PAUSE_NS)
        {
            shownNs = nowNs;
            // One write is under way at most, and shows the latest that there is.
            if (null == latest.getAndSet(new Reached(nowNs, fraction, count)))
            {
                writer.execute(this::show);
            }
        }
    }

    private void show()
    {
        final Reached reached = latest.getAndSet(null);
        progress.update(
            reached.nowNs - beganNs, reached.nowNs, phase, reached.fraction, reached.count, noun);
    }

    /** Takes the line away. Idempotent. */
    @Override
    public void close()
    {
        if (null == progress || isClosed)
        {
            return;
        }
        isClosed = true;
        writer.execute(progress::clear);
        if (writer instanceof final ExecutorService threads)
        {
            threads.shutdown();
            try
            {
                threads.awaitTermination(END_MS, TimeUnit.MILLISECONDS);
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
            }
        }
    }
}
