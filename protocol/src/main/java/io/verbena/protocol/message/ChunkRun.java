package io.verbena.protocol.message;

/**
 * Neighbouring chunks of a memory node.
 *
 * @param offset     of the first chunk in the region.
 * @param chunkCount 1 or more.
 */
public record ChunkRun(long offset, int chunkCount)
{
}
