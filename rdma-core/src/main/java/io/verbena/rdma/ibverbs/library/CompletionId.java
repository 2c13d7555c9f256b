package io.verbena.rdma.ibverbs.library;

/**
 * What is posted as {@code wr_id}: whose request, of which queue, where in it. So a completion finds its queue pair
 * without a map of numbers, and one that outlives its queue pair, as rxe's do, finds none.
 *
 * <pre>
 *  63            32 31 30             0
 *  +---------------+--+---------------+
 *  | queue serial  |R |   position    |
 *  +---------------+--+---------------+
 * </pre>
 */
public final class CompletionId
{
    public static final long POSITION_MASK = 0x7FFF_FFFFL;
    private static final long RECEIVE = 1L << 31;

    private CompletionId()
    {
    }

    public static long of(final int serial, final boolean isReceive, final long position)
    {
        return (long)serial << 32 | (isReceive ? RECEIVE : 0) | position & POSITION_MASK;
    }

    public static int serial(final long id)
    {
        return (int)(id >>> 32);
    }

    public static boolean isReceive(final long id)
    {
        return (id & RECEIVE) != 0;
    }

    public static long position(final long id)
    {
        return id & POSITION_MASK;
    }
}
