package io.verbena.client.routing;

import io.verbena.client.KvException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvOutOfMemoryException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvPermissionDeniedException;
import io.verbena.client.KvQuotaExceededException;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.KvUnavailableException;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;

import org.agrona.concurrent.NanoClock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/** Runs control requests for threads that wait, on any node that serves. Thread-safe. */
final class ControlCalls
{
    private static final class Call extends ControlRequest
    {
        private final CallWaiter waiter = new CallWaiter();

        Call(final Kind kind, final String tableName, final long expectedRecords, final int copies,
            final long deadlineNs)
        {
            super(kind, tableName, expectedRecords, copies, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            waiter.signal();
        }
    }

    private final ComputeNodeSet nodes;
    private final NanoClock clock;
    private final long timeoutNs;
    private volatile boolean closed;

    ControlCalls(final ComputeNodeSet nodes, final NanoClock clock, final long timeoutNs)
    {
        this.nodes = nodes;
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    void close()
    {
        closed = true;
    }

    /** As {@link #run(ControlRequest.Kind, String, long, int)}, of kinds that make no table. */
    Object run(final ControlRequest.Kind kind, final String tableName)
    {
        return run(kind, tableName, 0, 1);
    }

    /**
     * Runs one request on any node.
     *
     * @return what {@link ControlRequest.Kind} promises.
     * @throws KvException when it failed.
     */
    Object run(final ControlRequest.Kind kind, final String tableName, final long expectedRecords, final int copies)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        String refusal = null;
        for (int attempt = 0; ; attempt++)
        {
            final RoutingView view = nodes.view();
            checkMayTry(kind, view, attempt, deadlineNs, refusal);
            if (view.count() > 0)
            {
                final Call call = new Call(kind, tableName, expectedRecords, copies, deadlineNs);
                final ComputeEndpoint endpoint = view.endpoint(0, attempt);
                if (isAccepted(endpoint, call))
                {
                    awaitAnswer(call, deadlineNs);
                    if (ControlRequest.Status.NOT_SERVING != call.status())
                    {
                        return result(call);
                    }
                    refusal = call.detail();
                }
            }
        }
    }

    /** Waits until a node is known: a client that was just opened is still connecting. Not beyond its deadline. */
    void awaitNode(final ControlRequest.Kind kind)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        for (int attempt = 0; 0 == nodes.view().count(); attempt++)
        {
            checkMayTry(kind, nodes.view(), attempt, deadlineNs, null);
        }
    }

    /**
     * Sends a request to every node, and then waits for the answers: a node that does not answer delays no other.
     *
     * @param kind      of request.
     * @param tableName of the table meant.
     * @return ids of the nodes that did not do it: they do not serve, or did not answer before the deadline.
     */
    List<Integer> runOnAll(final ControlRequest.Kind kind, final String tableName)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        final ComputeEndpoint[] endpoints = nodes.view().endpoints();
        final Call[] calls = new Call[endpoints.length];
        for (int i = 0; i < endpoints.length; i++)
        {
            final Call call = new Call(kind, tableName, 0, 1, deadlineNs);
            calls[i] = isAccepted(endpoints[i], call) ? call : null;
        }
        final List<Integer> failed = new ArrayList<>();
        for (int i = 0; i < endpoints.length; i++)
        {
            if (null == calls[i] || !isDone(calls[i], deadlineNs))
            {
                failed.add(endpoints[i].id());
            }
        }
        return failed;
    }

    private boolean isDone(final Call call, final long deadlineNs)
    {
        final boolean isAnswered = call.waiter.await(call, clock, deadlineNs + Verdict.GRACE_NS, false) ||
            !call.withdraw() && !call.abandon();
        return isAnswered && ControlRequest.Status.OK == call.status();
    }

    private void checkMayTry(
        final ControlRequest.Kind kind, final RoutingView view, final int attempt, final long deadlineNs,
        final String refusal)
    {
        if (closed)
        {
            throw Verdict.closed();
        }
        if (0 == view.count() || (attempt > 0 && 0 == attempt % view.count()))
        {
            final long nowNs = clock.nanoTime();
            final long remainingNs = deadlineNs - nowNs;
            if (remainingNs <= 0)
            {
                throw new KvUnavailableException(
                    words(kind) + " found no node that could serve it before its deadline: " +
                    (0 == view.count() || null == refusal ? nodes.absence() : refusal));
            }
            final int round = 0 == view.count() ? 0 : attempt / view.count();
            LockSupport.parkNanos(this, Math.min(remainingNs, Verdict.backOffNs(round, nowNs)));
        }
    }

    private static boolean isAccepted(final ComputeEndpoint endpoint, final Call call)
    {
        final int status = endpoint.submitAndWork(call);
        if (ComputeEndpoint.NESTED == status)
        {
            throw Verdict.nested(call.kind());
        }
        return ComputeEndpoint.ACCEPTED == status;
    }

    private void awaitAnswer(final Call call, final long deadlineNs)
    {
        if (call.waiter.await(call, clock, deadlineNs + Verdict.GRACE_NS, false))
        {
            return;
        }
        if (call.withdraw())
        {
            throw new KvTimeoutException(facts(call) + " was not begun before its deadline");
        }
        if (call.abandon())
        {
            throw new KvOutcomeUnknownException(facts(call) + " was not answered before its deadline");
        }
        assert NodeRequest.DONE == call.state() : call;
    }

    private static Object result(final Call call)
    {
        return switch (call.status())
        {
            case OK -> call.result();
            case NOT_FOUND -> throw new KvNoSuchTableException("no such table: name=" + call.tableName());
            case ALREADY_EXISTS -> throw new KvTableExistsException("table exists: name=" + call.tableName());
            case NO_MEMORY -> throw new KvOutOfMemoryException(facts(call) +
                " found no memory for its buckets; expect fewer records or add memory: " + call.detail());
            case REFUSED -> throw new KvInvalidRequestException(facts(call) + " was refused: " + call.detail());
            case TIMED_OUT -> throw new KvTimeoutException(facts(call) + " was not done in time: " + call.detail());
            case OUTCOME_UNKNOWN -> throw new KvOutcomeUnknownException(facts(call) +
                " may have been done, list the tables to see: " + call.detail());
            case PERMISSION_DENIED -> throw new KvPermissionDeniedException(
                facts(call) + " is not permitted: " + call.detail());
            case QUOTA_EXCEEDED -> throw new KvQuotaExceededException(
                facts(call) + " is over quota: " + call.detail(), Duration.ZERO);
            case NOT_SERVING -> throw new AssertionError(call);
        };
    }

    private static String facts(final Call call)
    {
        return words(call.kind()) + (null == call.tableName() ? "" : " " + call.tableName());
    }

    private static String words(final ControlRequest.Kind kind)
    {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
