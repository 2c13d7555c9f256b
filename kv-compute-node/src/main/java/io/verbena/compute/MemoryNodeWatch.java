package io.verbena.compute;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.session.NodeListing;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;

import java.util.function.IntConsumer;

/**
 * Lists the nodes of the cluster whenever its version has changed, and reports the memory nodes: one that was added
 * while this node serves is connected to, and new tables use it. Heartbeats bring the version, and an idle node is
 * notified of a new one, so that takes a fraction of a second. Owned by the node's thread.
 */
final class MemoryNodeWatch
{
    /** Least time between two lists, since each split of a table changes the version, too: 200 ms. */
    static final long PAUSE_NS = 200_000_000;
    private static final long NOT_LISTED = -1;
    /** How often an idle node polls for the answer: every 2 ms. */
    private static final long ANSWER_POLL_NS = 2_000_000;

    private final MetaLink metaLink;
    private final CatalogWatch catalog;
    private final NodeListing listing;
    private final IntConsumer onMemoryNode;
    private final UnexpectedFailures failures;
    private long listedVersion = NOT_LISTED;
    private long comingVersion;
    private long dueNs;
    private String failure = "";

    /**
     * @param onMemoryNode takes the id of each memory node, of known ones again.
     * @param failures     counts what it throws: the node is given to it again with the next list.
     */
    MemoryNodeWatch(
        final MetaLink metaLink, final CatalogWatch catalog, final long nowNs, final long timeoutNs,
        final IntConsumer onMemoryNode, final UnexpectedFailures failures)
    {
        this.failures = failures;
        this.metaLink = metaLink;
        this.catalog = catalog;
        listing = NodeListing.ofAnyView(metaLink, timeoutNs);
        this.onMemoryNode = onMemoryNode;
        dueNs = nowNs;
    }

    /** @return whether all nodes were listed once. */
    boolean hasListed()
    {
        return NOT_LISTED != listedVersion;
    }

    /** @return why the last list failed; empty when it did not. */
    String failure()
    {
        return failure;
    }

    /** @return when it has to be polled again, or {@link Long#MAX_VALUE}. */
    long nextAtNs(final long nowNs)
    {
        if (listing.isUnderWay())
        {
            return nowNs + ANSWER_POLL_NS;
        }
        return listedVersion == catalog.heardVersion() ? Long.MAX_VALUE : dueNs;
    }

    int poll(final long nowNs)
    {
        if (listing.isUnderWay())
        {
            return onAnswer();
        }
        if (listedVersion == catalog.heardVersion() || dueNs - nowNs > 0 || !metaLink.isUsable())
        {
            return 0;
        }
        dueNs = nowNs + PAUSE_NS;
        comingVersion = catalog.heardVersion();
        listing.start();
        return 1;
    }

    /** A list that failed is due again after the pause. */
    private int onAnswer()
    {
        switch (listing.poll())
        {
            case NONE ->
            {
                return 0;
            }
            case GOES_ON -> failure = "";
            case LISTED ->
            {
                failure = "";
                listedVersion = takeAll() ? comingVersion : listedVersion;
            }
            case FAILED -> failure = listing.status() + " " + listing.failure();
        }
        return 1;
    }

    private boolean takeAll()
    {
        for (final PeerRecord node : listing.nodes())
        {
            if (NodeRole.MEMORY_NODE == node.role() && !take(node.nodeId()))
            {
                return false;
            }
        }
        return true;
    }

    private boolean take(final int memoryNodeId)
    {
        try
        {
            onMemoryNode.accept(memoryNodeId);
            return true;
        }
        catch (final RuntimeException ex)
        {
            failure = failures.onFailure("connection to memory node " + memoryNodeId, ex);
            return false;
        }
    }

    @Override
    public String toString()
    {
        return "MemoryNodeWatch{listedVersion=" + listedVersion + '}';
    }
}
