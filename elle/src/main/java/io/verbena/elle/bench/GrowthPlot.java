package io.verbena.elle.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws how the time of a check grows with the length of the history: one SVG image, both axes logarithmic, so that
 * growth in proportion to the length is a line as steep as the dashed one. Stateless.
 */
public final class GrowthPlot
{
    private static final int MIN_POINTS = 3;
    private static final int WIDTH = 760;
    private static final int HEIGHT = 420;
    private static final int LEFT = 70;
    private static final int RIGHT = 40;
    private static final int TOP = 60;
    private static final int BOTTOM = 50;
    private static final String[] COLOURS = {"#1b6ca8", "#c2571a", "#3b7d3b", "#7a4fa3"};

    private final StringBuilder svg = new StringBuilder();
    private double minLength = Double.MAX_VALUE;
    private double maxLength;
    private double minMs = Double.MAX_VALUE;
    private double maxMs;

    private GrowthPlot()
    {
    }

    /**
     * Draws all measurements that were made at {@value #MIN_POINTS} lengths or more.
     *
     * @param rows measured; those with the same name are one line, in the order of their lengths.
     * @return the image, as the text of an SVG file.
     */
    public static String of(final List<BenchmarkRow> rows)
    {
        final Map<String, List<BenchmarkRow>> lines = new LinkedHashMap<>();
        rows.forEach(row -> lines.computeIfAbsent(row.name(), name -> new ArrayList<>()).add(row));
        lines.values().removeIf(points -> points.size() < MIN_POINTS);
        final GrowthPlot plot = new GrowthPlot();
        lines.values().forEach(points -> points.forEach(plot::include));
        return plot.draw(lines);
    }

    private void include(final BenchmarkRow row)
    {
        minLength = Math.min(minLength, row.operationsCount());
        maxLength = Math.max(maxLength, row.operationsCount());
        minMs = Math.min(minMs, row.elapsedMs());
        maxMs = Math.max(maxMs, row.elapsedMs());
    }

    private String draw(final Map<String, List<BenchmarkRow>> lines)
    {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" " +
            "font-size=\"12\">", WIDTH, HEIGHT);
        add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>", WIDTH, HEIGHT);
        if (!lines.isEmpty())
        {
            minLength = floorOfAxis(minLength);
            maxLength = ceilingOfAxis(maxLength);
            minMs = floorOfAxis(minMs);
            maxMs = ceilingOfAxis(maxMs);
            axes();
            int index = 0;
            for (final Map.Entry<String, List<BenchmarkRow>> line : lines.entrySet())
            {
                line(line.getKey(), line.getValue(), index++);
            }
            proportional(index);
        }
        return svg.append("</svg>\n").toString();
    }

    private void axes()
    {
        for (double length = minLength; length <= maxLength * 1.01; length = next(length))
        {
            add("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#ddd\"/>",
                x(length), TOP, x(length), HEIGHT - BOTTOM);
            add("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%,.0f</text>",
                x(length), HEIGHT - BOTTOM + 16, length);
        }
        for (double ms = minMs; ms <= maxMs * 1.01; ms = next(ms))
        {
            add("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>",
                LEFT, y(ms), WIDTH - RIGHT, y(ms));
            add("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%,.0f ms</text>", LEFT - 6, y(ms) + 4, ms);
        }
        add("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">operations or transactions in the history</text>",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    }

    private void line(final String name, final List<BenchmarkRow> points, final int index)
    {
        final String colour = COLOURS[index % COLOURS.length];
        final StringBuilder path = new StringBuilder();
        for (final BenchmarkRow point : points)
        {
            path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(point.operationsCount()), y(point.elapsedMs())));
            add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>",
                x(point.operationsCount()), y(point.elapsedMs()), colour);
        }
        add("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>",
            path.toString().strip(), colour);
        add("<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>", LEFT, 18 + 16 * index, colour,
            name.replace("&", "&amp;").replace("<", "&lt;"));
    }

    /** From the lower left corner, as far as it stays inside: as steep as time in proportion to length. */
    private void proportional(final int index)
    {
        final double factor = Math.min(maxLength / minLength, maxMs / minMs);
        add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>",
            x(minLength), y(minMs), x(minLength * factor), y(minMs * factor));
        add("<text x=\"%d\" y=\"%d\" fill=\"#666\">dashed: in proportion to the length</text>", LEFT, 18 + 16 * index);
    }

    private double x(final double length)
    {
        return LEFT + (WIDTH - LEFT - RIGHT) * Math.log(length / minLength) / Math.log(maxLength / minLength);
    }

    private double y(final double ms)
    {
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.log(ms / minMs) / Math.log(maxMs / minMs);
    }

    /** Axes go by 1, 2, 5, 10. */
    private static double next(final double value)
    {
        final double power = Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        final double lead = value / power;
        return power * (lead < 1.5 ? 2 : lead < 3 ? 5 : 10);
    }

    private static double floorOfAxis(final double value)
    {
        double axis = Math.pow(10, Math.floor(Math.log10(value)));
        while (next(axis) <= value)
        {
            axis = next(axis);
        }
        return axis;
    }

    private static double ceilingOfAxis(final double value)
    {
        final double floor = floorOfAxis(value);
        return floor < value ? next(floor) : next(floor * 1.0001);
    }

    private void add(final String format, final Object... arguments)
    {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }
}
