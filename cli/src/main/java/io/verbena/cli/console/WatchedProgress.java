package io.verbena.cli.console;

import io.verbena.load.report.Progress;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;

/**
 * How far a command is that a person waits for: on a terminal one line with rate and time left, which goes away at the
 * end; elsewhere nothing. One thread.
 */
public final class WatchedProgress implements AutoCloseable
{
    /** Between two times that it is shown: 100 ms. */
    static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Progress progress;
    private final String phase;
    private final String noun;
    private final NanoClock clock;
    private final long beganNs;
    private long shownNs;

    /**
     * @param progress shows it; null: nothing is shown.
     * @param phase    one word.
     * @param noun     what is counted, for more than one.
     */
    WatchedProgress(final Progress progress, final String phase, final String noun, final NanoClock clock)
    {
        this.progress = progress;
        this.phase = phase;
        this.noun = noun;
        this.clock = clock;
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
        return new WatchedProgress(Terminal.watched(), phase, noun, SystemNanoClock.INSTANCE);
    }

    /**
     * Shows how far it is, unless that was shown a moment ago.
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
            progress.update(nowNs - beganNs, nowNs, phase, fraction, count, noun);
        }
    }

    /** Takes the line away. Idempotent. */
    @Override
    public void close()
    {
        if (null != progress)
        {
            progress.clear();
        }
    }
}
