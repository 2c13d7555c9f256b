package io.verbena.rdma.roce.seal;

/**
 * Which of the latest {@link SealedPacketDescriptor#REPLAY_WINDOW} counts of one direction have come. Used by one
 * thread.
 */
final class ReplayWindow
{
    /** Twice the window, so that the words of what is about to come hold nothing that is still asked for. */
    private static final int WORDS = 2 * SealedPacketDescriptor.REPLAY_WINDOW / Long.SIZE;
    private static final int WORD_SHIFT = Integer.numberOfTrailingZeros(Long.SIZE);

    private final long[] words = new long[WORDS];
    private long latest = -1;

    /** Whether a packet with this count has not come before, as far as that is known. */
    boolean isNew(final long counter)
    {
        return counter > latest || counter >= 0 && latest - counter < SealedPacketDescriptor.REPLAY_WINDOW &&
            (words[word(counter)] & 1L << counter) == 0;
    }

    /** A packet with this count, which was new, was opened. */
    void add(final long counter)
    {
        if (counter > latest)
        {
            final long first = Math.max((latest >> WORD_SHIFT) + 1, (counter >> WORD_SHIFT) - WORDS + 1);
            for (long word = first; word <= counter >> WORD_SHIFT; word++)
            {
                words[(int)word & WORDS - 1] = 0;
            }
            latest = counter;
        }
        words[word(counter)] |= 1L << counter;
    }

    private static int word(final long counter)
    {
        return (int)(counter >> WORD_SHIFT) & WORDS - 1;
    }
}
