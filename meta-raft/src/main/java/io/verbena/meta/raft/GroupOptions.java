package io.verbena.meta.raft;

import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * How a meta server belongs to a group.
 *
 * @param groupId of the group; who has another one is not answered.
 * @param member  number of this one, 1 to as many as there are peers.
 * @param peers   where all of them reach each other, {@code host:port}, in the same order at each.
 * @param folder  of this one's log and snapshots.
 * @param isNew   whether the group is made now, and the folder with it.
 */
public record GroupOptions(UUID groupId, int member, List<String> peers, Path folder, boolean isNew)
{
    /** Checks the ranges. */
    public GroupOptions
    {
        peers = List.copyOf(peers);

        if (member < 1 || member > peers.size())
        {
            throw new IllegalArgumentException("member " + member + " of " + peers.size() + " peers: 1 to " +
                peers.size());
        }
    }

    /**
     * @param number of a member.
     * @return its name in the group.
     */
    static String name(final int number)
    {
        return "meta-" + number;
    }
}
