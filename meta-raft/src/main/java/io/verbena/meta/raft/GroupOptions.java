package io.verbena.meta.raft;

import java.nio.file.Path;
import java.util.List;

/**
 * How a meta server belongs to a group.
 *
 * @param key     of the group; who has another one is not answered.
 * @param member  number of this one, 1 to as many as there are peers; 0: it came later, and has no number.
 * @param peers   where all members of a new group reach each other, {@code host:port}, in the same order at each; of
 *                one that came later only its own address.
 * @param folder  of this one's log and snapshots.
 * @param isNew   whether the group is made now, and the folder with it.
 */
public record GroupOptions(GroupKey key, int member, List<String> peers, Path folder, boolean isNew)
{
    /** Checks the ranges. */
    public GroupOptions
    {
        peers = List.copyOf(peers);

        if (0 == member && (1 != peers.size() || isNew))
        {
            throw new IllegalArgumentException("who joins a group gives its own address only: " + peers);
        }

        if (member < 0 || member > peers.size())
        {
            throw new IllegalArgumentException("member " + member + " of " + peers.size() + " peers: 1 to " +
                peers.size());
        }
    }

    /**
     * @param key     of the group.
     * @param address where the others reach this one, {@code host:port}.
     * @param folder  of this one; there from an earlier start, or not.
     * @return how a server takes part that was added to a group, or will be.
     */
    public static GroupOptions join(final GroupKey key, final String address, final Path folder)
    {
        return new GroupOptions(key, 0, List.of(address), folder, false);
    }

    /** Whether it came, or comes, after the group was made. */
    public boolean joins()
    {
        return 0 == member;
    }

    /** @return where the others reach this one, {@code host:port}. */
    public String address()
    {
        return joins() ? peers.getFirst() : peers.get(member - 1);
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
