package io.verbena.table.trace;

/**
 * What an operation did, step by step: the batches that it posted, and the times in which it waited before the next
 * one. The first {@value #FIRST} and the last {@value #LAST} entries are kept. Written by the engine without
 * allocation; read in the listener's call only. An operation of one batch costs no look at the clock.
 */
public final class OperationTrace
{
    /** Most entries that are kept. */
    public static final int CAPACITY = 16;
    /** Words of an entry, see {@link #copyTo}. */
    public static final int ENTRY_WORDS = 3;
    /** In place of a time: when the operation began, as the time of the first entry; when it ended, as the last's. */
    public static final long UNKNOWN_NS = Long.MIN_VALUE;
    /** Entries from the beginning that are kept. */
    public static final int FIRST = 8;
    /** Entries from the end that are kept. */
    public static final int LAST = CAPACITY - FIRST;

    private static final int VERBS_SHIFT = 8;
    private static final int ROUND_TRIPS_SHIFT = 16;
    private static final int WAIT_SHIFT = 24;
    private static final int NODE_SHIFT = 32;
    private static final int MASK = 0xff;

    private final long[] words = new long[CAPACITY * ENTRY_WORDS];
    private int count;
    private boolean isWaiting;

    /** Begins anew. */
    public void reset()
    {
        count = 0;
        isWaiting = false;
    }

    /** @return whether nothing was entered yet: then the time of what is entered next need not be asked for. */
    public boolean isFresh()
    {
        return 0 == count;
    }

    /** @return whether the last entry is a wait. */
    public boolean isWaiting()
    {
        return isWaiting;
    }

    /** Enters a batch that was posted. */
    public void posted(final int step, final int verbs, final int roundTrips, final int memoryNodeId, final long nowNs)
    {
        isWaiting = false;
        enter((long)memoryNodeId << NODE_SHIFT | (long)Math.min(MASK, roundTrips) << ROUND_TRIPS_SHIFT |
            (long)Math.min(MASK, verbs) << VERBS_SHIFT | step, nowNs);
    }

    /** Enters that the operation waits, until the next entry. */
    public void waits(final int step, final int memoryNodeId, final long nowNs)
    {
        isWaiting = true;
        enter((long)memoryNodeId << NODE_SHIFT | 1L << WAIT_SHIFT | step, nowNs);
    }

    private void enter(final long code, final long nowNs)
    {
        if (count > 0)
        {
            words[at(count - 1) + 2] = nowNs;
        }
        final int at = at(count++);
        words[at] = code;
        words[at + 1] = nowNs;
        words[at + 2] = UNKNOWN_NS;
    }

    private static int at(final int entry)
    {
        return ENTRY_WORDS * (entry < FIRST ? entry : FIRST + (entry - FIRST) % LAST);
    }

    /** @return entries so far, also those that are not kept. */
    public int count()
    {
        return count;
    }

    /**
     * Copies the entries that are kept, in their order: for each a word for {@link #step}, {@link #verbs}, {@link
     * #roundTrips}, {@link #isWait} and {@link #memoryNodeId}, and the times at which it began and ended, on the
     * engine's clock or {@link #UNKNOWN_NS}.
     *
     * @param target with room for {@link #CAPACITY} entries.
     * @param offset of the first.
     * @return how many were copied.
     */
    public int copyTo(final long[] target, final int offset)
    {
        final int kept = Math.min(count, CAPACITY);
        int to = offset;
        for (int entry = 0; entry < kept; entry++)
        {
            final int from = at(entry < FIRST ? entry : count - kept + entry);
            target[to++] = words[from];
            target[to++] = words[from + 1];
            target[to++] = words[from + 2];
        }
        return kept;
    }

    /** @return number of the step that posted, or that the operation waits to take. */
    public static int step(final long word)
    {
        return (int)(word & MASK);
    }

    /** @return requests of the batch, at most 255; 0 for a wait. */
    public static int verbs(final long word)
    {
        return (int)(word >>> VERBS_SHIFT) & MASK;
    }

    /** @return dependent round trips of the batch; 0 for a wait. */
    public static int roundTrips(final long word)
    {
        return (int)(word >>> ROUND_TRIPS_SHIFT) & MASK;
    }

    /** @return whether nothing was posted. */
    public static boolean isWait(final long word)
    {
        return (word >>> WAIT_SHIFT & 1) != 0;
    }

    /** @return the memory node of the key. */
    public static int memoryNodeId(final long word)
    {
        return (int)(word >>> NODE_SHIFT);
    }
}
