package io.verbena.table.directory;

import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import org.agrona.collections.Int2ObjectHashMap;

/** The links of one engine to memory nodes, each made when it is needed first. Owner thread of the engine only. */
public final class NodeLinks
{
    private final Int2ObjectHashMap<NodeLink> links = new Int2ObjectHashMap<>();
    private final EpochTracker epochs;
    private final long maxQuarantineBytes;

    public NodeLinks(final EpochTracker epochs, final long maxQuarantineBytes)
    {
        this.epochs = epochs;
        this.maxQuarantineBytes = maxQuarantineBytes;
    }

    public NodeLink get(final int memoryNodeId)
    {
        NodeLink link = links.get(memoryNodeId);
        if (link == null)
        {
            link = new NodeLink(memoryNodeId, new BlockAllocator(epochs, maxQuarantineBytes));
            links.put(memoryNodeId, link);
        }
        return link;
    }

    /** @return whether memory of a node waits for epochs; see {@link BlockAllocator#wantsEpochs}. */
    public boolean wantEpochs()
    {
        return links.values().stream().anyMatch((link) -> link.allocator.wantsEpochs());
    }

    /** An epoch has begun or become safe. */
    public void onEpoch()
    {
        for (final NodeLink link : links.values())
        {
            link.allocator.onEpoch();
        }
    }
}
