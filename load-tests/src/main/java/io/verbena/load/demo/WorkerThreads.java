package io.verbena.load.demo;

import io.verbena.load.LoadException;
import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Named threads that run together; the first exception of one is the failure of all. Started once; not thread-safe.
 */
final class WorkerThreads
{
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /**
     * Adds and starts a thread.
     */
    void start(final String name, final Runnable work)
    {
        final Thread thread = new Thread(() ->
        {
            try
            {
                work.run();
            }
            catch (final Throwable ex)
            {
                failure.compareAndSet(null, ex);
            }
        }, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /**
     * Whether one has failed; the others should end.
     */
    boolean hasFailed()
    {
        return failure.get() != null;
    }

    /**
     * Waits for all to end, at most so long.
     *
     * @return true when all have ended.
     */
    boolean join(final long timeoutMs) throws InterruptedException
    {
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        for (final Thread thread : threads)
        {
            final long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - SystemNanoClock.INSTANCE.nanoTime());
            if (leftMs > 0)
            {
                thread.join(leftMs); // 0 would be for ever
            }
        }
        return threads.stream().noneMatch(Thread::isAlive);
    }

    /**
     * Waits for all to end.
     *
     * @throws LoadException when one failed, or they do not end in time.
     */
    void finish(final long timeoutNs) throws InterruptedException
    {
        if (!join(TimeUnit.NANOSECONDS.toMillis(timeoutNs)) && !hasFailed())
        {
            throw new LoadException(LoadException.Reason.FAILED, "a thread of the load did not end within " +
                TimeUnit.NANOSECONDS.toSeconds(timeoutNs) + " s: " + threads.stream().filter(Thread::isAlive).toList());
        }
        switch (failure.get())
        {
            case null ->
            {
            }
            case final LoadException ex -> throw ex;
            case final Throwable ex -> throw new LoadException(LoadException.Reason.FAILED, ex.toString(), ex);
        }
    }
}
