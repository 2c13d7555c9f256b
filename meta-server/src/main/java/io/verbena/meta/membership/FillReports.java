package io.verbena.meta.membership;

import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** What compute nodes have reported of the memory nodes that they fill; nothing of it is on disk. One thread. */
public final class FillReports
{
    private final IntFunction<View> views;
    private final Map<Integer, FillProgress> byGroup = new TreeMap<>();

    /** @param views the latest view of each group, or null. */
    FillReports(final IntFunction<View> views)
    {
        this.views = views;
    }

    /**
     * Takes a report; of an attempt that is over, or from another node than the one named, it is not kept.
     *
     * @param computeNode who.
     * @param progress    of its attempt.
     */
    public void onReport(final PeerIdentity computeNode, final FillProgress progress)
    {
        final View view = views.apply(progress.attempt().group());

        if (isOf(view, progress.attempt()) && view.reconciler().equals(computeNode))
        {
            byGroup.put(view.group(), progress);
        }
    }

    /** @return what was reported last of each attempt that goes on, by ascending group; a new list. */
    public List<FillProgress> all()
    {
        byGroup.values().removeIf((progress) ->
            !isOf(views.apply(progress.attempt().group()), progress.attempt()));
        return List.copyOf(byGroup.values());
    }

    private static boolean isOf(final View view, final ViewAttempt attempt)
    {
        return null != view && view.isFilling() && ViewAttempt.of(view).equals(attempt);
    }
}
