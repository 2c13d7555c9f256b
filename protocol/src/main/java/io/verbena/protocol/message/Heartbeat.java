package io.verbena.protocol.message;

import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/**
 * Answer to a heartbeat; renews the lease from before the request was sent.
 *
 * @param epoch             current.
 * @param safeEpoch         passed by all living compute nodes.
 * @param membershipVersion changes when a node joins or leaves: then ask for the nodes again.
 * @param leaseNs           new length of the lease.
 * @param tokens            of a compute node: for memory nodes that have registered since, or all of a new round, by
 *                          ascending incarnation.
 * @param spares            of a memory node: identities that compute nodes may be given any time.
 * @param renewed           what proves the registration from now on, as it is sent; null: the node has the latest.
 * @param toLeave           of a compute node: lost memory nodes that it is to leave, these incarnations and earlier
 *                          ones, and to report then.
 */
public record Heartbeat(
    long epoch, long safeEpoch, long membershipVersion, long leaseNs, List<AdmissionToken> tokens,
    List<PeerIdentity> spares, RegistrationSecret renewed, List<PeerIdentity> toLeave)
{
    /** Of a node that has the latest secret. */
    public Heartbeat(
        final long epoch, final long safeEpoch, final long membershipVersion, final long leaseNs,
        final List<AdmissionToken> tokens, final List<PeerIdentity> spares)
    {
        this(epoch, safeEpoch, membershipVersion, leaseNs, tokens, spares, null, List.of());
    }
}
