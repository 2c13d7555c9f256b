package io.verbena.compute.control;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.failure.Backoff;

/**
 * A question to the meta server that changes nothing there, so it may be asked again: a connection that turns out to
 * be broken, since the meta server was started again, is no answer before the deadline. Owned by the node's thread.
 *
 * @param <T> what is answered.
 */
final class MetaRead<T>
{
    /**
     * Asks once.
     *
     * @param <T> what is answered.
     */
    interface Question<T>
    {
        ControlCall<T> ask(MetaClient client, long timeoutNs);
    }

    private final MetaLink metaLink;
    private final Question<T> question;
    private final long deadlineNs;
    private final Backoff backoff;
    private ControlCall<T> call;
    private long againAtNs;
    private boolean isFailed;

    MetaRead(final MetaLink metaLink, final Question<T> question, final long deadlineNs, final long nowNs)
    {
        this.metaLink = metaLink;
        this.question = question;
        this.deadlineNs = deadlineNs;
        backoff = metaLink.retryBackoff();
        ask(nowNs);
    }

    /**
     * Goes on.
     *
     * @param nowNs time now.
     * @return whether it is answered, or will not be: {@link #call} says which.
     */
    boolean poll(final long nowNs)
    {
        if (!call.isDone())
        {
            return false;
        }
        if (!mayBeAskedAgain(call.status()) || nowNs - deadlineNs >= 0)
        {
            return true;
        }
        if (!isFailed)
        {
            isFailed = true;
            againAtNs = nowNs + backoff.nextPauseNs();
        }
        else if (nowNs - againAtNs >= 0 && metaLink.isUsable())
        {
            ask(nowNs);
        }
        return false;
    }

    /** @return the last call; done when {@link #poll} said so. */
    ControlCall<T> call()
    {
        return call;
    }

    /** @return whether a call failed for want of a meta server that answers, which need not last. */
    static boolean mayBeAskedAgain(final ControlStatus status)
    {
        return ControlStatus.PEER_FAILED == status || ControlStatus.UNAVAILABLE == status;
    }

    private void ask(final long nowNs)
    {
        isFailed = false;
        call = question.ask(metaLink.client(), Math.max(1, deadlineNs - nowNs));
    }
}
