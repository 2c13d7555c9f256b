package io.verbena.table.allocation;

/** Where the engine gets memory for blocks from: leases of chunks at memory nodes. Called on the owner thread. */
public interface ChunkSource
{
    /**
     * Asks for at least one more chunk. Never blocks; not called again for the node before it was answered.
     *
     * <p>Answered on the owner thread, at once or later, by one or more calls of {@code TableEngine.chunkLeased} or one
     * of {@code TableEngine.chunkRefused}.
     *
     * @param memoryNodeId where the chunk has to lie.
     */
    void requestChunk(int memoryNodeId);

    /**
     * Asked when a request was refused.
     *
     * @param memoryNodeId that had no memory.
     * @return whether memory of it is being reclaimed, so that waiting for it, outside of any epoch, may help. Then
     *     chunks are asked for again when an epoch has passed.
     */
    default boolean mayFindMemory(final int memoryNodeId)
    {
        return false;
    }
}
