package io.verbena.compute;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerListing;
import io.verbena.raas.directory.PeerRecord;

import java.util.Comparator;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Reads the list of the cluster's nodes whenever its version has changed, and reports the memory nodes: one that was
 * added while this node serves is connected to, and new tables use it. Heartbeats bring the version, and an idle node
 * is notified of a new one, so that takes a fraction of a second. Owned by the node's thread.
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
    private final long timeoutNs;
    private final IntConsumer onMemoryNode;
    private final UnexpectedFailures failures;
    private long listedVersion = NOT_LISTED;
    private long comingVersion;
    private long dueNs;
    private PeerListing listing;
    private PeerListing first;
    private long firstVersion;
    private List<PeerRecord> tcpNodes = List.of();
    private String failure = "";
    private int[] computeNodes = new int[0];
    private boolean servesClients;

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
        this.timeoutNs = timeoutNs;
        this.onMemoryNode = onMemoryNode;
        dueNs = nowNs;
    }

    /** @return whether all nodes were listed once. */
    boolean hasListed()
    {
        return NOT_LISTED != listedVersion;
    }

    /** @return the first list, once it {@link #hasListed()}: not older than {@link #firstVersion()}. */
    PeerListing first()
    {
        return first;
    }

    /** @return the version that had been heard when the first list was read. */
    long firstVersion()
    {
        return firstVersion;
    }

    /** @return the nodes of the last list that serve clients over TCP, by ascending number; immutable. */
    List<PeerRecord> tcpNodes()
    {
        return tcpNodes;
    }

    /** Forgets the first list. */
    void clearFirst()
    {
        first = null;
    }

    /** @return why the last list failed; empty when it did not. */
    String failure()
    {
        return failure;
    }

    /** @return numbers of the compute nodes of the last list, ascending. */
    int[] computeNodes()
    {
        return computeNodes;
    }

    /** @return whether the last list sends clients to this node. */
    boolean servesClients()
    {
        return servesClients;
    }

    /** @return when it has to be polled again, or {@link Long#MAX_VALUE}. */
    long nextAtNs(final long nowNs)
    {
        if (null != listing)
        {
            return nowNs + ANSWER_POLL_NS;
        }
        return listedVersion == catalog.heardVersion() ? Long.MAX_VALUE : dueNs;
    }

    int poll(final long nowNs)
    {
        if (null != listing)
        {
            return onRead();
        }
        if (listedVersion == catalog.heardVersion() || dueNs - nowNs > 0 || !metaLink.isUsable())
        {
            return 0;
        }
        dueNs = nowNs + PAUSE_NS;
        comingVersion = catalog.heardVersion();
        // Tables are taken from the first one; later ones are opened when they are asked for.
        listing = hasListed() ? metaLink.directory().listNodes(comingVersion, timeoutNs) :
            metaLink.directory().list(comingVersion, timeoutNs);
        return 1;
    }

    /** A list that failed is due again after the pause. */
    private int onRead()
    {
        if (PeerListing.State.PENDING == listing.state())
        {
            return 0;
        }
        failure = listing.failure();
        if (PeerListing.State.LISTED == listing.state())
        {
            final PeerIdentity own = metaLink.credentials().identity();
            servesClients = listing.records().stream().anyMatch(
                (node) -> own.equals(node.identity()) && 0 != node.servicePort());
            tcpNodes = listing.records().stream().filter((node) -> node.tcpService().isPresent())
                .sorted(Comparator.comparingInt(PeerRecord::nodeId)).toList();
        }
        if (PeerListing.State.LISTED == listing.state() && takeAll())
        {
            first = hasListed() ? first : listing;
            firstVersion = hasListed() ? firstVersion : comingVersion;
            listedVersion = comingVersion;
        }
        listing = null;
        return 1;
    }

    private boolean takeAll()
    {
        computeNodes = listing.records().stream().filter((node) -> NodeRole.COMPUTE_NODE == node.role())
            .mapToInt(PeerRecord::nodeId).sorted().toArray();
        for (final PeerRecord node : listing.records())
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
