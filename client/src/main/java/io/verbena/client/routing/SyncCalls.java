package io.verbena.client.routing;

import io.verbena.client.KvException;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.locks.LockSupport;

/**
 * Runs operations for threads that wait: chooses a node, hands over, waits, and tries the next node while the operation
 * has had no effect and its deadline has not passed. Thread-safe. Allocates nothing but failures.
 */
final class SyncCalls
{
    private final ComputeNodeSet nodes;
    private final NanoClock clock;
    private final StatisticsCells statistics;
    private volatile boolean closed;

    SyncCalls(final ComputeNodeSet nodes, final NanoClock clock, final StatisticsCells statistics)
    {
        this.nodes = nodes;
        this.clock = clock;
        this.statistics = statistics;
    }

    void close()
    {
        closed = true;
    }

    /**
     * Runs one operation to its end.
     *
     * @return the answered request, to be read, and then forgotten, before the calling thread's next call.
     * @throws KvException when the operation failed.
     */
    SyncCall run(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long expectedVersion, final long deadlineNs)
    {
        return run(kind, table, key, value, expectedVersion, RequestExpiry.NONE, deadlineNs);
    }

    /** As the method above, of a record that gets a deadline, as {@link RequestExpiry} says. */
    SyncCall run(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long operand, final long expiry, final long deadlineNs)
    {
        final int partition = RoutingView.partition(key);
        String refusal = null;
        for (int attempt = 0; ; attempt++)
        {
            final SyncCall call = SyncCall.take();
            try
            {
                call.ask(kind, table, key, value, operand, deadlineNs);
                call.askExpiry(expiry);
                final RoutingView view = nodes.view();
                checkMayTry(call, view, attempt, deadlineNs, refusal);
                final ComputeEndpoint endpoint = view.count() > 0 ? view.endpoint(partition, attempt) : null;
                if (null != endpoint && isAccepted(endpoint, call))
                {
                    awaitAnswer(call, deadlineNs, endpoint.isFar());
                    if (isOver(call, deadlineNs))
                    {
                        return call;
                    }
                    refusal = call.detail();
                }
            }
            finally
            {
                call.release();
            }
        }
    }

    private static boolean isAccepted(final ComputeEndpoint endpoint, final SyncCall call)
    {
        final int status = endpoint.submitAndWork(call);
        if (ComputeEndpoint.NESTED == status)
        {
            throw Verdict.nested(call.kind());
        }
        return ComputeEndpoint.ACCEPTED == status;
    }

    private void checkMayTry(
        final SyncCall call, final RoutingView view, final int attempt, final long deadlineNs, final String refusal)
    {
        if (closed)
        {
            throw Verdict.closed();
        }
        if (0 == view.count() || (attempt > 0 && 0 == attempt % view.count()))
        {
            final long nowNs = clock.nanoTime();
            final int round = 0 == view.count() ? 0 : attempt / view.count();
            LockSupport.parkNanos(this, Math.min(deadlineNs - nowNs, Verdict.backOffNs(round, nowNs)));
            // Not one more try past the deadline: it would say that a node took too long, where there was none.
            if (deadlineNs - clock.nanoTime() <= 0)
            {
                throw Verdict.unavailable(call, 0 == view.count() ? nodes.absence() : refusal);
            }
        }
    }

    private void awaitAnswer(final SyncCall call, final long deadlineNs, final boolean isFar)
    {
        if (call.waiter().await(call, clock, deadlineNs + Verdict.GRACE_NS, isFar))
        {
            return;
        }
        if (call.withdraw())
        {
            throw Verdict.timedOut(call);
        }
        if (call.abandon())
        {
            throw Verdict.givenUp(call);
        }
        assert NodeRequest.DONE == call.state() : call;
    }

    private boolean isOver(final SyncCall call, final long deadlineNs)
    {
        final boolean again = Verdict.mayTryAgain(call) && deadlineNs - clock.nanoTime() > 0;
        final KvException failure = again ? null : Verdict.failure(call);
        statistics.count(call, !again, null != failure);
        if (null != failure)
        {
            call.forget();
            throw failure;
        }
        return !again;
    }
}
