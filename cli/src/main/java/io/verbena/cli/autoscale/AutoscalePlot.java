package io.verbena.cli.autoscale;

import java.util.List;
import java.util.Locale;

/** Load, nodes and 99th percentile over time, one above the other, as SVG for light and dark pages. Stateless. */
final class AutoscalePlot
{
    private static final int WIDTH = 860;
    private static final int LEFT = 90;
    private static final int RIGHT = 830;
    private static final int PANEL = 120;
    private static final int GAP = 50;
    private static final int TOP = 50;
    private static final int HEIGHT = TOP + 3 * (PANEL + GAP);
    private static final String STYLE = """
        <style>
        .page { fill: #fff } text { fill: #222 } .grid { stroke: #ddd } .line { fill: none; stroke-width: 1.6 }
        .load { stroke: #1f6fb4 } .nodes { stroke: #2a8a3e } .p99 { stroke: #b4371f } .goal { stroke: #888 }
        @media (prefers-color-scheme: dark) {
        .page { fill: #16191d } text { fill: #ddd } .grid { stroke: #3a3f46 }
        .load { stroke: #6cb2f0 } .nodes { stroke: #6fce84 } .p99 { stroke: #f08a72 } }
        </style>
        """;

    private AutoscalePlot()
    {
    }

    /**
     * Draws.
     *
     * @param title     above it.
     * @param windowS   length of a window.
     * @param load      operations a second, of each window.
     * @param nodes     of each window.
     * @param p99Ms     of each window.
     * @param goalMs    a line in the lowest panel.
     * @return the document.
     */
    static String of(
        final String title, final double windowS, final List<Double> load, final List<Double> nodes,
        final List<Double> p99Ms, final double goalMs)
    {
        final StringBuilder svg = new StringBuilder();
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ").append(WIDTH).append(' ')
            .append(HEIGHT).append("\" font-family=\"sans-serif\" font-size=\"12\">\n").append(STYLE)
            .append("<rect class=\"page\" width=\"").append(WIDTH).append("\" height=\"").append(HEIGHT)
            .append("\"/>\n<text x=\"").append(LEFT).append("\" y=\"22\" font-size=\"14\">")
            .append(title.replace("&", "&amp;"))
            .append("</text>\n");
        panel(svg, 0, "operations asked for in a second", "load", windowS, load, Double.NaN, false);
        panel(svg, 1, "compute nodes", "nodes", windowS, nodes, Double.NaN, true);
        panel(svg, 2, "99th percentile, ms (from the time at which an operation was due); dashes: twice the one before",
            "p99", windowS, p99Ms, goalMs, false);
        svg.append(text((LEFT + RIGHT) / 2.0, HEIGHT - 6, "middle", "seconds"));
        return svg.append("</svg>\n").toString();
    }

    private static void panel(
        final StringBuilder svg, final int number, final String caption, final String kind, final double windowS,
        final List<Double> values, final double goal, final boolean isStepped)
    {
        final double bottom = TOP + PANEL + number * (PANEL + GAP);
        final double most = top(values.stream().mapToDouble(Double::doubleValue).max().orElse(1));
        final double lengthS = Math.max(windowS, values.size() * windowS);
        for (int i = 0; i <= 4; i++)
        {
            final double y = bottom - PANEL * i / 4.0;
            svg.append(line(LEFT, y, RIGHT, y, "grid"));
            svg.append(text(LEFT - 6, y + 4, "end", String.format(Locale.ROOT, most < 8 ? "%.1f" : "%,.0f",
                most * i / 4)));
        }
        final double stepS = lengthS > 60 ? 10 : 5;
        for (double s = 0; s <= lengthS; s += stepS)
        {
            final double x = LEFT + (RIGHT - LEFT) * s / lengthS;
            svg.append(line(x, bottom - PANEL, x, bottom, "grid"));
            svg.append(text(x, bottom + 15, "middle", String.format(Locale.ROOT, "%.0f", s)));
        }
        svg.append(text(LEFT, bottom - PANEL - 8, "start", caption));
        if (!Double.isNaN(goal))
        {
            final double y = bottom - PANEL * Math.min(1, goal / most);
            svg.append(line(LEFT, y, RIGHT, y, "goal\" stroke-dasharray=\"5 4"));
        }
        final StringBuilder points = new StringBuilder();
        double lastY = Double.NaN;
        for (int i = 0; i < values.size(); i++)
        {
            final double x = LEFT + (RIGHT - LEFT) * i * windowS / lengthS;
            final double y = bottom - PANEL * values.get(i) / most;
            if (isStepped && !Double.isNaN(lastY))
            {
                points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, lastY));
            }
            points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
            lastY = y;
        }
        svg.append("<polyline class=\"line ").append(kind).append("\" points=\"").append(points.toString().strip())
            .append("\"/>\n");
    }

    /** A round number that is not less. */
    private static double top(final double most)
    {
        final double power = Math.pow(10, Math.floor(Math.log10(Math.max(1e-9, most))));
        for (final double factor : new double[]{1, 2, 4, 8, 10})
        {
            if (factor * power >= most)
            {
                return factor * power;
            }
        }
        return 10 * power;
    }

    private static String line(final double x1, final double y1, final double x2, final double y2, final String kind)
    {
        return String.format(Locale.ROOT, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>%n",
            x1, y1, x2, y2, kind);
    }

    private static String text(final double x, final double y, final String anchor, final String content)
    {
        return String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
            x, y, anchor, content);
    }
}
