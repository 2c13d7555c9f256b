package io.verbena.table;

/** What the engine keeps for one memory node: its id and the port to it, which comes and goes with the connection. */
final class NodeLink
{
    final int memoryNodeId;
    final BlockAllocator allocator;
    OneSidedPort port;

    NodeLink(final int memoryNodeId, final BlockAllocator allocator)
    {
        this.memoryNodeId = memoryNodeId;
        this.allocator = allocator;
    }
}
