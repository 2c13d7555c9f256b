package io.verbena.raas;

import io.verbena.rdma.verbs.DeviceAddress;

/**
 * Where one life of a node is reached; the key of the pool of physical queue pairs.
 *
 * @param device      address of the node's device.
 * @param servicePort where it listens, 1 to 65,535.
 * @param nodeId      number of the node; 0 when it is not known yet, as for the meta server at start.
 * @param incarnation number of the node's life; a restarted node is another peer.
 */
public record PeerAddress(DeviceAddress device, int servicePort, int nodeId, int incarnation)
{
    @Override
    public String toString()
    {
        return "node " + nodeId + " incarnation " + incarnation + " at " + device + " port " + servicePort;
    }
}
