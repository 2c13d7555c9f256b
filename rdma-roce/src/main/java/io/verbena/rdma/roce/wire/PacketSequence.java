package io.verbena.rdma.roce.wire;

/** Arithmetic of 24-bit sequence numbers, which wrap: of packets (PSN) and of messages (MSN). Pure. */
public final class PacketSequence
{
    /** All bits of a number. */
    public static final int MASK = (1 << BthDescriptor.NUMBER_BITS) - 1;
    /** Numbers that are this far apart or farther cannot be ordered. */
    public static final int HALF = 1 << BthDescriptor.NUMBER_BITS - 1;

    private static final int SHIFT = Integer.SIZE - BthDescriptor.NUMBER_BITS;

    private PacketSequence()
    {
    }

    /**
     * Moves a number.
     *
     * @param sequence of 24 bits.
     * @param count    positive or negative.
     * @return the number so many later.
     */
    public static int add(final int sequence, final int count)
    {
        return sequence + count & MASK;
    }

    /**
     * The distance between two numbers.
     *
     * @param later   of 24 bits.
     * @param earlier of 24 bits.
     * @return how much later, -2^23 to 2^23 - 1.
     */
    public static int distance(final int later, final int earlier)
    {
        return later - earlier << SHIFT >> SHIFT;
    }
}
