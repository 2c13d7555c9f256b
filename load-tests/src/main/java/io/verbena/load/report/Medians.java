package io.verbena.load.report;

import java.util.Arrays;

/** What rounds of a benchmark are judged by. Stateless. */
public final class Medians
{
    private Medians()
    {
    }

    /**
     * @param values one or more, in any order; not changed.
     * @return that in the middle, or the mean of the two in the middle.
     */
    public static double of(final double[] values)
    {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
