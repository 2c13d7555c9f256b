package io.verbena.protocol.message;

/**
 * State of a memory node.
 *
 * @param regionLengthBytes   memory that peers can reach.
 * @param chunkLengthBytes    length of a chunk.
 * @param chunkCount          chunks in all.
 * @param freeChunkCount      chunks nobody has.
 * @param blockChunkCount     chunks leased for blocks.
 * @param indexChunkCount     chunks leased for indexes.
 * @param retainedChunkCount  orphans: chunks whose owner ended, or that are being reclaimed; they may hold live blocks.
 */
public record MemoryNodeStat(
    long regionLengthBytes,
    int chunkLengthBytes,
    int chunkCount,
    int freeChunkCount,
    int blockChunkCount,
    int indexChunkCount,
    int retainedChunkCount)
{
}
