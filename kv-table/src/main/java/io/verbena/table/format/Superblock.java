package io.verbena.table.format;

/**
 * What a memory node's superblock says.
 *
 * @param nodeId             of the node.
 * @param incarnation        of its present life.
 * @param regionLengthBytes  of the region, superblock included.
 * @param chunksOffset       where the first chunk begins.
 * @param chunkLengthBytes   of each chunk.
 * @param chunkCount         chunks in all.
 */
public record Superblock(
    int nodeId,
    int incarnation,
    long regionLengthBytes,
    long chunksOffset,
    int chunkLengthBytes,
    int chunkCount,
    long chunkHeadersOffset)
{
}
