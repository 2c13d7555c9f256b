package io.verbena.table.allocation;

/** Takes ranges of a memory node's region that an engine holds: for checks and figures. */
@FunctionalInterface
public interface HeldConsumer
{
    /** A block that can be used at once. */
    int FREE = 0;
    /** Not cut into blocks yet. */
    int UNCUT = 1;
    /** A retired block, or a range taken over, that waits for the epoch. */
    int QUARANTINED = 2;
    /** A block of an operation under way. */
    int IN_FLIGHT = 3;

    /**
     * Takes one range.
     *
     * @param kind        one of the above.
     * @param offset      of its first byte in the region.
     * @param lengthBytes of it.
     */
    void accept(int kind, long offset, long lengthBytes);
}
