package io.verbena.protocol.session;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodePage;
import io.verbena.raas.directory.PeerRecord;

import java.util.ArrayList;
import java.util.List;

/**
 * Lists the living nodes by calls, page after page, for clients; nodes read the meta server's view. Used again for each
 * list. One thread.
 */
public final class NodeListing
{
    /** What became of a list. */
    public enum Outcome
    {
        /** Nothing has ended since it was asked last. */
        NONE,
        /** One more page is there, and another is on its way. */
        GOES_ON,
        /** {@link NodeListing#nodes()} is complete. */
        LISTED,
        /** A page could not be had; {@link NodeListing#failure()} says why. Start again. */
        FAILED
    }

    private final MetaLink link;
    private final long timeoutNs;
    private final List<PeerRecord> nodes = new ArrayList<>();
    private ControlCall<NodePage> call;
    private ControlCall<NodePage> ended;

    /**
     * Lists whose pages may show different views, for those who list again soon.
     *
     * @param link      to the meta server.
     * @param timeoutNs of a page.
     */
    public NodeListing(final MetaLink link, final long timeoutNs)
    {
        this.link = link;
        this.timeoutNs = timeoutNs;
    }

    /** Begins a list; not while {@link #isUnderWay()}. The link must be usable, else the list fails at once. */
    public void start()
    {
        nodes.clear();
        ask(0);
    }

    /** @return what became of the list; once for each page. */
    public Outcome poll()
    {
        if (!isAnswered())
        {
            return Outcome.NONE;
        }
        ended = call;
        call = null;
        if (ControlStatus.OK != ended.status())
        {
            return Outcome.FAILED;
        }
        final NodePage page = ended.result();
        nodes.addAll(page.nodes());
        if (page.hasMore())
        {
            ask(nodes.getLast().nodeId());
            return Outcome.GOES_ON;
        }
        return Outcome.LISTED;
    }

    private void ask(final int afterNodeId)
    {
        call = link.client().nodes(afterNodeId, timeoutNs);
    }

    /** @return whether a page is awaited. */
    public boolean isUnderWay()
    {
        return null != call;
    }

    /** @return whether {@link #poll()} has something to say. */
    public boolean isAnswered()
    {
        return null != call && call.isDone();
    }

    /** @return the nodes of the list, in ascending order of their numbers; a view, complete after LISTED. */
    public List<PeerRecord> nodes()
    {
        return nodes;
    }

    /** @return how the page that ended last did; after FAILED. */
    public ControlStatus status()
    {
        return ended.status();
    }

    /** @return why the page that ended last failed, one line; after FAILED. */
    public String failure()
    {
        return ended.failure();
    }
}
