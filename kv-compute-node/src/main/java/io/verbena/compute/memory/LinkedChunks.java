package io.verbena.compute.memory;

import io.verbena.table.allocation.ChunkSource;

import org.agrona.collections.Int2ObjectHashMap;

/**
 * Memory for the blocks of a session, from the memory nodes that it is linked to.
 *
 * @param links   by memory node.
 * @param returns of indexes, which become memory for blocks.
 */
public record LinkedChunks(Int2ObjectHashMap<MemoryLink> links, IndexReturns returns) implements ChunkSource
{
    @Override
    public void requestChunk(final int memoryNodeId)
    {
        links.get(memoryNodeId).maintenance().requestChunk();
    }

    @Override
    public boolean mayFindMemory(final int memoryNodeId)
    {
        return returns.has(memoryNodeId) || links.get(memoryNodeId).maintenance().mayFindMemory();
    }
}
