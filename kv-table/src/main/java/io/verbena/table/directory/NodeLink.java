package io.verbena.table.directory;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.allocation.BlockAllocator;

/** What the engine keeps for one memory node: the port, which comes and goes, and the batch under construction. */
public final class NodeLink
{
    /** No operation. */
    public static final int NONE = -1;

    public final int memoryNodeId;
    public final BlockAllocator allocator;
    public final TombstoneQueue tombstones = new TombstoneQueue();
    public final PendingRemovals removals = new PendingRemovals();
    public OneSidedPort port;
    /** Whether the port, or the last one, is to memory that several memory nodes hold. */
    public boolean isMirrored;
    /** Whether it is to memory of a group, of which one member may be left. */
    public boolean isOfGroup;
    /** Without a port: nobody knows whether there will be one. */
    public boolean isUnreachable;
    /**
     * Operations whose requests are staged in the port's open batch, first and last of a chain; {@link #NONE} if
     * none is. Indexes: to store a reference costs a full fence with G1, once the objects are old.
     */
    public int firstStaged = NONE;
    public int lastStaged = NONE;
    public int stagedFences;
    /** The first operation of the chain that has a READ to be staged behind the others', and how many have; or none. */
    public int firstTrailing = NONE;
    public int trailingReads;

    NodeLink(final int memoryNodeId, final BlockAllocator allocator)
    {
        this.memoryNodeId = memoryNodeId;
        this.allocator = allocator;
    }

    /** @return whether operations have nothing to wait for. A group goes on without a member that does not answer. */
    public boolean isLost()
    {
        return port == null || isOfGroup ? isUnreachable : port.isFailed();
    }
}
