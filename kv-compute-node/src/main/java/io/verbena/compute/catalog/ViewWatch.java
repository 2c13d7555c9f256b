package io.verbena.compute.catalog;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.view.KnownViews;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.LeftViewsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewPage;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.failure.Backoff;

import java.util.List;
import java.util.function.Consumer;

/**
 * Keeps the views of groups as the meta server has them, and reports which of them this node has left: asked whenever
 * the version of the membership has changed, and again and again while a view is under change. Owned by the node's
 * thread.
 */
public final class ViewWatch
{
    /** Pause between two questions while a view is under change. */
    private static final long CHANGE_PAUSE_NS = 5_000_000;
    private static final long NOT_ASKED = -1;

    private final MetaLink metaLink;
    private final CatalogWatch catalog;
    private final long timeoutNs;
    private final Consumer<View> onLater;
    private final Backoff backoff;
    private final KnownViews views = new KnownViews();
    private ControlCall<ViewPage> call;
    private long askedVersion = NOT_ASKED;
    private long comingVersion;
    /** Not before this after a failure, and the same for a question that only time asks for. */
    private long retryAtNs;
    private long changeDueNs;
    private long rounds;
    private boolean isWanted;
    private boolean hasUnreported;
    private boolean isChanging;

    /**
     * @param onLater takes each view that is later than what was known of its group, at once: ports of earlier ones are
     *                left when it returns.
     */
    public ViewWatch(
        final MetaLink metaLink, final CatalogWatch catalog, final long nowNs, final long timeoutNs,
        final Consumer<View> onLater)
    {
        this.metaLink = metaLink;
        this.catalog = catalog;
        this.timeoutNs = timeoutNs;
        this.onLater = onLater;
        backoff = metaLink.retryBackoff();
        retryAtNs = nowNs;
        changeDueNs = nowNs;
    }

    /** @return what is known; live. */
    public KnownViews views()
    {
        return views;
    }

    /** @return how often all views were asked for and answered. */
    public long rounds()
    {
        return rounds;
    }

    /** @return whether all views are known as of the last version of the membership that was heard. */
    public boolean isCurrent()
    {
        return rounds > 0 && null == call && !hasNews();
    }

    /** @return the count of {@link #rounds} when a round has ended that has not begun yet. */
    public long nextRound()
    {
        return rounds + (null == call ? 1 : 2);
    }

    /** Asks again, whatever was heard. */
    public void askAgain()
    {
        isWanted = true;
    }

    /** Takes the record of a group that was just made, or asked for. */
    public void hear(final View view)
    {
        if (views.hear(view))
        {
            hasUnreported = true;
            isChanging |= ViewState.ACTIVE != view.state();
            onLater.accept(view);
        }
    }

    /** @return whether an answer is awaited, or a question is due now or soon. */
    public boolean isBusy()
    {
        return null != call || isAsking();
    }

    private boolean isAsking()
    {
        return hasNews() || isChanging;
    }

    private boolean hasNews()
    {
        return askedVersion != catalog.heardVersion() || isWanted || hasUnreported;
    }

    private boolean isDue(final long nowNs)
    {
        return retryAtNs - nowNs <= 0 && (hasNews() || isChanging && changeDueNs - nowNs <= 0);
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (null == call)
        {
            if (!isDue(nowNs) || !metaLink.isUsable())
            {
                return 0;
            }
            comingVersion = catalog.heardVersion();
            isWanted = false;
            hasUnreported = false;
            isChanging = false;
            ask(0);
            return 1;
        }
        if (!call.isDone())
        {
            return 0;
        }
        final ControlCall<ViewPage> done = call;
        call = null;
        if (ControlStatus.OK == done.status())
        {
            onPage(done.result(), nowNs);
        }
        else
        {
            hasUnreported = true;
            retryAtNs = nowNs + backoff.nextPauseNs();
        }
        return 1;
    }

    /** Reports what was left of the groups that come with the answer. */
    private void ask(final int afterGroup)
    {
        final List<LeftView> left = views.left().stream().filter((view) -> view.group() > afterGroup)
            .limit(LeftViewsDescriptor.MAX_VIEWS).toList();
        call = metaLink.client().views(left, afterGroup, timeoutNs);
    }

    private void onPage(final ViewPage page, final long nowNs)
    {
        for (final View view : page.views())
        {
            isChanging |= ViewState.ACTIVE != view.state();
            hear(view);
        }
        if (page.hasMore() && !page.views().isEmpty())
        {
            ask(page.views().getLast().group());
            return;
        }
        rounds++;
        askedVersion = comingVersion;
        backoff.reset();
        changeDueNs = nowNs + CHANGE_PAUSE_NS;
    }

    @Override
    public String toString()
    {
        return "ViewWatch{askedVersion=" + askedVersion + ", isChanging=" + isChanging + '}';
    }
}
