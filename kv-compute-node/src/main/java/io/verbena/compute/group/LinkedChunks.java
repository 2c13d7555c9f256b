package io.verbena.compute.group;

import io.verbena.compute.memory.IndexReturns;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.table.allocation.ChunkSource;

import org.agrona.collections.Int2ObjectHashMap;

/**
 * Memory for the blocks of a session, from the memory nodes and groups that it is linked to.
 *
 * @param links   by memory node.
 * @param groups  whose numbers are no memory node's.
 * @param returns of indexes, which become memory for blocks.
 */
public record LinkedChunks(
    Int2ObjectHashMap<MemoryLink> links, GroupLinks groups, IndexReturns returns) implements ChunkSource
{
    /** @return whether this is the number of a group that is used here. */
    public boolean isOfGroup(final int id)
    {
        return null != groups.get(id);
    }

    @Override
    public void requestChunk(final int memoryNodeId)
    {
        groups.requestBlocks(memoryNodeId);
    }

    /** Nothing of a group is reclaimed yet. */
    @Override
    public boolean mayFindMemory(final int memoryNodeId)
    {
        final MemoryLink link = links.get(memoryNodeId);
        return null != link && (returns.has(memoryNodeId) || link.maintenance().mayFindMemory());
    }
}
