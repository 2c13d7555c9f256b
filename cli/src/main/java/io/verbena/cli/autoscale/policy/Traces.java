package io.verbena.cli.autoscale.policy;

import java.util.Random;
import java.util.function.LongToDoubleFunction;

/** Loads over time, in nodes that would do nothing else; time in milliseconds. */
public final class Traces
{
    /** In milliseconds. */
    public static final long SECOND_MS = 1_000;
    /** In milliseconds. */
    public static final long MINUTE_MS = 60 * SECOND_MS;
    /** In milliseconds. */
    public static final long HOUR_MS = 60 * MINUTE_MS;
    /** In milliseconds. */
    public static final long DAY_MS = 24 * HOUR_MS;

    private Traces()
    {
    }

    /** The same all the time. */
    public static LongToDoubleFunction constant(final double load)
    {
        return (_) -> load;
    }

    /** A wave a day, from almost nothing at night to the peak at noon. */
    public static LongToDoubleFunction diurnal(final double peak)
    {
        return (ms) -> peak * (0.02 + 0.98 * Math.pow(Math.sin(Math.PI * (ms % DAY_MS) / DAY_MS), 2));
    }

    /** A rest, and in each period the peak for some time, from one moment to the next. */
    public static LongToDoubleFunction spikes(
        final double rest, final double peak, final long periodMs, final long lengthMs)
    {
        return (ms) -> ms % periodMs >= periodMs - lengthMs ? peak : rest;
    }

    /** Rises to the peak, and falls at once. */
    public static LongToDoubleFunction sawtooth(final double peak, final long periodMs)
    {
        return (ms) -> peak * (ms % periodMs) / periodMs;
    }

    /** Another load with independent noise, a normal deviate of each period. */
    public static LongToDoubleFunction noisy(final LongToDoubleFunction load, final double deviation, final long seed)
    {
        final Random random = new Random(seed);
        return (ms) -> Math.max(0, load.applyAsDouble(ms) * (1 + deviation * random.nextGaussian()));
    }

    /** Another load with noise that lasts: each period keeps most of the deviation of the one before. */
    public static LongToDoubleFunction wandering(
        final LongToDoubleFunction load, final double deviation, final double kept, final long seed)
    {
        final Random random = new Random(seed);
        final double[] last = new double[1];
        return (ms) ->
        {
            last[0] = kept * last[0] + Math.sqrt(1 - kept * kept) * deviation * random.nextGaussian();
            return Math.max(0, load.applyAsDouble(ms) * (1 + last[0]));
        };
    }

    /** Another load that a part of the periods multiplies. */
    public static LongToDoubleFunction bursty(
        final LongToDoubleFunction load, final double part, final double factor, final long seed)
    {
        final Random random = new Random(seed);
        return (ms) -> load.applyAsDouble(ms) * (random.nextDouble() < part ? factor : 1);
    }
}
