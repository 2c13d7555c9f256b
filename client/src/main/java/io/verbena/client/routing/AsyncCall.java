package io.verbena.client.routing;

import io.verbena.client.KvException;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * One asynchronous operation over all its attempts. At any instant one thread drives it: whoever submits, then the node
 * that answers, or the sweeping thread once it has won the attempt by its state word, or while no attempt is out.
 */
final class AsyncCall<T>
{
    /** Holds the calls of a client. */
    interface Owner
    {
        NanoClock clock();

        ComputeNodeSet nodes();

        StatisticsCells statistics();

        /** Whether the client was closed: what no node has begun fails. */
        boolean isClosed();

        /** Called once for each call, by the thread that ends it. */
        void finished(AsyncCall<?> call);
    }

    /** One attempt at one node: used once, because an abandoned one may stay in a node's hands. */
    private final class Attempt extends OperationRequest
    {
        @Override
        protected void onDone()
        {
            answered(this);
        }
    }

    private final Owner calls;
    private final int number;
    private final RequestKind kind;
    private final TableReference table;
    private final byte[] key;
    private final byte[] value;
    private final long operand;
    private final long expiry;
    private final long deadlineNs;
    private final Conversion<T> conversion;
    private final Executor completionExecutor;
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final int partition;
    private int attemptCount;
    private int refusals;
    private long retryAtNs;
    private String refusal;
    private volatile Attempt current;
    private volatile boolean waitsForSweep;
    private volatile boolean finished;

    AsyncCall(
        final Owner calls, final int number, final RequestKind kind, final TableReference table,
        final byte[] key, final byte[] value, final long operand, final long expiry,
        final long deadlineNs, final Conversion<T> conversion, final Executor completionExecutor)
    {
        this.calls = calls;
        this.number = number;
        this.kind = kind;
        this.table = table;
        this.key = key;
        this.value = value;
        this.operand = operand;
        this.expiry = expiry;
        this.deadlineNs = deadlineNs;
        this.conversion = conversion;
        this.completionExecutor = completionExecutor;
        retryAtNs = calls.clock().nanoTime();
        partition = RoutingView.partition(key);
    }

    CompletableFuture<T> future()
    {
        return future;
    }

    boolean isFinished()
    {
        return finished;
    }

    /** Offers the operation to each node at most once; if none takes it, leaves it to the next sweep. */
    void attempt()
    {
        final RoutingView view = calls.nodes().view();
        for (int i = 0; i < view.count(); i++)
        {
            final Attempt attempt = new Attempt();
            attempt.ask(kind, table, key, value, operand, deadlineNs);
            attempt.askExpiry(expiry);
            current = attempt;
            if (ComputeEndpoint.ACCEPTED == view.endpoint(partition, attemptCount++).submit(attempt))
            {
                return;
            }
        }
        waitsForSweep = true;
    }

    private void answered(final Attempt attempt)
    {
        final boolean again = Verdict.mayTryAgain(attempt) && deadlineNs - calls.clock().nanoTime() > 0;
        final KvException failure = again ? null : Verdict.failure(attempt);
        calls.statistics().count(attempt, !again, null != failure);
        if (again)
        {
            refusal = attempt.detail();
            // The sweep, not this node's thread, tries on: a node that refuses is not asked again at once.
            final int round = ++refusals / Math.max(1, calls.nodes().view().count());
            retryAtNs = calls.clock().nanoTime() + Verdict.backOffNs(round, number);
            waitsForSweep = true;
        }
        else
        {
            finish(null == failure ? conversion.of(attempt) : null, failure);
        }
    }

    /**
     * Tries on, or gives up, as the time demands.
     *
     * @param nowNs of the clock.
     */
    void sweep(final long nowNs)
    {
        if (waitsForSweep)
        {
            if (retryAtNs - nowNs > 0 && deadlineNs - nowNs > 0 && !calls.isClosed())
            {
                return;
            }
            waitsForSweep = false;
            if (calls.isClosed())
            {
                finish(null, Verdict.closed());
            }
            else if (deadlineNs - nowNs <= 0)
            {
                finish(null, Verdict.unavailable(current(), refusal));
            }
            else
            {
                attempt();
            }
        }
        else if (nowNs - deadlineNs > Verdict.GRACE_NS)
        {
            giveUp();
        }
    }

    private void giveUp()
    {
        final Attempt attempt = current;
        if (attempt.withdraw())
        {
            finish(null, Verdict.timedOut(attempt));
        }
        else if (attempt.abandon())
        {
            finish(null, Verdict.givenUp(attempt));
        }
    }

    /** A sweep visits calls by their numbers, not by where they lie in memory: so a simulated run can be repeated. */
    @Override
    public int hashCode()
    {
        return number;
    }

    @Override
    public boolean equals(final Object other)
    {
        return this == other;
    }

    private Attempt current()
    {
        if (null == current)
        {
            refusal = calls.nodes().absence();
            final Attempt never = new Attempt();
            never.ask(kind, table, key, value, operand, deadlineNs);
            return never;
        }
        return current;
    }

    private void finish(final T result, final KvException failure)
    {
        finished = true;
        calls.finished(this);
        final Runnable completion = () ->
        {
            if (null == failure)
            {
                future.complete(result);
            }
            else
            {
                future.completeExceptionally(failure);
            }
        };
        try
        {
            completionExecutor.execute(completion);
        }
        catch (final RuntimeException ex)
        {
            // An executor that was shut down, or fails, must neither leave callers waiting, nor have this thread run
            // what may wait, nor end the node whose thread this may be.
            CompletionThreads.EACH_ITS_OWN.execute(completion);
        }
    }
}
