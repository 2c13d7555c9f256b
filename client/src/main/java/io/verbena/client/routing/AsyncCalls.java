package io.verbena.client.routing;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvUnavailableException;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.NanoClock;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The asynchronous operations in flight: their number, their deadlines, and those that wait for a node to take them.
 * Thread-safe, except {@link #sweep(long)}, which one thread calls.
 */
final class AsyncCalls implements AsyncCall.Owner
{
    private static final long ONE_BEGUN = 1L << Integer.SIZE;

    private final ComputeNodeSet nodes;
    private final NanoClock clock;
    private final StatisticsCells statistics;
    private final Executor completionExecutor;
    private final int maxInFlight;
    /** How many are in flight, and above that how many ever began. */
    private final AtomicLong counts = new AtomicLong();
    private final Set<AsyncCall<?>> outstanding = ConcurrentHashMap.newKeySet();
    private final Runnable sweepWaker;
    private volatile boolean closed;

    AsyncCalls(
        final ComputeNodeSet nodes, final NanoClock clock, final StatisticsCells statistics,
        final KvClientOptions options, final Runnable sweepWaker)
    {
        this.nodes = nodes;
        this.clock = clock;
        this.statistics = statistics;
        completionExecutor = Objects.requireNonNullElse(options.completionExecutor(), CompletionThreads.EACH_ITS_OWN);
        maxInFlight = options.maxAsyncInFlight();
        this.sweepWaker = sweepWaker;
    }

    /**
     * Begins an operation.
     *
     * @param executor completes the future, and so runs what depends on it.
     */
    <T> CompletableFuture<T> run(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long expectedVersion, final long deadlineNs, final Conversion<T> conversion, final Executor executor)
    {
        return run(kind, table, key, value, expectedVersion, RequestExpiry.NONE, deadlineNs, conversion, executor);
    }

    /** As the method above, of a record that gets a deadline, as {@link RequestExpiry} says. */
    <T> CompletableFuture<T> run(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long operand, final long expiry, final long deadlineNs, final Conversion<T> conversion,
        final Executor executor)
    {
        final CompletableFuture<T> future =
            tryRun(kind, table, key, value, operand, expiry, deadlineNs, conversion, executor);
        return null != future ? future : CompletableFuture.failedFuture(new KvUnavailableException(
            "too many asynchronous operations in flight: maxAsyncInFlight=" + maxInFlight +
            "; wait for some of them, or raise the limit"));
    }

    /**
     * Begins an operation if there is room for one more in flight.
     *
     * @param executor completes the future, and so runs what depends on it.
     * @return the future; null when as many are in flight as may be.
     */
    <T> CompletableFuture<T> tryRun(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long expectedVersion, final long deadlineNs, final Conversion<T> conversion, final Executor executor)
    {
        return tryRun(kind, table, key, value, expectedVersion, RequestExpiry.NONE, deadlineNs, conversion, executor);
    }

    private <T> CompletableFuture<T> tryRun(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long operand, final long expiry, final long deadlineNs, final Conversion<T> conversion,
        final Executor executor)
    {
        if (closed)
        {
            throw Verdict.closed();
        }
        final long now = counts.addAndGet(ONE_BEGUN + 1);
        if ((int)now > maxInFlight)
        {
            counts.decrementAndGet();
            return null;
        }
        final AsyncCall<T> call =
            new AsyncCall<>(this, (int)(now >>> Integer.SIZE), kind, table, key, value, operand, expiry, deadlineNs,
                conversion, executor);
        call.attempt();
        // Only now may the sweep see it: before, this thread drives it.
        outstanding.add(call);
        if (call.isFinished())
        {
            outstanding.remove(call);
        }
        else
        {
            sweepWaker.run();
        }
        return call.future();
    }

    /**
     * Looks after deadlines and calls that no node has taken yet. Never blocks.
     *
     * @param nowNs of the clock.
     */
    void sweep(final long nowNs)
    {
        for (final AsyncCall<?> call : outstanding)
        {
            call.sweep(nowNs);
        }
    }

    /** @return calls whose futures are not complete. */
    int inFlight()
    {
        return counts.intValue();
    }

    @Override
    public void finished(final AsyncCall<?> call)
    {
        counts.decrementAndGet();
        outstanding.remove(call);
    }

    void close()
    {
        closed = true;
    }

    @Override
    public boolean isClosed()
    {
        return closed;
    }

    @Override
    public ComputeNodeSet nodes()
    {
        return nodes;
    }

    @Override
    public NanoClock clock()
    {
        return clock;
    }

    @Override
    public StatisticsCells statistics()
    {
        return statistics;
    }

    Executor completionExecutor()
    {
        return completionExecutor;
    }
}
