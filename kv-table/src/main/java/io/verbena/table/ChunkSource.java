package io.verbena.table;

/** Where the engine gets memory for blocks from: leases of chunks at memory nodes. Called on the owner thread. */
public interface ChunkSource
{
    /**
     * Asks for at least one more chunk. Never blocks; not called again for the node before it was answered.
     *
     * <p>Answered on the owner thread, at once or later, by one or more calls of {@link TableEngine#chunkLeased} or one
     * of {@link TableEngine#chunkRefused}.
     *
     * @param memoryNodeId where the chunk has to lie.
     */
    void requestChunk(int memoryNodeId);
}
