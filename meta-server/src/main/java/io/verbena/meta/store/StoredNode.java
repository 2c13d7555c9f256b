package io.verbena.meta.store;

import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;

/**
 * A member as the meta server keeps it.
 *
 * @param record       what anyone needs to reach it; its epoch is not kept, and 0.
 * @param state        where the registration stands.
 * @param writerNumber 1 to 65,535 for a compute node, 0 for a memory node.
 * @param memoryId     random number kept with its memory; 0: none.
 */
public record StoredNode(PeerRecord record, StoredNodeState state, int writerNumber, long memoryId)
{
    /** @return 1 to 65,535. */
    public int nodeId()
    {
        return record.nodeId();
    }

    /** @return number of this registration; larger than any given out before it. */
    public int incarnation()
    {
        return record.incarnation();
    }

    /** @return what the node is. */
    public NodeRole role()
    {
        return record.role();
    }

    /**
     * @param newState replaces the present one.
     * @return a copy.
     */
    public StoredNode withState(final StoredNodeState newState)
    {
        return new StoredNode(record, newState, writerNumber, memoryId);
    }
}
