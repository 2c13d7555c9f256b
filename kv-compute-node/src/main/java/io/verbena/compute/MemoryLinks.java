package io.verbena.compute;

import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The connections of a session to memory nodes, as many as its node may have. Owned by the node's thread. */
final class MemoryLinks
{
    private final Int2ObjectHashMap<MemoryLink> byId = new Int2ObjectHashMap<>();
    private final List<MemoryLink> all = new ArrayList<>();
    private final String nodeName;
    private final int maxMemoryNodes;

    MemoryLinks(final ComputeNodeConfiguration configuration)
    {
        nodeName = configuration.name();
        maxMemoryNodes = configuration.maxMemoryNodes();
    }

    /** @return the connections by the ids of memory nodes; live. */
    Int2ObjectHashMap<MemoryLink> byId()
    {
        return byId;
    }

    /** @return the connections in the order in which they were begun; live. */
    List<MemoryLink> all()
    {
        return all;
    }

    /** @return the option that limits connections, with its value, for messages. */
    static String settingText(final ComputeNodeConfiguration configuration)
    {
        return "--max-memory-nodes (" + configuration.maxMemoryNodes() + ")";
    }

    /** Begins to connect, unless there is a connection; beyond the limit it is refused at once. */
    void add(final SessionParts parts, final int memoryNodeId)
    {
        if (!byId.containsKey(memoryNodeId))
        {
            final String refusal = all.size() < maxMemoryNodes ? "" :
                nodeName + " does not connect to memory node " + memoryNodeId + ": it has " + all.size() +
                " others; tables there cannot be used here: raise --max-memory-nodes (" + maxMemoryNodes + ")";
            final MemoryLink link = new MemoryLink(parts, memoryNodeId, refusal);
            all.add(link);
            byId.put(memoryNodeId, link);
        }
    }

    /** @return true while something that may go on at any moment is under way at one of them. */
    boolean areWaiting()
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

    /** @return memory nodes that can be used now. */
    int reached()
    {
        return (int)all.stream().filter(MemoryLink::isReady).count();
    }

    /** @return why memory nodes cannot be used now, by their ids; a new map. */
    Map<Integer, String> failures()
    {
        final Map<Integer, String> failures = new TreeMap<>();
        all.stream().filter((link) -> !link.failure().isEmpty())
            .forEach((link) -> failures.put(link.memoryNodeId(), link.failure()));
        return failures;
    }
}
