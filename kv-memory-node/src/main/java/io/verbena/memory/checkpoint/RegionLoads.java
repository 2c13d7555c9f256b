package io.verbena.memory.checkpoint;

import org.agrona.MutableDirectBuffer;

/** How a checkpoint looks at a region that others write meanwhile: the loads of the CPU. One thread. */
public interface RegionLoads
{
    /**
     * Loads an aligned word, whole and acquiring.
     *
     * @param offset of the region.
     * @return the word, little-endian.
     */
    long word(long offset);

    /**
     * Copies bytes, which may be torn when they change meanwhile.
     *
     * @param offset      of the region.
     * @param target      filled from index 0.
     * @param lengthBytes how many.
     */
    void copy(long offset, MutableDirectBuffer target, int lengthBytes);
}
