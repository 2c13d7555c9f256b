package io.verbena.table.check;

import java.util.List;
import org.agrona.DirectBuffer;

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
     * Swaps a word of one copy, as {@link #swap} does where there is one.
     *
     * @param copy 0, the head, to less than {@link #copyCount}.
     */
    default void swapCopy(
        final int memoryNodeId, final int copy, final long offset, final long expected, final long desired)
    {
        swap(memoryNodeId, offset, expected, desired);
    }

    /**
     * Writes a block to one copy, where there are several and another one has it.
     *
     * @param source holds it from index 0.
     */
    default void writeCopy(
        final int memoryNodeId, final int copy, final long offset, final DirectBuffer source, final int lengthBytes)
    {
        throw new UnsupportedOperationException("one copy: nothing to bring to another one");
    }

    /**
     * Ends all splits that have begun and that nobody goes on with, and publishes the descriptors that name what they
     * made. Right only after a check that found nothing wrong.
     *
     * @param problems takes one line each: what could not be ended.
     * @return splits ended, or published only.
     */
    int finishSplits(List<String> problems);
}
