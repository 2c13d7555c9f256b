package io.verbena.table.mirror;

import io.verbena.table.allocation.ChunkView;
import java.util.ArrayList;
import java.util.List;

/**
 * A lease of a group that the chunk headers of a member show, and whose node has ended there.
 *
 * @param index        of the chunk.
 * @param view         of the group, in which it was leased.
 * @param count        of the lease.
 * @param isEverywhere whether all members show this lease, and that its node has ended: it is complete, and none of its
 *                     node's requests lands any more. Else members differ, and have to be asked.
 */
public record LeftChunk(int index, long view, long count, boolean isEverywhere)
{
    /**
     * Compares the headers of all members. Leases that all members show, and whose node has not ended at one of them
     * yet, are left out: they are found later.
     *
     * @param group   number.
     * @param members what the headers of each show, of members in sync only; all have equally many chunks.
     * @return what is left, by ascending index; a new list.
     */
    public static List<LeftChunk> find(final int group, final List<ChunkView> members)
    {
        final List<LeftChunk> found = new ArrayList<>();
        for (int i = 0; i < members.getFirst().chunkCount(); i++)
        {
            for (final ChunkView member : members)
            {
                if (member.group(i) == group && member.isLeftByGroup(i))
                {
                    add(found, group, i, member, members);
                    break;
                }
            }
        }
        return found;
    }

    private static void add(
        final List<LeftChunk> found, final int group, final int index, final ChunkView shown,
        final List<ChunkView> members)
    {
        final long view = shown.groupView(index);
        final long count = shown.groupCount(index);
        boolean isOnAll = true;
        boolean isLeftOnAll = true;
        for (final ChunkView member : members)
        {
            isOnAll &= member.group(index) == group && member.groupView(index) == view &&
                member.groupCount(index) == count;
            isLeftOnAll &= member.isLeftByGroup(index);
        }
        if (!isOnAll || isLeftOnAll)
        {
            found.add(new LeftChunk(index, view, count, isOnAll));
        }
    }
}
