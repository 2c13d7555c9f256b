package io.verbena.client.routing;

import io.verbena.client.KvClosedException;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcome;

import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * One call of many operations, paced: a bounded number of them is under way at once, and the calling thread waits for
 * room before it begins the next one, so any number of keys may be given. The deadline is of the whole call: what could
 * not be begun before it fails, and so does what was begun and not answered. One thread makes it and calls
 * {@link #run}; any thread completes operations.
 */
final class Batch implements Executor
{
    /** Most operations of one call under way at once; further ones wait in the client. */
    static final int WINDOW = 512;
    /** The calling thread goes on when so many are left: it is not woken by each answer. */
    private static final int RESUME = WINDOW / 2;

    /**
     * Begins one operation.
     *
     * @param <T> of its result.
     */
    interface Operation<T>
    {
        /**
         * @param index    of the key.
         * @param executor to complete the future with.
         * @return the future; null when the client has no room for one more operation now.
         */
        CompletableFuture<T> begin(int index, Executor executor);
    }

    private final NanoClock clock;
    private final long deadlineNs;
    private final Thread caller = Thread.currentThread();
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile boolean parked;
    private boolean isInterrupted;
    private KvException refusal;

    Batch(final NanoClock clock, final long deadlineNs)
    {
        this.clock = clock;
        this.deadlineNs = deadlineNs;
    }

    /**
     * Runs all, and waits for each.
     *
     * @param count     of operations.
     * @param operation begins one.
     * @param late      makes the failure of what was not begun before the deadline.
     * @return outcomes by index.
     * @throws KvClosedException when the client was closed before the first operation began.
     */
    <T> List<KvOutcome<T>> run(final int count, final Operation<T> operation, final Supplier<KvException> late)
    {
        final List<CompletableFuture<T>> begun = new ArrayList<>(count);
        for (int i = 0; i < count && null == refusal; i++)
        {
            final CompletableFuture<T> future = begin(i, operation, late);
            if (null != future)
            {
                begun.add(future);
            }
        }
        final List<KvOutcome<T>> outcomes = new ArrayList<>(count);
        for (final CompletableFuture<T> future : begun)
        {
            outcomes.add(future.handle((result, failure) -> new KvOutcome<>(result, (KvException)failure)).join());
        }
        while (outcomes.size() < count)
        {
            outcomes.add(new KvOutcome<>(null, refusal));
        }
        if (isInterrupted)
        {
            caller.interrupt();
        }
        return outcomes;
    }

    /** Waits for room; null when nothing more is begun, for the reason that is the refusal then. */
    private <T> CompletableFuture<T> begin(
        final int index, final Operation<T> operation, final Supplier<KvException> late)
    {
        do
        {
            final CompletableFuture<T> future = underWay.get() < WINDOW ? tryBegin(index, operation) : null;
            if (null != future || null != refusal)
            {
                return future;
            }
        }
        while (awaitRoom());
        refusal = late.get();
        return null;
    }

    private <T> CompletableFuture<T> tryBegin(final int index, final Operation<T> operation)
    {
        underWay.incrementAndGet();
        CompletableFuture<T> future = null;
        try
        {
            future = operation.begin(index, this);
        }
        catch (final KvClosedException ex)
        {
            if (0 == index)
            {
                throw ex;
            }
            refusal = ex; // what was begun has outcomes of its own
        }
        if (null == future)
        {
            underWay.decrementAndGet();
        }
        return future;
    }

    /** @return whether there is time left; answers of this call, or room that other calls give back, end the wait. */
    private boolean awaitRoom()
    {
        final boolean isFull = underWay.get() >= WINDOW;
        long remainingNs = deadlineNs - clock.nanoTime();
        parked = true;
        do
        {
            if (remainingNs > 0 && !(isFull && underWay.get() <= RESUME))
            {
                LockSupport.parkNanos(this, isFull ? remainingNs : Math.min(remainingNs, Verdict.BACK_OFF_NS));
            }
            isInterrupted |= Thread.interrupted();
            remainingNs = deadlineNs - clock.nanoTime();
        }
        while (isFull && underWay.get() > RESUME && remainingNs > 0);
        parked = false;
        return remainingNs > 0;
    }

    /** An operation has ended: by whoever ends it, since the user's executor may be busy with the calling thread. */
    @Override
    public void execute(final Runnable completion)
    {
        completion.run();
        if (underWay.decrementAndGet() <= RESUME && parked)
        {
            LockSupport.unpark(caller);
        }
    }
}
