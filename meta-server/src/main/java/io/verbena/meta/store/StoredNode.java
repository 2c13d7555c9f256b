package io.verbena.meta.store;

import io.verbena.protocol.message.FailureDomain;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * A member as the meta server keeps it.
 *
 * @param record       what anyone needs to reach it; its epoch is not kept, and 0.
 * @param state        where the registration stands.
 * @param writerNumber 1 to 65,535 for a compute node, 0 for a memory node.
 * @param memoryId     random number kept with its memory; 0: none.
 * @param certificate  number of that by which it has joined; 0: none.
 * @param failureDomain label that a memory node gave when it registered last; NONE for a domain of its own.
 */
public record StoredNode(
    PeerRecord record, StoredNodeState state, int writerNumber, long memoryId, int certificate, String failureDomain)
{
    /** Of a node that has joined without a certificate. */
    public StoredNode(
        final PeerRecord record, final StoredNodeState state, final int writerNumber, final long memoryId)
    {
        this(record, state, writerNumber, memoryId, 0, FailureDomain.NONE);
    }

    /**
     * @param nodeId       of the identity.
     * @param incarnation  of the identity.
     * @param writerNumber that it will have.
     * @return a spare of a compute node of which nothing is known yet.
     */
    public static StoredNode spare(final int nodeId, final int incarnation, final int writerNumber)
    {
        return new StoredNode(
            new PeerRecord(nodeId, incarnation, 0, NodeRole.COMPUTE_NODE, new DeviceAddress(0, 0), 0,
                new RemoteRegion(0, 0, 0)), StoredNodeState.SPARE, writerNumber, 0);
    }

    /** @return who it is. */
    public PeerIdentity identity()
    {
        return record.identity();
    }

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
        return new StoredNode(record, newState, writerNumber, memoryId, certificate, failureDomain);
    }
}
