package io.verbena.cli.bench;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One figure of {@code bench meta}.
 *
 * @param figure    its name, which ends in its unit.
 * @param own       of the group of three.
 * @param reference what it is compared with; NaN: with nothing, and the goal is for the figure itself.
 * @param goal      of the figure, or of its ratio to the reference; NaN: none.
 * @param isAtLeast whether the goal is the least that is allowed, and not the most.
 */
record MetaRow(String figure, double own, double reference, double goal, boolean isAtLeast)
{
    private static final String LINE = "%-38s %,14.1f %14s %8s %10s%s";

    static MetaRow most(final String figure, final double own, final double goal)
    {
        return new MetaRow(figure, own, Double.NaN, goal, false);
    }

    static MetaRow mostOfReference(final String figure, final double own, final double reference, final double goal)
    {
        return new MetaRow(figure, own, reference, goal, false);
    }

    static MetaRow leastOfReference(final String figure, final double own, final double reference, final double goal)
    {
        return new MetaRow(figure, own, reference, goal, true);
    }

    private double judged()
    {
        return Double.isNaN(reference) ? own : own / reference;
    }

    boolean isReached()
    {
        return Double.isNaN(goal) || (isAtLeast ? judged() >= goal : judged() <= goal);
    }

    static String head()
    {
        return String.format(Locale.ROOT, "%-38s %14s %14s %8s %10s", "figure", "own", "reference", "ratio", "goal");
    }

    String line()
    {
        final boolean isAlone = Double.isNaN(reference);
        return String.format(Locale.ROOT, LINE, figure, own,
            isAlone ? "" : String.format(Locale.ROOT, "%,.1f", reference),
            isAlone ? "" : String.format(Locale.ROOT, "%.2f", judged()),
            Double.isNaN(goal) ? "" : String.format(Locale.ROOT, "%s %,.1f", isAtLeast ? ">=" : "<=", goal),
            isReached() ? "" : " MISSED").stripTrailing();
    }

    Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", figure);
        fields.put("own", own);
        fields.put("reference", Double.isNaN(reference) ? null : reference);
        fields.put("ratio", Double.isNaN(reference) ? null : judged());
        fields.put(isAtLeast ? "goal_at_least" : "goal_at_most", Double.isNaN(goal) ? null : goal);
        fields.put("reached", Double.isNaN(goal) ? null : isReached());
        return fields;
    }
}
