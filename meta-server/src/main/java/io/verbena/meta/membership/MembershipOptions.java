package io.verbena.meta.membership;

/**
 * How leases are given.
 *
 * @param leaseNs   what a node is granted; it counts from before it sent the request that got the lease.
 * @param marginNs  by how much longer this side waits, for clocks that do not run alike; positive.
 * @param maxNodes  most nodes at a time: those with a lease, and compute nodes that are not fenced everywhere yet.
 */
public record MembershipOptions(long leaseNs, long marginNs, int maxNodes)
{
    /** Checks the ranges. */
    public MembershipOptions
    {
        if (leaseNs <= 0 || marginNs <= 0 || maxNodes < 1 || maxNodes > 0xFFFF)
        {
            throw new IllegalArgumentException("membership options out of range: leaseNs=" + leaseNs + " marginNs=" +
                marginNs + " maxNodes=" + maxNodes + "; leases must be positive, nodes 1 to 65535");
        }
    }
}
