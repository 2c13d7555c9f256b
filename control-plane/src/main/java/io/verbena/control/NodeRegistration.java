package io.verbena.control;

import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * What a node says of itself when it registers.
 *
 * @param nodeId      number it had in an earlier life, kept on its disk; 0 for a new node.
 * @param role        what it does.
 * @param device      address of its device.
 * @param servicePort where it listens; 0 when it does not.
 * @param region      memory it grants; length 0 when none.
 */
public record NodeRegistration(
    int nodeId, NodeRole role, DeviceAddress device, int servicePort, RemoteRegion region)
{
}
