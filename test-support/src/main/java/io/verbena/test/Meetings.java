package io.verbena.test;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where threads wait for each other again and again without going to sleep, so that they go on at nearly the same time:
 * for tests of what may happen between two steps of one of them. Thread-safe.
 */
public final class Meetings
{
    private static final int SPINS = 500;

    private final int threads;
    private final AtomicInteger arrived = new AtomicInteger();

    /** @param threads that meet. */
    public Meetings(final int threads)
    {
        this.threads = threads;
    }

    /** Waits until all threads have called this as often. */
    public void await()
    {
        final int place = arrived.getAndIncrement();
        final int last = place - place % threads + threads;
        for (int i = 0; arrived.get() - last < 0; i++)
        {
            if (i < SPINS)
            {
                Thread.onSpinWait();
            }
            else
            {
                Thread.yield(); // the others may need this processor
            }
        }
    }

    /**
     * Passes a random time, so that threads are at other steps each time.
     *
     * @param mostSpins of some ten nanoseconds each.
     */
    public static void dawdle(final int mostSpins)
    {
        for (int i = ThreadLocalRandom.current().nextInt(mostSpins); i > 0; i--)
        {
            Thread.onSpinWait();
        }
    }
}
