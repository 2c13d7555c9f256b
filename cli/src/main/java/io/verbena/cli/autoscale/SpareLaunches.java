package io.verbena.cli.autoscale;

import io.verbena.cli.console.CommandFailedException;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts and ends spares on a thread of its own, so that decisions do not wait for it: one change at a time, and after
 * trouble with growing distance. The methods are for one thread.
 */
final class SpareLaunches implements AutoCloseable
{
    private static final long FIRST_PAUSE_MS = 2_000;

    /** Held by whoever changes processes: this one's thread, or the one of the decisions. */
    private final ReentrantLock changing = new ReentrantLock(true);
    private final Backoff backoff = new Backoff(FIRST_PAUSE_MS);
    private final NanoClock clock;
    private Thread thread;
    private volatile String trouble;
    private boolean hasEnded = true;

    /** @param clock for the distance between attempts. */
    SpareLaunches(final NanoClock clock)
    {
        this.clock = clock;
    }

    /** @return whether a change is under way. */
    boolean isUnderWay()
    {
        return null != thread && thread.isAlive();
    }

    /** @return why the change failed that ended last, once; else null. */
    String failure()
    {
        if (hasEnded || isUnderWay())
        {
            return null;
        }
        hasEnded = true;
        final String why = trouble;
        if (null == why)
        {
            backoff.succeeded();
        }
        else
        {
            backoff.failed(nowMs());
        }
        return why;
    }

    /**
     * Begins a change, unless one is under way, or one has failed a moment ago.
     *
     * @return as {@link #failure()}.
     */
    String begin(final Runnable change)
    {
        final String why = failure();
        if (!isUnderWay() && backoff.leftMs(nowMs()) <= 0)
        {
            trouble = null;
            hasEnded = false;
            thread = Thread.ofPlatform().daemon().name("verbena-spares").start(() -> run(change));
        }
        return why;
    }

    private void run(final Runnable change)
    {
        changing.lock();
        try
        {
            change.run();
        }
        catch (final CommandFailedException ex)
        {
            trouble = ex.getMessage();
        }
        catch (final RuntimeException ex)
        {
            trouble = ex.toString();
        }
        finally
        {
            changing.unlock();
        }
    }

    /** Runs another change when the one under way is over. */
    void alone(final Runnable change)
    {
        changing.lock();
        try
        {
            change.run();
        }
        finally
        {
            changing.unlock();
        }
    }

    private long nowMs()
    {
        return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime());
    }

    /** Ends the launch under way, and waits until that has given up what it held. */
    @Override
    public void close()
    {
        if (isUnderWay())
        {
            thread.interrupt();
            changing.lock();
            changing.unlock();
        }
    }
}
