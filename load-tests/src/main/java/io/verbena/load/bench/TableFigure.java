package io.verbena.load.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One figure of the table benchmark.
 *
 * @param name     what was measured.
 * @param value    of this store, in {@code unit}.
 * @param unit     of both values.
 * @param bare     the same without a store, or in another one, in {@code unit}; NaN where there is nothing to compare
 *                 with.
 * @param judged   what the goal speaks of: the ratio of the two where there are two, else the value.
 * @param goal     bound of what is judged; NaN where there is none.
 * @param isAtMost whether the goal is an upper bound.
 */
public record TableFigure(
    String name, double value, String unit, double bare, double judged, double goal, boolean isAtMost)
{
    static TableFigure ratio(final String name, final double valueNs, final double bareNs, final double goal)
    {
        return new TableFigure(name, valueNs, "ns", bareNs, valueNs / bareNs, goal, true);
    }

    /** Against another store: how many times as long that one takes. */
    static TableFigure faster(final String name, final double valueNs, final double otherNs, final double goal)
    {
        return new TableFigure(name, valueNs, "ns", otherNs, otherNs / valueNs, goal, false);
    }

    /** Reported beside the others, without a goal. */
    static TableFigure reported(final String name, final double valueNs, final double bareNs)
    {
        return new TableFigure(name, valueNs, "ns", bareNs, valueNs / bareNs, Double.NaN, true);
    }

    static TableFigure of(
        final String name, final double value, final String unit, final double goal, final boolean isAtMost)
    {
        return new TableFigure(name, value, unit, Double.NaN, value, goal, isAtMost);
    }

    /** @return whether the goal was reached. */
    public boolean isReached()
    {
        return Double.isNaN(goal) || (isAtMost ? judged <= goal : judged >= goal);
    }

    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", name);
        fields.put("value", value);
        fields.put("unit", unit);
        fields.put("bare", bare);
        fields.put("judged", judged);
        fields.put("goal", goal);
        fields.put("goal_is", isAtMost ? "at_most" : "at_least");
        fields.put("reached", isReached());
        return fields;
    }
}
