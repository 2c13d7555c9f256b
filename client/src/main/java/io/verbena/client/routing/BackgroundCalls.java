package io.verbena.client.routing;

import io.verbena.client.KvUnavailableException;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Asynchronous forms of calls that consist of several steps, such as operations on many keys: each runs on a virtual
 * thread of its own. Their number is bounded. Thread-safe.
 */
final class BackgroundCalls
{
    private final Executor completionExecutor;
    private final int maxInFlight;
    private final AtomicInteger inFlight = new AtomicInteger();
    private volatile boolean closed;

    BackgroundCalls(final Executor completionExecutor, final int maxInFlight)
    {
        this.completionExecutor = completionExecutor;
        this.maxInFlight = maxInFlight;
    }

    /**
     * Begins a call.
     *
     * @param call the form of it that waits.
     * @return future of its result, or of the exception that it throws.
     */
    <T> CompletableFuture<T> run(final Supplier<T> call)
    {
        if (closed)
        {
            throw Verdict.closed();
        }
        if (inFlight.incrementAndGet() > maxInFlight)
        {
            inFlight.decrementAndGet();
            return CompletableFuture.failedFuture(new KvUnavailableException(
                "too many asynchronous calls of several steps in flight: maxAsyncInFlight=" + maxInFlight +
                "; wait for some of them, or raise the limit"));
        }
        final CompletableFuture<T> future = new CompletableFuture<>();
        Thread.ofVirtual().name("verbena-call").start(() -> complete(future, call));
        return future;
    }

    private <T> void complete(final CompletableFuture<T> future, final Supplier<T> call)
    {
        Runnable completion;
        try
        {
            final T result = call.get();
            completion = () -> future.complete(result);
        }
        catch (final RuntimeException | Error ex)
        {
            completion = () -> future.completeExceptionally(ex); // an error too: nobody is to wait for ever
        }
        inFlight.decrementAndGet();
        try
        {
            completionExecutor.execute(completion);
        }
        catch (final RuntimeException ex)
        {
            CompletionThreads.EACH_ITS_OWN.execute(completion); // an executor that was shut down, or fails
        }
    }

    void close()
    {
        closed = true;
    }
}
