package io.verbena.table;

/** What the engine keeps for one memory node: the port, which comes and goes, and the batch under construction. */
final class NodeLink
{
    final int memoryNodeId;
    final BlockAllocator allocator;
    final Tombstones.Queue tombstones = new Tombstones.Queue();
    OneSidedPort port;
    /** Without a port: nobody knows whether there will be one. */
    boolean isUnreachable;
    /**
     * Operations whose requests are staged in the port's open batch, first and last of a chain; {@link Batch#NONE} if
     * none is. Indexes: to store a reference costs a full fence with G1, once the objects are old.
     */
    int firstStaged = Batch.NONE;
    int lastStaged = Batch.NONE;
    int stagedFences;

    NodeLink(final int memoryNodeId, final BlockAllocator allocator)
    {
        this.memoryNodeId = memoryNodeId;
        this.allocator = allocator;
    }

    /** @return whether operations have nothing to wait for. */
    boolean isLost()
    {
        return port == null ? isUnreachable : port.isFailed();
    }
}
