package io.verbena.meta.membership;

import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * How a node can be reached, as it says at registration.
 *
 * @param role              what it is.
 * @param device            address on the fabric.
 * @param servicePort       where it accepts connections, 0 to 65,535; 0: nowhere.
 * @param regionAddress     first byte of the memory it lets others reach.
 * @param regionLengthBytes length of that memory; 0: none.
 * @param regionRemoteKey   key of that memory.
 * @param memoryId          random number kept with that memory, which nobody else has; 0: none.
 * @param readTarget        through which that memory can be read before connecting.
 */
public record NodeEndpoint(
    NodeRole role,
    DeviceAddress device,
    int servicePort,
    long regionAddress,
    long regionLengthBytes,
    int regionRemoteKey,
    long memoryId,
    ReadTargetAddress readTarget)
{
    /** Of a node that nobody reads before connecting. */
    public NodeEndpoint(
        final NodeRole role,
        final DeviceAddress device,
        final int servicePort,
        final long regionAddress,
        final long regionLengthBytes,
        final int regionRemoteKey,
        final long memoryId)
    {
        this(role, device, servicePort, regionAddress, regionLengthBytes, regionRemoteKey, memoryId,
            ReadTargetAddress.NONE);
    }
}
