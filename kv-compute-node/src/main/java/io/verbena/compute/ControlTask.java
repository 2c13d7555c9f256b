package io.verbena.compute;

import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.request.ControlRequest.Status;
import io.verbena.request.ControlRequest;

/** A control request that a node works on: polled until it has answered. Owned by the node's thread. */
abstract class ControlTask
{
    private final ControlRequest request;
    private boolean ended;

    ControlTask(final ControlRequest request)
    {
        this.request = request;
    }

    final ControlRequest request()
    {
        return request;
    }

    final boolean hasEnded()
    {
        return ended;
    }

    /**
     * Goes on.
     *
     * @param nowNs time now.
     * @return work done.
     */
    abstract int poll(long nowNs);

    /** Ends it because the node stops: with OUTCOME_UNKNOWN where something may have been changed. */
    abstract void stop();

    final void end(final Status status, final Object result, final String detail)
    {
        ended = true;
        request.answer(status, result, detail);
        request.complete();
    }

    /** Ends it as a call that changes nothing, or was refused, ended. */
    final void endAs(final ControlCall<?> call)
    {
        end(statusOf(call.status(), false), null, call.failure());
    }

    /** Ends it as a call that changes something ended. */
    final void endAsChanging(final ControlCall<?> call)
    {
        end(statusOf(call.status(), true), null, call.failure());
    }

    final long remainingNs(final long nowNs)
    {
        return Math.max(1, request.deadlineNs() - nowNs);
    }

    private static Status statusOf(final ControlStatus status, final boolean changes)
    {
        return switch (status)
        {
            case OK -> Status.OK;
            case NO_SUCH_TABLE -> Status.NOT_FOUND;
            case TABLE_EXISTS -> Status.ALREADY_EXISTS;
            case EXHAUSTED -> Status.NO_MEMORY;
            case INVALID_REQUEST, REFUSED -> Status.REFUSED;
            case UNKNOWN_NODE -> Status.NOT_SERVING;
            case UNAVAILABLE -> Status.TIMED_OUT;
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY -> changes ? Status.OUTCOME_UNKNOWN : Status.TIMED_OUT;
        };
    }
}
