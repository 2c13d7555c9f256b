package io.verbena.load.bench;

import io.verbena.elle.plot.SvgImage;
import io.verbena.elle.plot.SvgImage.Anchor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Draws rates over time, and below the number of subtables over the same time: one SVG image, a line for each table.
 * One image; not thread-safe.
 */
public final class GrowthChart
{
    private static final int WIDTH = 860;
    private static final int HEIGHT = 520;
    private static final int LEFT = 90;
    private static final int RIGHT = 30;
    private static final int TOP = 56;
    private static final int BOTTOM = 50;
    /** Between the panels, and height of the lower one. */
    private static final int GAP = 40;
    private static final int LOWER_HEIGHT = 110;
    private static final int UPPER_END = HEIGHT - BOTTOM - LOWER_HEIGHT - GAP;
    private static final int MOST_TICKS = 6;

    /** A panel: where it is drawn, and which values go up to its upper edge. */
    private record Panel(int top, int bottom, double most, String label)
    {
        private double y(final double value)
        {
            return bottom - (bottom - top) * value / most;
        }
    }

    private final SvgImage image = new SvgImage(WIDTH, HEIGHT);
    private final double mostSeconds;

    private GrowthChart(final double mostSeconds)
    {
        this.mostSeconds = mostSeconds;
    }

    /**
     * Draws samples.
     *
     * @param samples in the order of time for each table.
     * @return the image, as the text of an SVG file.
     */
    public static String of(final List<GrowthSample> samples)
    {
        final Map<String, List<GrowthSample>> tables = new LinkedHashMap<>();
        samples.forEach(sample -> tables.computeIfAbsent(sample.table(), name -> new ArrayList<>()).add(sample));
        return new GrowthChart(most(samples, GrowthSample::elapsedS)).draw(samples, tables);
    }

    private static double most(final List<GrowthSample> samples, final ToDoubleFunction<GrowthSample> value)
    {
        return Math.max(samples.stream().mapToDouble(value).max().orElse(1), 1e-9);
    }

    private String draw(final List<GrowthSample> samples, final Map<String, List<GrowthSample>> tables)
    {
        final Panel rates = new Panel(TOP, UPPER_END, ceiling(most(samples, GrowthSample::operationsPerS)),
            "operations in a second");
        final Panel subtables = new Panel(UPPER_END + GAP, HEIGHT - BOTTOM,
            ceiling(most(samples, GrowthSample::subtables)), "subtables");
        axes(rates);
        axes(subtables);
        int index = 0;
        for (final Map.Entry<String, List<GrowthSample>> table : tables.entrySet())
        {
            final String colour = SvgImage.colour(index);
            line(rates, table.getValue(), GrowthSample::operationsPerS, colour);
            line(subtables, table.getValue(), GrowthSample::subtables, colour);
            image.legend(LEFT, 18 + 16 * index, colour, legend(table.getKey(), table.getValue()));
            index++;
        }
        image.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, Anchor.MIDDLE, "seconds");
        return image.end();
    }

    private static String legend(final String table, final List<GrowthSample> samples)
    {
        final GrowthSample last = samples.getLast();
        return String.format(Locale.ROOT, "%s: up to %,.0f records in %,.0f subtables; %,d in %,d after %.1f s",
            table.replace('_', ' '), most(samples, GrowthSample::records),
            most(samples, GrowthSample::subtables), last.records(), last.subtables(), last.elapsedS());
    }

    private void axes(final Panel panel)
    {
        final double step = step(mostSeconds);
        for (double seconds = 0; seconds <= mostSeconds; seconds += step)
        {
            image.gridLine(x(seconds), panel.top, x(seconds), panel.bottom);
            image.text(x(seconds), panel.bottom + 16, Anchor.MIDDLE, number(seconds, step));
        }
        final double rise = step(panel.most);
        for (double value = 0; value <= panel.most * 1.001; value += rise)
        {
            image.gridLine(LEFT, panel.y(value), WIDTH - RIGHT, panel.y(value));
            image.text(LEFT - 6, panel.y(value) + 4, Anchor.END, number(value, rise));
        }
        image.note(LEFT + 6, panel.top + 14, panel.label);
    }

    private void line(
        final Panel panel, final List<GrowthSample> samples, final ToDoubleFunction<GrowthSample> value,
        final String colour)
    {
        image.curve(samples.stream().map(sample ->
            new SvgImage.Point(x(sample.elapsedS()), panel.y(value.applyAsDouble(sample)))).toList(), colour);
    }

    private double x(final double seconds)
    {
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / mostSeconds;
    }

    private static String number(final double value, final double step)
    {
        return String.format(Locale.ROOT, step < 1 ? "%,.2f" : "%,.0f", value);
    }

    /** @return 1, 2 or 5 times a power of ten, of which few make up the whole. */
    private static double step(final double whole)
    {
        final double power = Math.pow(10, Math.floor(Math.log10(whole / MOST_TICKS)));
        final double lead = whole / MOST_TICKS / power;
        return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
    }

    private static double ceiling(final double value)
    {
        final double step = step(value);
        return Math.ceil(value / step) * step;
    }
}
