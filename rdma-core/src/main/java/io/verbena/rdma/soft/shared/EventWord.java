package io.verbena.rdma.soft.shared;

/**
 * A word that threads of any process sleep on until it changes: a count of signals, and how many sleep.
 *
 * <pre>
 *  0         4           8      64
 * +---------+-----------+------+
 * | signals | sleepers  | (0)  |
 * +---------+-----------+------+
 * </pre>
 */
public final class EventWord
{
    public static final int SIGNALS_OFFSET = 0;
    public static final int SLEEPERS_OFFSET = SIGNALS_OFFSET + Integer.BYTES;
    public static final int LENGTH = 64;

    private EventWord()
    {
    }

    /** Wakes who sleeps; a system call only when somebody does. */
    public static void signal(final long word)
    {
        wake(announce(word));
    }

    /**
     * First half of {@link #signal}: who looks from now on sees it.
     *
     * @param word address.
     * @return for {@link #wake}; 0 when nobody sleeps.
     */
    public static long announce(final long word)
    {
        SharedWords.getAndAddInt(word + SIGNALS_OFFSET, 1);
        return SharedWords.getIntVolatile(word + SLEEPERS_OFFSET) == 0 ? 0 : word;
    }

    /**
     * Second half of {@link #signal}, a system call, after which the thread may not run for long. Nothing happens where
     * the word is not mapped any more: whoever slept there is gone.
     *
     * @param word what {@link #announce} returned; 0 for nothing.
     */
    public static void wake(final long word)
    {
        if (word != 0)
        {
            LinuxCalls.wake(word + SIGNALS_OFFSET);
        }
    }

    /** As {@link #signal}, but wakes nobody: who sleeps already finds out with the next signal, or when it wakes. */
    public static void count(final long word)
    {
        SharedWords.getAndAddInt(word + SIGNALS_OFFSET, 1);
    }

    /** To be read before looking for what a signal announces. */
    public static int signals(final long word)
    {
        return SharedWords.getIntVolatile(word + SIGNALS_OFFSET);
    }

    /**
     * Sleeps until somebody has signalled since, or the time is over, or for no reason.
     *
     * @param word      address.
     * @param seen      what {@link #signals} returned.
     * @param timeoutNs longest sleep, more than 0.
     */
    public static void sleep(final long word, final int seen, final long timeoutNs)
    {
        SharedWords.getAndAddInt(word + SLEEPERS_OFFSET, 1);
        try
        {
            LinuxCalls.waitWhile(word + SIGNALS_OFFSET, seen, timeoutNs);
        }
        finally
        {
            SharedWords.getAndAddInt(word + SLEEPERS_OFFSET, -1);
        }
    }
}
