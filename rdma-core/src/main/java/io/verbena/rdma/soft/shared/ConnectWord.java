package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.ConnectionAttempt.State;

/**
 * The word of a queue pair's entry that decides a connection attempt, once: whoever gets it from PENDING, the acceptor
 * or the connecting side by timeout or close. Attempt number (upper 56 bits) and outcome (lower 8).
 */
public final class ConnectWord
{
    public static final int PENDING = 1;
    /** An acceptor is carrying its answer out. */
    public static final int DECIDING = 2;
    public static final int ESTABLISHED = 3;
    public static final int REJECTED = 4;
    public static final int UNREACHABLE = 5;
    public static final int TIMED_OUT = 6;
    private static final State[] STATES = {
        State.PENDING, State.PENDING, State.PENDING, State.ESTABLISHED, State.REJECTED, State.UNREACHABLE,
        State.TIMED_OUT };

    private ConnectWord()
    {
    }

    /** Connecting side: begins an attempt; returns its number. */
    public static long begin(final long entry)
    {
        final long word = entry + QueuePairEntry.CONNECT_OFFSET;
        final long attempt = (SharedWords.getLong(word) >>> Byte.SIZE) + 1;
        SharedWords.putLongRelease(word, of(attempt, PENDING));
        return attempt;
    }

    /** The outcome of an attempt; TIMED_OUT when another one has begun. */
    public static int outcome(final long entry, final long attempt)
    {
        final long word = SharedWords.getLongAcquire(entry + QueuePairEntry.CONNECT_OFFSET);
        return word >>> Byte.SIZE == attempt ? (int)word & 0xFF : TIMED_OUT;
    }

    public static State state(final int outcome)
    {
        return STATES[outcome];
    }

    /** Changes the outcome; false when it was not the expected one any more. */
    public static boolean change(final long entry, final long attempt, final int expected, final int desired)
    {
        return SharedWords.compareAndSetLong(
            entry + QueuePairEntry.CONNECT_OFFSET, of(attempt, expected), of(attempt, desired));
    }

    private static long of(final long attempt, final int outcome)
    {
        return attempt << Byte.SIZE | outcome;
    }
}
