package io.verbena.load.wire;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One figure of the wire benchmark.
 *
 * @param name      what was measured.
 * @param value     of the transport, in {@code unit}.
 * @param unit      of both values.
 * @param reference the same with plain UDP, in {@code unit}; NaN where there is nothing to compare with.
 * @param judged    what the goal speaks of: the ratio of the two where there are two, else the value.
 * @param goal      bound of what is judged; NaN where there is none.
 * @param isAtMost  whether the goal is an upper bound.
 * @param floor     what would be judged if plain UDP stood in the transport's place, measured in the same run; NaN
 *                  where that was not measured. Where it misses the goal no transport over UDP reaches it here.
 */
public record WireFigure(
    String name,
    double value,
    String unit,
    double reference,
    double judged,
    double goal,
    boolean isAtMost,
    double floor)
{
    /** What a line of the measuring process begins with that carries a figure. */
    static final String LINE = "figure ";
    /** What a line of it begins with that is for people. */
    static final String NOTE = "note ";

    static WireFigure ratio(
        final String name, final String unit, final double value, final double reference, final double most)
    {
        return new WireFigure(name, value, unit, reference, value / reference, most, true, Double.NaN);
    }

    static WireFigure atLeast(
        final String name, final String unit, final double value, final double reference, final double least)
    {
        return new WireFigure(name, value, unit, reference, value / reference, least, false, Double.NaN);
    }

    static WireFigure value(final String name, final String unit, final double value, final double most)
    {
        return new WireFigure(name, value, unit, Double.NaN, value, most, true, Double.NaN);
    }

    /** The same with a floor. */
    WireFigure withFloor(final double floor)
    {
        return new WireFigure(name, value, unit, reference, judged, goal, isAtMost, floor);
    }

    /** @return whether the goal was reached. */
    public boolean isReached()
    {
        return reaches(judged);
    }

    /** @return whether the goal can be reached here, as far as the floor says. */
    public boolean isReachable()
    {
        return Double.isNaN(floor) || reaches(floor);
    }

    private boolean reaches(final double value)
    {
        return Double.isNaN(goal) || (isAtMost ? value <= goal : value >= goal);
    }

    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", name);
        fields.put("value", value);
        fields.put("unit", unit);
        fields.put("reference", reference);
        fields.put("judged", judged);
        fields.put("goal", goal);
        fields.put("goal_is", isAtMost ? "at_most" : "at_least");
        fields.put("reached", isReached());
        fields.put("floor", floor);
        return fields;
    }

    String line()
    {
        return String.format(Locale.ROOT, "%s%s %s %s %s %s %s %s %s", LINE, name, value, unit, reference, judged, goal,
            isAtMost, floor);
    }

    static WireFigure parse(final String line)
    {
        final String[] words = line.substring(LINE.length()).split(" ");
        return new WireFigure(words[0], Double.parseDouble(words[1]), words[2], Double.parseDouble(words[3]),
            Double.parseDouble(words[4]), Double.parseDouble(words[5]), Boolean.parseBoolean(words[6]),
            Double.parseDouble(words[7]));
    }
}
