package io.verbena.table.allocation;

/**
 * A range of a memory node's region that an engine said it holds.
 *
 * @param memoryNodeId of the memory node.
 * @param kind         see {@link HeldConsumer}.
 * @param offset       of its first byte.
 * @param lengthBytes  of it.
 */
public record HeldRange(int memoryNodeId, int kind, long offset, long lengthBytes)
{
}
