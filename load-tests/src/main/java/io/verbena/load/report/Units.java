package io.verbena.load.report;

import java.util.Locale;

/**
 * Numbers as people read them, the same in every locale. Stateless.
 */
public final class Units
{
    private static final long NS_PER_US = 1_000;
    private static final long NS_PER_MS = 1_000_000;
    private static final long NS_PER_S = 1_000_000_000;
    private static final long BYTES_PER_MIB = 1 << 20;

    private Units()
    {
    }

    /**
     * A count.
     *
     * @param count any.
     * @return such as {@code 12,345}.
     */
    public static String count(final long count)
    {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /**
     * A count of things.
     *
     * @param count any.
     * @param one   of them; more have an s.
     * @return such as {@code 1 record} or {@code 12,345 records}.
     */
    public static String count(final long count, final String one)
    {
        return count(count) + ' ' + one + (1 == count ? "" : "s");
    }

    /**
     * A duration, in the unit in which it has one to four digits before the point.
     *
     * @param ns nanoseconds.
     * @return such as {@code 850 ns}, {@code 12.3 µs}, {@code 4.56 ms} or {@code 7.89 s}.
     */
    public static String duration(final long ns)
    {
        if (ns < NS_PER_US)
        {
            return ns + " ns";
        }
        if (ns < NS_PER_MS)
        {
            return String.format(Locale.ROOT, "%.1f µs", (double)ns / NS_PER_US);
        }
        if (ns < NS_PER_S)
        {
            return String.format(Locale.ROOT, "%.2f ms", (double)ns / NS_PER_MS);
        }
        return String.format(Locale.ROOT, "%.2f s", (double)ns / NS_PER_S);
    }

    /**
     * A mean.
     *
     * @param mean any.
     * @return with three digits after the point.
     */
    public static String mean(final double mean)
    {
        return String.format(Locale.ROOT, "%.3f", mean);
    }

    /**
     * An amount of memory.
     *
     * @param bytes any.
     * @return such as {@code 256 MiB}, rounded up.
     */
    public static String mebibytes(final long bytes)
    {
        return count((bytes + BYTES_PER_MIB - 1) / BYTES_PER_MIB) + " MiB";
    }
}
