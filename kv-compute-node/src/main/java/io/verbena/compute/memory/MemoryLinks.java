package io.verbena.compute.memory;

import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.view.KnownViews;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.access.RegionAccess;

import org.agrona.collections.Int2IntHashMap;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The connections of a session to memory nodes, as many as its node may have. Owned by the node's thread. */
public final class MemoryLinks
{
    private static final String OPTION = "--max-memory-nodes";

    private final Int2ObjectHashMap<MemoryLink> byId = new Int2ObjectHashMap<>();
    private final List<MemoryLink> all = new ArrayList<>();
    /** By the ids of memory nodes: the latest incarnation that is never to be used again, 0 for none. */
    private final Int2IntHashMap leftIncarnations = new Int2IntHashMap(0);
    private List<PeerIdentity> toLeave = List.of();
    private final String nodeName;
    private final int maxMemoryNodes;

    /**
     * @param nodeName       for messages.
     * @param maxMemoryNodes to which it connects, at most.
     */
    public MemoryLinks(final String nodeName, final int maxMemoryNodes)
    {
        this.nodeName = nodeName;
        this.maxMemoryNodes = maxMemoryNodes;
    }

    /** @return the connections by the ids of memory nodes; live. */
    public Int2ObjectHashMap<MemoryLink> byId()
    {
        return byId;
    }

    /** @return the connections in the order in which they were begun; live. */
    public List<MemoryLink> all()
    {
        return all;
    }

    /** @return the option that limits connections, with its value, for messages. */
    public static String settingText(final int maxMemoryNodes)
    {
        return OPTION + " (" + maxMemoryNodes + ")";
    }

    /** Begins to connect, unless there is a connection; beyond the limit it is refused at once. */
    public void add(final SessionParts parts, final int memoryNodeId)
    {
        if (!byId.containsKey(memoryNodeId))
        {
            final String refusal = all.size() < maxMemoryNodes ? "" :
                nodeName + " does not connect to memory node " + memoryNodeId + ": it has " + all.size() +
                " others; tables there cannot be used here: raise " + settingText(maxMemoryNodes);
            final MemoryLink link = new MemoryLink(parts, memoryNodeId, refusal);
            link.leave(leftIncarnations.get(memoryNodeId));
            all.add(link);
            byId.put(memoryNodeId, link);
        }
    }

    /**
     * Leaves lost memory nodes, for good: {@link #left} says when nothing more is posted to these incarnations.
     *
     * @param lost as the meta server has asked for last; with each goes what is earlier.
     */
    public void leave(final List<PeerIdentity> lost)
    {
        toLeave = lost;
        for (final PeerIdentity each : lost)
        {
            leftIncarnations.put(
                each.nodeId(), Math.max(leftIncarnations.get(each.nodeId()), each.incarnation()));
            if (byId.containsKey(each.nodeId()))
            {
                byId.get(each.nodeId()).leave(each.incarnation());
            }
        }
    }

    /**
     * @param views that are known, and whose ports are left as soon as they are over.
     * @return those of the memory nodes to be left that are: neither by a connection nor as a member of a group is one
     *     of them used here. The same list as long as nothing changes, as far as {@code equals} goes.
     */
    public List<PeerIdentity> left(final KnownViews views)
    {
        return toLeave.isEmpty() ? toLeave :
            toLeave.stream().filter((each) -> hasLeft(each) && !views.relyOn(each)).toList();
    }

    private boolean hasLeft(final PeerIdentity memoryNode)
    {
        final MemoryLink link = byId.get(memoryNode.nodeId());
        return null == link || link.hasLeft();
    }

    /** Ends the connection to what turns out to be no memory node. @return whether there was one. */
    public boolean remove(final int id)
    {
        final MemoryLink link = byId.remove(id);
        if (null != link)
        {
            all.remove(link);
            link.close();
        }
        return null != link;
    }

    /** @return memory nodes that it connects to, and how many these may be. */
    public RaasLimit limit()
    {
        // Those beyond are in the list too, with the reason why they are not used.
        return new RaasLimit("memory nodes", Math.min(all.size(), maxMemoryNodes), maxMemoryNodes, OPTION);
    }

    /** The lease lasts longer: so does what the memory nodes grant. */
    public void onLeaseRenewed()
    {
        all.forEach(MemoryLink::onLeaseRenewed);
    }

    /** @return true while something that may go on at any moment is under way at one of them. */
    public boolean areWaiting()
    {
        for (int i = 0; i < all.size(); i++)
        {
            if (all.get(i).isConnecting() || all.get(i).isWaiting())
            {
                return true;
            }
        }
        return false;
    }

    /** @return the counts, less those of what was posted beside operations. */
    public VerbCounters withoutMaintenance(final VerbCounters counters)
    {
        for (final MemoryLink link : all)
        {
            for (final RegionAccess access : link.maintenance().accesses())
            {
                access.subtractFrom(counters);
            }
        }
        return counters;
    }

    /** @return the connections that can be used now; a new list. */
    public List<MemoryLink> ready()
    {
        return all.stream().filter(MemoryLink::isReady).toList();
    }

    /** @return why none is {@link #ready()}, one line. */
    public String absence()
    {
        return "no memory node is connected" + (all.isEmpty() ? ": none is registered" : failures().entrySet().stream()
            .findFirst().map((first) -> ": memory node " + first.getKey() + ": " + first.getValue()).orElse(""));
    }

    /** @return why memory nodes cannot be used now, by their ids; a new map. */
    public Map<Integer, String> failures()
    {
        final Map<Integer, String> failures = new TreeMap<>();
        all.stream().filter((link) -> !link.failure().isEmpty())
            .forEach((link) -> failures.put(link.memoryNodeId(), link.failure()));
        return failures;
    }
}
