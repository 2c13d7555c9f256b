package io.verbena.table;

/** What the engine keeps for one memory node: the port, which comes and goes, and the batch under construction. */
final class NodeLink
{
    /** No operation. */
    static final int NONE = -1;

    final int memoryNodeId;
    final BlockAllocator allocator;
    final TombstoneQueue tombstones = new TombstoneQueue();
    OneSidedPort port;
    /** Without a port: nobody knows whether there will be one. */
    boolean isUnreachable;
    /**
     * Operations whose requests are staged in the port's open batch, first and last of a chain; {@link #NONE} if
     * none is. Indexes: to store a reference costs a full fence with G1, once the objects are old.
     */
    int firstStaged = NONE;
    int lastStaged = NONE;
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
