package io.verbena.table;

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
}
