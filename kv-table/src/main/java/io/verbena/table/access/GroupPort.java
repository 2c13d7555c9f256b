package io.verbena.table.access;

import io.verbena.raas.OneSidedPort;

/**
 * A port to memory of a group of memory nodes, also where one of them is left. What only groups leave in memory may be
 * met there, as the word of a merge proposal that was taken back; with a table of one copy that is damage.
 */
public interface GroupPort extends OneSidedPort
{
    /** @return whether a port leads to memory of a group. */
    static boolean isOne(final OneSidedPort port)
    {
        return port instanceof GroupPort;
    }
}
