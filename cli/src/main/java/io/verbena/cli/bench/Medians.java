package io.verbena.cli.bench;

import java.util.Arrays;

/** Stateless. */
final class Medians
{
    private Medians()
    {
    }

    /**
     * @param values one or more, in any order; not changed.
     * @return that in the middle, or the mean of the two in the middle.
     */
    static double of(final double[] values)
    {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
