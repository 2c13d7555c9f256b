package io.verbena.rdma.soft.shared;

/**
 * State of a slot of a shared ring in one word, so that it changes hands in one compare-and-set and always shows whose
 * it is.
 *
 * <pre>
 *  63                              28 27           14 13         2 1     0
 * +----------------------------------+---------------+------------+-------+
 * | position                         | queue pair    | visitor    | state |
 * +----------------------------------+---------------+------------+-------+
 * </pre>
 *
 * <p>The position counts slots from the ring's beginning and never repeats (36 bits: at ten million a second, two
 * hours), so that a slot's laps are told apart. FREE: nobody's; OPEN: to be claimed; CLAIMED: being filled by a visitor
 * of the device; DONE: filled, for the owner. The queue pair is the index of the one that the claim is for.
 */
public final class ClaimWord
{
    public static final int FREE = 0;
    public static final int OPEN = 1;
    public static final int CLAIMED = 2;
    public static final int DONE = 3;

    private static final int STATE_MASK = 3;
    private static final int VISITOR_SHIFT = 2;
    private static final int VISITOR_MASK = DeviceFileDescriptor.MAX_VISITORS - 1;
    private static final int QUEUE_PAIR_SHIFT = 14;
    private static final int QUEUE_PAIR_MASK = DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
    private static final int POSITION_SHIFT = 28;

    private ClaimWord()
    {
    }

    public static long free(final long position)
    {
        return position << POSITION_SHIFT;
    }

    public static long open(final long position)
    {
        return position << POSITION_SHIFT | OPEN;
    }

    public static long claimed(final long position, final int visitor, final int queuePairIndex)
    {
        return position << POSITION_SHIFT | (long)queuePairIndex << QUEUE_PAIR_SHIFT |
            (long)visitor << VISITOR_SHIFT | CLAIMED;
    }

    /** The same claim, filled. */
    static long done(final long claimed)
    {
        return claimed | DONE;
    }

    /** The same claim at another position of its slot. */
    public static long carriedTo(final long word, final long position)
    {
        return word & ~(-1L << POSITION_SHIFT) | position << POSITION_SHIFT;
    }

    /** The same claim, of the owner. */
    public static long ofOwner(final long word)
    {
        return word & ~((long)VISITOR_MASK << VISITOR_SHIFT);
    }

    /** Filled by the one requester of a ring. */
    public static long direct(final long position)
    {
        return position << POSITION_SHIFT | DONE;
    }

    public static int state(final long word)
    {
        return (int)word & STATE_MASK;
    }

    public static int visitor(final long word)
    {
        return (int)(word >>> VISITOR_SHIFT) & VISITOR_MASK;
    }

    public static int queuePairIndex(final long word)
    {
        return (int)(word >>> QUEUE_PAIR_SHIFT) & QUEUE_PAIR_MASK;
    }

    /** Whether the word is of this position, whatever its state. */
    public static boolean isAt(final long word, final long position)
    {
        return word >>> POSITION_SHIFT == (position << POSITION_SHIFT) >>> POSITION_SHIFT;
    }

    /** Whether the word is of an earlier lap than the position. */
    public static boolean isBefore(final long word, final long position)
    {
        return (word & -1L << POSITION_SHIFT) - (position << POSITION_SHIFT) < 0;
    }
}
