package io.verbena.protocol.message;

/**
 * Answer to a heartbeat; renews the lease from before the request was sent.
 *
 * @param epoch             current.
 * @param safeEpoch         passed by all living compute nodes.
 * @param membershipVersion changes when a node joins or leaves: then ask for the nodes again.
 * @param leaseNs           new length of the lease.
 */
public record Heartbeat(long epoch, long safeEpoch, long membershipVersion, long leaseNs)
{
}
