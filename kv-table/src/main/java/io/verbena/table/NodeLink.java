package io.verbena.table;

/** What the engine keeps for one memory node: the port, which comes and goes, and the batch under construction. */
final class NodeLink
{
    final int memoryNodeId;
    final BlockAllocator allocator;
    final Tombstones.Queue tombstones = new Tombstones.Queue();
    OneSidedPort port;
    /** Operations whose requests are staged in the port's open batch, first and last of a chain; null if none is. */
    Operation firstStaged;
    Operation lastStaged;
    int stagedFences;

    NodeLink(final int memoryNodeId, final BlockAllocator allocator)
    {
        this.memoryNodeId = memoryNodeId;
        this.allocator = allocator;
    }
}
