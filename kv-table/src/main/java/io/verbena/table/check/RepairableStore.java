package io.verbena.table.check;

import java.util.List;

/** A store whose words can be changed by a check that repairs it. */
public interface RepairableStore extends CheckedStore
{
    /**
     * Swaps a word as clients do.
     *
     * @param memoryNodeId of the node.
     * @param offset       of the word in the node's region.
     * @param expected     what it must be.
     * @param desired      what it becomes.
     */
    void swap(int memoryNodeId, long offset, long expected, long desired);

    /**
     * Ends all splits that have begun and that nobody goes on with, and publishes the descriptors that name what they
     * made. Right only after a check that found nothing wrong.
     *
     * @param problems takes one line each: what could not be ended.
     * @return splits ended, or published only.
     */
    int finishSplits(List<String> problems);
}
