package io.verbena.elle.linear;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Bounds of a check; whatever hits one ends as {@code UNKNOWN}.
 *
 * @param timeoutNs  time for the whole check, explanations included; from 1.
 * @param maxStates  configurations remembered over all threads together, each about 32 bytes; from 1.
 * @param threads    objects checked at the same time; from 1.
 * @param clock      nanoseconds, growing.
 */
public record LinearOptions(long timeoutNs, long maxStates, int threads, LongSupplier clock)
{
    private static final long DEFAULT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(300);
    private static final long STATE_BYTES = 64;

    /**
     * Checks the bounds.
     *
     * @param timeoutNs  time for the whole check.
     * @param maxStates  configurations remembered.
     * @param threads    objects checked at the same time.
     * @param clock      nanoseconds, growing.
     */
    public LinearOptions
    {
        if (timeoutNs < 1 || maxStates < 1 || threads < 1)
        {
            throw new IllegalArgumentException("bounds must be positive: timeoutNs=" + timeoutNs + " maxStates=" +
                maxStates + " threads=" + threads);
        }
    }

    /**
     * Five minutes, all processors, and at most half of the heap this JVM may have.
     *
     * @return the defaults.
     */
    public static LinearOptions defaults()
    {
        final long maxStates = Math.max(1 << 16, Runtime.getRuntime().maxMemory() / 2 / STATE_BYTES);
        return new LinearOptions(
            DEFAULT_TIMEOUT_NS, maxStates, Runtime.getRuntime().availableProcessors(), System::nanoTime);
    }

    /**
     * Changes the time bound.
     *
     * @param value nanoseconds, from 1.
     * @return changed copy.
     */
    public LinearOptions withTimeoutNs(final long value)
    {
        return new LinearOptions(value, maxStates, threads, clock);
    }

    /**
     * Changes the memory bound.
     *
     * @param value configurations, from 1.
     * @return changed copy.
     */
    public LinearOptions withMaxStates(final long value)
    {
        return new LinearOptions(timeoutNs, value, threads, clock);
    }

    /**
     * Changes the number of threads.
     *
     * @param value from 1.
     * @return changed copy.
     */
    public LinearOptions withThreads(final int value)
    {
        return new LinearOptions(timeoutNs, maxStates, value, clock);
    }
}
