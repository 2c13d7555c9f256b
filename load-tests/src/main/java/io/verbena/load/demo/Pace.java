package io.verbena.load.demo;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.locks.LockSupport;

/**
 * Waits for a moment. Stateless.
 */
final class Pace
{
    private Pace()
    {
    }

    /**
     * Parks until the clock shows that time, or returns at once if it has passed.
     */
    static void until(final NanoClock clock, final long timeNs)
    {
        long waitNs = timeNs - clock.nanoTime();
        while (waitNs > 0)
        {
            LockSupport.parkNanos(waitNs);
            waitNs = timeNs - clock.nanoTime();
        }
    }
}
