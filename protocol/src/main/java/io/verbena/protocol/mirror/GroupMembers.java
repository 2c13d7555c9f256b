package io.verbena.protocol.mirror;

import io.verbena.protocol.control.MemoryNodeClient;

/**
 * The members of a group in one view that are in sync: which have recorded, or will record, every lease of the view.
 * By ascending node id, whatever their order in the group: groups with other primaries ask in the same order, so that
 * of several that refuse each other one goes on. Owner thread only.
 */
public interface GroupMembers
{
    /** @return how many, 1 or more. */
    int count();

    /** @return place of the primary among them. */
    int primary();

    /**
     * @param member place, from 0 for the smallest node id.
     * @return to that incarnation of the member that the view names, or null while it cannot be reached.
     */
    MemoryNodeClient client(int member);
}
