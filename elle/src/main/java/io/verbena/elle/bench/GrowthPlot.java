package io.verbena.elle.bench;

import io.verbena.elle.plot.SvgImage;
import io.verbena.elle.plot.SvgImage.Anchor;

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

    private final SvgImage image = new SvgImage(WIDTH, HEIGHT);
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
        return image.end();
    }

    private void axes()
    {
        for (double length = minLength; length <= maxLength * 1.01; length = next(length))
        {
            image.gridLine(x(length), TOP, x(length), HEIGHT - BOTTOM);
            image.text(x(length), HEIGHT - BOTTOM + 16, Anchor.MIDDLE, String.format(Locale.ROOT, "%,.0f", length));
        }
        for (double ms = minMs; ms <= maxMs * 1.01; ms = next(ms))
        {
            image.gridLine(LEFT, y(ms), WIDTH - RIGHT, y(ms));
            image.text(LEFT - 6, y(ms) + 4, Anchor.END, String.format(Locale.ROOT, "%,.0f ms", ms));
        }
        image.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, Anchor.MIDDLE,
            "operations or transactions in the history");
    }

    private void line(final String name, final List<BenchmarkRow> rows, final int index)
    {
        final String colour = SvgImage.colour(index);
        final List<SvgImage.Point> points = rows.stream()
            .map(row -> new SvgImage.Point(x(row.operationsCount()), y(row.elapsedMs()))).toList();
        points.forEach(point -> image.dot(point, colour));
        image.curve(points, colour);
        image.legend(LEFT, 18 + 16 * index, colour, name);
    }

    /** From the lower left corner, as far as it stays inside: as steep as time in proportion to length. */
    private void proportional(final int index)
    {
        final double factor = Math.min(maxLength / minLength, maxMs / minMs);
        image.dashedLine(x(minLength), y(minMs), x(minLength * factor), y(minMs * factor));
        image.note(LEFT, 18 + 16 * index, "dashed: in proportion to the length");
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
}
