package io.verbena.table.mirror;

import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import java.util.HashSet;
import java.util.List;

/**
 * Memory nodes that keep the same chunks, in their order: head, middles, primary. What is at an offset of one is at the
 * same offset of the others. Immutable.
 *
 * @param number  of the group, 1 to 65,535.
 * @param members node ids, each from 1 to 65,535 and each once; 1 to {@link MirrorPort#MOST_MEMBERS}.
 */
public record MirrorGroup(int number, List<Integer> members)
{
    private static final int MAX_NODE_ID = 65_535;

    /** Copies the list, and refuses what no group is. */
    public MirrorGroup
    {
        members = List.copyOf(members);
        if (number < 1 || number > ChunkDescriptor.MAX_GROUP || members.isEmpty() ||
            members.size() > MirrorPort.MOST_MEMBERS || new HashSet<>(members).size() != members.size() ||
            members.stream().anyMatch(id -> id < 1 || id > MAX_NODE_ID))
        {
            throw new IllegalArgumentException("group " + number + " of memory nodes " + members + ": needs 1 to " +
                MirrorPort.MOST_MEMBERS + " different ones, and a number from 1 to " + ChunkDescriptor.MAX_GROUP);
        }
    }

    /** @return node id of the member that decides between writers. */
    public int head()
    {
        return members.getFirst();
    }

    /** @return node id of the member that readers read. */
    public int primary()
    {
        return members.getLast();
    }

    /**
     * The order in which members are asked for a lease, the same for all groups: else two groups with other primaries
     * may refuse each other without end.
     *
     * @return node ids, ascending; a new list.
     */
    public List<Integer> askingOrder()
    {
        return members.stream().sorted().toList();
    }

    /**
     * Checks that the members can keep the same chunks.
     *
     * @param superblocks of the members, in their order.
     * @throws FormatException naming the member that differs from the first, and how; what to do about it.
     */
    public void check(final List<Superblock> superblocks)
    {
        if (superblocks.size() != members.size())
        {
            throw new FormatException(
                "group " + number + " has " + members.size() + " members, not " + superblocks.size());
        }
        final Superblock first = superblocks.getFirst();
        for (int i = 0; i < members.size(); i++)
        {
            final Superblock superblock = superblocks.get(i);
            if (superblock.nodeId() != members.get(i))
            {
                throw new FormatException("group " + number + ": found the memory of node " + superblock.nodeId() +
                    " where that of member " + members.get(i) + " is wanted");
            }
            require(i, "chunks of", superblock.chunkLengthBytes(), first.chunkLengthBytes(), "bytes");
            require(i, "its first chunk at offset", superblock.chunksOffset(), first.chunksOffset(), "bytes");
            require(i, "", superblock.chunkCount(), first.chunkCount(), "chunks");
        }
    }

    private void require(
        final int member, final String what, final long found, final long wanted, final String unit)
    {
        if (found != wanted)
        {
            throw new FormatException("group " + number + ": memory node " + members.get(member) + " has " +
                (what.isEmpty() ? "" : what + ' ') + found + ' ' + unit + ", memory node " + head() + " has " +
                wanted + "; start all members of a group with the same memory size and chunk size");
        }
    }
}
