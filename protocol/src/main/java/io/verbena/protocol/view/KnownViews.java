package io.verbena.protocol.view;

import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a compute node knows of views, and what follows from it. To hear that a view is over is to leave it: the caller
 * of {@link #hear} closes the ports of that group before it does anything else, so that nothing more is posted under
 * it, and nothing posted under it is answered. Only then it says so, by {@link #left}: to the meta server, and to
 * memory nodes, when it asks for a key. One thread.
 *
 * <p>This does not know whether the node's lease is held: without it nothing may be posted, whatever the view.
 */
public final class KnownViews
{
    private final Map<Integer, View> views = new TreeMap<>();

    /**
     * Takes a view as the meta server has recorded it; messages come late, twice and in any order.
     *
     * @param heard any.
     * @return whether it is later than what was known: then ports of earlier views of the group must be closed now.
     */
    public boolean hear(final View heard)
    {
        final View known = views.get(heard.group());
        final boolean isLater = null == known || heard.isLaterThan(known);
        if (isLater)
        {
            views.put(heard.group(), heard);
        }
        return isLater;
    }

    /**
     * @param group  of tables.
     * @param number of the view for which a port was made.
     * @return whether that port may be used, as far as is known here.
     */
    public boolean isActive(final int group, final long number)
    {
        final View known = views.get(group);
        return null != known && ViewState.ACTIVE == known.state() && known.number() == number;
    }

    /** @return the latest view known of a group; null when none is. */
    public View view(final int group)
    {
        return views.get(group);
    }

    /** @return the latest view known of each group, by ascending group; a new list. */
    public List<View> all()
    {
        return List.copyOf(views.values());
    }

    /**
     * @param memoryNode that is lost.
     * @return whether it, or an earlier incarnation of it, is in a view as far as is known here, and not lost: then a
     *     port to it may be open.
     */
    public boolean relyOn(final PeerIdentity memoryNode)
    {
        return views.values().stream().anyMatch((view) -> view.survivors().stream().anyMatch(
            (member) -> isOf(memoryNode, member)) || view.hasEntering() && isOf(memoryNode, view.entering()));
    }

    private static boolean isOf(final PeerIdentity memoryNode, final PeerIdentity member)
    {
        return member.nodeId() == memoryNode.nodeId() && member.incarnation() <= memoryNode.incarnation();
    }

    /** @return for each group that is known the newest view that this node has left, 0 where none; a new list. */
    public List<LeftView> left()
    {
        final List<LeftView> left = new ArrayList<>();
        views.forEach((group, view) -> left.add(new LeftView(group, view.left())));
        return left;
    }
}
