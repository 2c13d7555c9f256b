package io.verbena.protocol.message;

import java.util.List;

/**
 * Answer to a heartbeat; renews the lease from before the request was sent.
 *
 * @param epoch             current.
 * @param safeEpoch         passed by all living compute nodes.
 * @param membershipVersion changes when a node joins or leaves: then ask for the nodes again.
 * @param leaseNs           new length of the lease.
 * @param tokens            of a compute node: for memory nodes that have registered since, by ascending incarnation.
 */
public record Heartbeat(
    long epoch, long safeEpoch, long membershipVersion, long leaseNs, List<AdmissionToken> tokens)
{
}
