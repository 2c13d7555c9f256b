package io.verbena.protocol.message;

import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

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
 * @param secret            of this registration: whoever has it can act for it. Known to the meta server besides. As it
 *                          is sent; {@code Credentials} shows it to who registered.
 * @param tokens            of a compute node: for memory nodes, by ascending incarnation; more come with heartbeats.
 * @param spares            of a memory node: identities that compute nodes may be given any time, among them all such
 *                          that are older than this registration.
 */
public record Registration(
    int nodeId,
    int incarnation,
    int writerNumber,
    long epoch,
    long safeEpoch,
    long membershipVersion,
    long leaseNs,
    long clusterId,
    RegistrationSecret secret,
    List<AdmissionToken> tokens,
    List<PeerIdentity> spares)
{
    /** @return who the node is from now on. */
    public PeerIdentity identity()
    {
        return new PeerIdentity(nodeId, incarnation);
    }
}
