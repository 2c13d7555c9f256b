package io.verbena.cli.bench.copies;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One figure of {@code bench failover}.
 *
 * @param figure its name, which ends in its unit.
 * @param value  measured.
 * @param most   goal, which it does not exceed; NaN: none.
 */
record FailoverRow(String figure, double value, double most)
{
    private static final double PERCENT = 100;

    /** One without a goal. */
    static FailoverRow of(final String figure, final double value)
    {
        return new FailoverRow(figure, value, Double.NaN);
    }

    /**
     * @param values  one or more.
     * @param percent 0 to 100.
     * @return the least of them that so many percent do not exceed.
     */
    static double percentile(final double[] values, final double percent)
    {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int)Math.max(0, Math.ceil(sorted.length * percent / PERCENT) - 1)];
    }

    boolean isReached()
    {
        return Double.isNaN(most) || value <= most;
    }

    static String head()
    {
        return String.format(Locale.ROOT, "%-42s %14s %12s", "figure", "measured", "goal");
    }

    String line()
    {
        final String goal = most == Math.rint(most) ? "<= %,.0f" : "<= %,.2f";
        return String.format(Locale.ROOT, "%-42s %,14.1f %12s%s", figure, value,
            Double.isNaN(most) ? "" : String.format(Locale.ROOT, goal, most), isReached() ? "" : " MISSED")
            .stripTrailing();
    }

    Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", figure);
        fields.put("value", value);
        fields.put("most", most);
        fields.put("reached", isReached());
        return fields;
    }
}
