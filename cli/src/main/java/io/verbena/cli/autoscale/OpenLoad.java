package io.verbena.cli.autoscale;

import io.verbena.client.KvTable;

import org.agrona.concurrent.NanoClock;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks at a rate that others set, whether or not answers have come: each GET has a time at which it is due, and its
 * latency counts from then. Counts are kept for windows of time. One thread asks; the other methods are for any thread.
 */
final class OpenLoad implements AutoCloseable
{
    static final long WINDOW_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final int MOST_WINDOWS = 4_000;
    /** Latencies in steps of a fifth, from 1 microsecond to minutes. */
    private static final int BUCKETS = 120;
    private static final double STEP = 1.2;
    /** Asked and not answered at most; more are due, and wait here. */
    private static final int TOGETHER = 2_000;
    private static final long GAP_NS = 200_000;

    private final KvTable table;
    private final int keys;
    private final NanoClock clock;
    private final long beganNs;
    private final AtomicLongArray counts = new AtomicLongArray(MOST_WINDOWS * BUCKETS);
    private final AtomicLongArray asked = new AtomicLongArray(MOST_WINDOWS);
    private final AtomicLong failures = new AtomicLong();
    private final Semaphore room = new Semaphore(TOGETHER);
    private final Thread thread;
    private volatile String firstFailure = "";
    private volatile double perSecond;
    private volatile boolean isOver;

    /**
     * Begins, at a rate of 0.
     *
     * @param table with records under the keys.
     * @param keys  of which one is asked for at random.
     * @param clock for all times.
     */
    OpenLoad(final KvTable table, final int keys, final NanoClock clock)
    {
        this.table = table;
        this.keys = keys;
        this.clock = clock;
        beganNs = clock.nanoTime();
        thread = Thread.ofPlatform().daemon().name("verbena-load").start(this::run);
    }

    static byte[] key(final int number)
    {
        return new byte[]{(byte)number, (byte)(number >> 8)};
    }

    /** Asks so many times a second from now on. */
    void rate(final double newPerSecond)
    {
        perSecond = newPerSecond;
    }

    /** @return operations that failed. */
    long failures()
    {
        return failures.get();
    }

    /** @return why the first of them did; empty when none has. */
    String firstFailure()
    {
        return firstFailure;
    }

    /** @return the window of now. */
    int window()
    {
        return (int)Math.min(MOST_WINDOWS - 1, (clock.nanoTime() - beganNs) / WINDOW_NS);
    }

    /** @return operations that were due in a window, in a second. */
    double askedPerSecond(final int window)
    {
        return asked.get(window) * (double)TimeUnit.SECONDS.toNanos(1) / WINDOW_NS;
    }

    /** @return 99th percentile of the latencies of what ended in these windows, in microseconds; 0 for nothing. */
    double p99Us(final int from, final int to)
    {
        final long[] sums = new long[BUCKETS];
        for (int window = from; window < to; window++)
        {
            for (int i = 0; i < BUCKETS; i++)
            {
                sums[i] += counts.get(window * BUCKETS + i);
            }
        }
        final double rank = 0.99 * Arrays.stream(sums).sum();
        double below = 0;
        for (int i = 0; i < BUCKETS; i++)
        {
            below += sums[i];
            if (below >= rank && below > 0)
            {
                return Math.pow(STEP, i);
            }
        }
        return 0;
    }

    private void run()
    {
        final SplittableRandom random = new SplittableRandom(20261124);
        long lastNs = clock.nanoTime();
        double owed = 0;
        while (!isOver)
        {
            final long nowNs = clock.nanoTime();
            final double rate = perSecond;
            final double before = owed;
            owed += rate * (nowNs - lastNs) / TimeUnit.SECONDS.toNanos(1);
            for (int i = 1; i <= (int)owed; i++)
            {
                // Spread over the time since the last look, in which they were due.
                ask(lastNs + (long)Math.max(0, (i - before) / rate * TimeUnit.SECONDS.toNanos(1)),
                    random.nextInt(keys));
            }
            owed -= (int)owed;
            lastNs = nowNs;
            LockSupport.parkNanos(GAP_NS);
        }
    }

    private void ask(final long dueNs, final int key)
    {
        asked.incrementAndGet((int)Math.min(MOST_WINDOWS - 1, (dueNs - beganNs) / WINDOW_NS));
        room.acquireUninterruptibly();
        table.getAsync(key(key)).whenComplete((value, failure) ->
        {
            room.release();
            if (null != failure || null == value || value.isEmpty())
            {
                failures.incrementAndGet();
                firstFailure = firstFailure.isEmpty() ? null == failure ? "a record is missing" : failure.toString() :
                    firstFailure;
                return;
            }
            final long us = TimeUnit.NANOSECONDS.toMicros(Math.max(1_000, clock.nanoTime() - dueNs));
            final int bucket = (int)Math.min(BUCKETS - 1, Math.ceil(Math.log(us) / Math.log(STEP)));
            counts.incrementAndGet(window() * BUCKETS + bucket);
        });
    }

    /** Asks no more, and waits for the answers, each of which comes by its deadline. */
    @Override
    public void close()
    {
        isOver = true;
        try
        {
            thread.join();
            room.acquire(TOGETHER);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
