package io.verbena.meta;

/**
 * What a meta server knows of a node.
 *
 * @param nodeId      1 to 65,535.
 * @param role        such as {@code COMPUTE_NODE}.
 * @param incarnation number of its registration.
 * @param state       such as {@code LIVE}.
 * @param leaseLeftNs until its lease ends, if nothing is heard of it; 0 where it has none.
 */
public record NodeStat(int nodeId, String role, int incarnation, String state, long leaseLeftNs)
{
}
