package io.verbena.meta.store;

import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * A registration as the meta server keeps it.
 *
 * @param nodeId            1 to 65,535.
 * @param incarnation       of this registration; larger than any given out before it.
 * @param role              what the node is.
 * @param state             where the registration stands.
 * @param writerNumber      1 to 65,535 for a compute node, 0 for a memory node.
 * @param device            address on the fabric.
 * @param servicePort       where it accepts connections, 0 when nowhere.
 * @param regionAddress     first byte of the memory it lets others reach, in its own terms.
 * @param regionLengthBytes length of that memory, 0 when there is none.
 * @param regionRemoteKey   key of that memory.
 * @param memoryId          random number kept with that memory; 0: none.
 * @param readTarget        through which that memory can be read before connecting.
 */
public record StoredNode(
    int nodeId,
    int incarnation,
    NodeRole role,
    StoredNodeState state,
    int writerNumber,
    DeviceAddress device,
    int servicePort,
    long regionAddress,
    long regionLengthBytes,
    int regionRemoteKey,
    long memoryId,
    ReadTargetAddress readTarget)
{
    /**
     * @param newState replaces the present one.
     * @return a copy.
     */
    public StoredNode withState(final StoredNodeState newState)
    {
        return new StoredNode(
            nodeId, incarnation, role, newState, writerNumber, device, servicePort, regionAddress, regionLengthBytes,
            regionRemoteKey, memoryId, readTarget);
    }
}
