package io.verbena.compute.control;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;

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

    /** @return whether it may have changed something at the meta server, so that its outcome is unknown if it ends. */
    boolean mayHaveChanged()
    {
        return false;
    }

    /** @return whether it waits with no call under way. */
    boolean isPausing()
    {
        return false;
    }

    /** @return whether it waits for epochs. */
    boolean wantsEpochs()
    {
        return false;
    }

    /** Gives back what it holds; it was not answered yet. Called once, whatever ended it. */
    void onEnd()
    {
    }

    /** Cleans up as far as is certain to be safe; called before {@link #onEnd} when it met something unexpected. */
    void onUnexpected()
    {
    }

    /** Ends it because the node stops. */
    final void stop()
    {
        end(mayHaveChanged() ? Status.OUTCOME_UNKNOWN : Status.NOT_SERVING, null, "node stops");
    }

    /** Ends it, unless it has ended, because it met something unexpected. */
    final void fail(final String detail)
    {
        if (!ended)
        {
            onUnexpected();
            end(mayHaveChanged() ? Status.OUTCOME_UNKNOWN : Status.REFUSED, null, detail);
        }
    }

    final void end(final Status status, final Object result, final String detail)
    {
        ended = true;
        onEnd();
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
            case OVER_QUOTA -> Status.QUOTA_EXCEEDED;
            case INVALID_REQUEST, REFUSED -> Status.REFUSED;
            case UNKNOWN_NODE, FORBIDDEN -> Status.NOT_SERVING;
            case UNAVAILABLE -> Status.TIMED_OUT;
            case TIMED_OUT, PEER_FAILED, MALFORMED_REPLY -> changes ? Status.OUTCOME_UNKNOWN : Status.TIMED_OUT;
        };
    }
}
