package io.verbena.server.dashboard;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Counts what is in the tables while somebody wants to know, on a thread of its own: a compute node reads all slots for
 * it, so it happens seldom, and the more seldom the longer it takes. Thread-safe.
 */
public final class TableSampler implements AutoCloseable
{
    /** From the end of one to the beginning of the next, at least: 5 s. */
    public static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(5);
    /** And at least so many times as long as the one took: it takes 2 % of a node's time at most. */
    public static final long PAUSE_FACTOR = 50;
    /** Tables that are not counted by then are left out. */
    private static final long SAMPLE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long CLOSE_MS = 5_000;

    /** The tables of a cluster. Used by one thread; each call has a deadline, or throws. */
    public interface Tables extends AutoCloseable
    {
        /** @return names of all. */
        List<String> names();

        /**
         * @param name of a table.
         * @return its figures, as {@code docs/dashboard.md} lists them.
         */
        Map<String, Object> figures(String name);

        @Override
        void close();
    }

    /**
     * What is known of the tables.
     *
     * @param tables  figures of each; null while nothing is known.
     * @param timeMs  when they were counted, ms since 1970; 0: never.
     * @param failure why there are none, or not all, in one line; empty otherwise.
     */
    public record Sample(List<Map<String, Object>> tables, long timeMs, String failure)
    {
        static final Sample NONE = new Sample(null, 0, "");
    }

    private final Supplier<Tables> opener;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private volatile Sample last = Sample.NONE;
    private Thread thread;
    private long dueNs;
    private volatile boolean closed;

    /**
     * @param opener    opens the tables for one sample, after which they are closed; called by the sampler's thread.
     * @param clock     for the pauses.
     * @param wallClock for when they were counted.
     */
    public TableSampler(final Supplier<Tables> opener, final NanoClock clock, final EpochClock wallClock)
    {
        this.opener = opener;
        this.clock = clock;
        this.wallClock = wallClock;
        dueNs = clock.nanoTime();
    }

    /** @return what is known now. */
    public Sample last()
    {
        return last;
    }

    /** Begins to count, unless it does, or did shortly before. */
    public synchronized void begin()
    {
        if (null == thread && !closed && clock.nanoTime() - dueNs >= 0)
        {
            thread = new Thread(this::run, "verbena-dashboard-tables");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** @return whether it counts now. */
    public synchronized boolean isCounting()
    {
        return null != thread;
    }

    private void run()
    {
        final long beganNs = clock.nanoTime();
        try
        {
            last = sample(beganNs + SAMPLE_NS);
        }
        catch (final RuntimeException ex)
        {
            last = new Sample(last.tables, last.timeMs, "not counted: " + ex.getMessage());
        }
        finally
        {
            synchronized (this)
            {
                final long nowNs = clock.nanoTime();
                dueNs = nowNs + Math.max(PAUSE_NS, PAUSE_FACTOR * (nowNs - beganNs));
                thread = null;
            }
        }
    }

    private Sample sample(final long deadlineNs)
    {
        final List<Map<String, Object>> tables = new ArrayList<>();
        try (Tables opened = opener.get())
        {
            final List<String> names = opened.names();
            for (final String name : names)
            {
                if (closed || clock.nanoTime() - deadlineNs >= 0)
                {
                    return new Sample(tables, wallClock.time(), tables.size() + " of " + names.size() +
                        " counted within " + TimeUnit.NANOSECONDS.toSeconds(SAMPLE_NS) + " s, without the others");
                }
                tables.add(opened.figures(name));
            }
        }
        return new Sample(tables, wallClock.time(), "");
    }

    /** Ends what is under way, at the latest with the deadline of its operation. */
    @Override
    public void close()
    {
        final Thread running;
        synchronized (this)
        {
            closed = true;
            running = thread;
        }
        try
        {
            if (null != running)
            {
                running.join(CLOSE_MS);
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
