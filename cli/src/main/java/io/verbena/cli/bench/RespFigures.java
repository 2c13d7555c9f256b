package io.verbena.cli.bench;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The rows of {@code bench resp}: printed as they come, and kept. Used by one thread. */
final class RespFigures
{
    private static final String HEAD = "%-32s %14s %14s %8s %8s  %s%n";
    private static final String ROW = "%-32s %14s %14s %8s %8s  %s%n";

    private final PrintWriter out;
    private final List<Map<String, Object>> rows = new ArrayList<>();
    private boolean isReached = true;

    RespFigures(final PrintWriter out)
    {
        this.out = out;
        out.printf(Locale.ROOT, HEAD, "figure", "verbena", "redis", "ratio", "goal", "");
    }

    /** A row whose ratio to Redis must not be less than the goal; NaN where a figure was not measured. */
    void atLeast(final String name, final String unit, final double own, final double redis, final double goal)
    {
        add(name, unit, own, redis, own / redis, ">= " + goal, goal, Double.isNaN(own / redis) ? null :
            own / redis >= goal);
    }

    /** A row whose ratio to Redis must not be more than the goal. */
    void atMost(final String name, final String unit, final double own, final double redis, final double goal)
    {
        add(name, unit, own, redis, own / redis, "<= " + goal, goal, Double.isNaN(own / redis) ? null :
            own / redis <= goal);
    }

    /** A row whose own figure must not be more than the goal. */
    void ownAtMost(final String name, final String unit, final double own, final double goal)
    {
        add(name, unit, own, Double.NaN, Double.NaN, "<= " + goal, goal, Double.isNaN(own) ? null : own <= goal);
    }

    /** A row without a goal. */
    void show(final String name, final String unit, final double own, final double redis)
    {
        add(name, unit, own, redis, own / redis, "", Double.NaN, null);
    }

    private void add(
        final String name, final String unit, final double own, final double redis, final double ratio,
        final String shownGoal, final double goal, final Boolean reached)
    {
        isReached &= !Boolean.FALSE.equals(reached);
        final Map<String, Object> row = new LinkedHashMap<>();
        row.put("figure", name);
        row.put("verbena_" + unit, own);
        row.put("redis_" + unit, redis);
        row.put("ratio", ratio);
        row.put("goal_" + (shownGoal.startsWith(">") ? "at_least" : "at_most"), goal);
        row.put("reached", reached);
        rows.add(row);
        final String verdict = shownGoal.isEmpty() ? "" : null == reached ? "not judged" : reached ? "" : "MISSED";
        out.printf(Locale.ROOT, ROW, name + '_' + unit, text("%,14.1f", own), text("%,14.1f", redis),
            text("%8.3f", ratio), shownGoal, verdict);
        out.flush();
    }

    private static String text(final String format, final double value)
    {
        return Double.isNaN(value) ? "" : String.format(Locale.ROOT, format, value);
    }

    /** @return the rows, for JSON. */
    List<Map<String, Object>> rows()
    {
        return rows;
    }

    /** @return whether no goal that was judged was missed. */
    boolean isReached()
    {
        return isReached;
    }
}
