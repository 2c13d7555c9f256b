package io.verbena.table.check;

import org.agrona.MutableDirectBuffer;

/** Reads the region of a memory node and waits for it: for tools, not for the data path. */
@FunctionalInterface
public interface RegionReader
{
    /**
     * Reads bytes.
     *
     * @param memoryNodeId of the node.
     * @param offset       of the first byte in the node's region.
     * @param target       off-heap, filled from index 0.
     * @param lengthBytes  how many.
     */
    void read(int memoryNodeId, long offset, MutableDirectBuffer target, int lengthBytes);
}
