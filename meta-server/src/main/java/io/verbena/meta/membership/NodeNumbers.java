package io.verbena.meta.membership;

import io.verbena.meta.membership.MembershipRefusedException.Reason;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.StoredNode;
import org.agrona.collections.IntHashSet;

/**
 * Node ids and writer numbers that are taken, by members and by spares; numbers of groups of memory nodes are node ids
 * that no node has, since tables name either in the same place. One thread.
 */
final class NodeNumbers
{
    /** There are as many of each kind. */
    static final int COUNT = 0xFFFF;

    private final IntHashSet nodeIds = new IntHashSet();
    private final IntHashSet writerNumbers = new IntHashSet();

    /** Takes those of a node, which may have them already. */
    void take(final StoredNode node)
    {
        nodeIds.add(node.nodeId());

        if (0 != node.writerNumber())
        {
            writerNumbers.add(node.writerNumber());
        }
    }

    /** Takes the number of a group, for good. */
    void takeForGroup(final int number)
    {
        nodeIds.add(number);
    }

    void giveBack(final StoredNode node)
    {
        nodeIds.remove(node.nodeId());
        writerNumbers.remove(node.writerNumber());
    }

    int freeNodeIds()
    {
        return COUNT - nodeIds.size();
    }

    /** The first free one from a number on, round the ring. */
    int freeNodeId(final int first)
    {
        if (nodeIds.size() >= COUNT)
        {
            throw new MembershipRefusedException(
                Reason.EXHAUSTED,
                "all " + COUNT + " node ids are used up by memory nodes of the past: start a new cluster");
        }

        return free(nodeIds, first);
    }

    /** The first free one from a number on, round the ring; there are as many as node ids. */
    int freeWriterNumber(final int first)
    {
        return free(writerNumbers, first);
    }

    private static int free(final IntHashSet taken, final int first)
    {
        int number = first;

        for (int i = 0; i < COUNT && taken.contains(number); i++)
        {
            number = MetaCounters.following(number);
        }

        return number;
    }
}
