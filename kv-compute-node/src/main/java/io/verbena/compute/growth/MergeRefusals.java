package io.verbena.compute.growth;

import org.agrona.collections.Int2IntHashMap;

/**
 * Merges for which memory nodes had no memory. A sweep may find memory there that nobody uses, but looks at everything,
 * and a merge is wanted as long as there are siblings with few records: so it asks for one after 1, 2, 4, 8 refusals
 * and so on since there was memory last. Owned by the node's thread.
 */
final class MergeRefusals
{
    private final Int2IntHashMap countByNode = new Int2IntHashMap(0);

    /** @return whether a sweep is to be asked for. */
    boolean onRefused(final int memoryNodeId)
    {
        final int count = countByNode.get(memoryNodeId) + 1;
        countByNode.put(memoryNodeId, count);
        return 1 == Integer.bitCount(count);
    }

    /** There was memory. */
    void onLeased(final int memoryNodeId)
    {
        countByNode.remove(memoryNodeId);
    }

    @Override
    public String toString()
    {
        return "MergeRefusals" + countByNode;
    }
}
