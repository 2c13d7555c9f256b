package io.verbena.memory;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewPage;

import java.util.ArrayList;
import java.util.List;

/** Asks the meta server for the views of all groups, once. Driven by the node's thread; time comes in. */
final class ViewInquiry
{
    private final MetaLink link;
    private final long timeoutNs;
    private final long retryPauseNs;
    private final List<View> views = new ArrayList<>();
    private ControlCall<ViewPage> call;
    private boolean isDone;
    private long nextCallNs;
    private String failure = "";

    /**
     * @param link         to the meta server.
     * @param timeoutNs    of a call.
     * @param retryPauseNs after one that failed.
     * @param nowNs        time now.
     */
    ViewInquiry(final MetaLink link, final long timeoutNs, final long retryPauseNs, final long nowNs)
    {
        this.link = link;
        this.timeoutNs = timeoutNs;
        this.retryPauseNs = retryPauseNs;
        nextCallNs = nowNs;
    }

    /** @return whether all views were read. */
    boolean isDone()
    {
        return isDone;
    }

    /** @return of all groups, as they were at some moment since this was made; once it is done. */
    List<View> views()
    {
        return views;
    }

    /** @return why the meta server could not be asked last; empty when it was. */
    String failure()
    {
        return failure;
    }

    int poll(final long nowNs)
    {
        if (isDone || null == call && nextCallNs - nowNs > 0)
        {
            return 0;
        }

        if (null == call)
        {
            call = link.freshClient().views(
                List.of(), views.isEmpty() ? 0 : views.getLast().group(), timeoutNs);
            return 1;
        }

        if (!call.isDone())
        {
            return 0;
        }

        final ControlCall<ViewPage> ended = call;
        call = null;

        if (ControlStatus.OK == ended.status())
        {
            failure = "";
            views.addAll(ended.result().views());
            isDone = !ended.result().hasMore();
        }
        else
        {
            failure = ended.status() + ": " + ended.failure();
            nextCallNs = nowNs + retryPauseNs;
            link.onUnanswered();
        }

        return 1;
    }
}
