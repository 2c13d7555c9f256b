package io.verbena.meta;

/**
 * What a meta server has to say of itself at one moment.
 *
 * @param clusterId         of the data it serves.
 * @param epoch             now.
 * @param safeEpoch         passed by every compute node that counts; 0 while not known after a restart.
 * @param membershipVersion changes with the set of live nodes.
 * @param liveMemoryNodes   with a lease.
 * @param lostMemoryNodes   whose lease ended and that did not come back.
 * @param liveComputeNodes  with a lease, but for spares.
 * @param spareComputeNodes with a lease, and clients are not sent to them.
 * @param fencingNodes      compute nodes without a lease that a memory node may still let in.
 * @param tables            known by name.
 */
public record MetaServerStat(
    long clusterId,
    long epoch,
    long safeEpoch,
    long membershipVersion,
    int liveMemoryNodes,
    int lostMemoryNodes,
    int liveComputeNodes,
    int spareComputeNodes,
    int fencingNodes,
    int tables)
{
}
