package io.verbena.protocol.message;

import io.verbena.raas.PeerIdentity;

/**
 * What a node gets when it registers.
 *
 * @param nodeId            1 to 65,535.
 * @param incarnation       of this life; greater than of any earlier life of the node.
 * @param writerNumber      16 bits, for versions that this node issues; not in use by any other living node.
 * @param epoch             current.
 * @param safeEpoch         passed by all living compute nodes.
 * @param membershipVersion changes when a node joins or leaves.
 * @param leaseNs           how long, from before the request was sent, the node may act without a heartbeat.
 * @param clusterId         of the cluster; never 0.
 */
public record Registration(
    int nodeId,
    int incarnation,
    int writerNumber,
    long epoch,
    long safeEpoch,
    long membershipVersion,
    long leaseNs,
    long clusterId)
{
    /** @return who the node is from now on. */
    public PeerIdentity identity()
    {
        return new PeerIdentity(nodeId, incarnation);
    }
}
