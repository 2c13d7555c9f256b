package io.verbena.load.verbs;

import java.util.List;
import java.util.Locale;

/** Draws throughput over connections: one SVG image, both axes linear from 0, a line for each series. Stateless. */
public final class QpScalingPlot
{
    private static final int WIDTH = 760;
    private static final int HEIGHT = 420;
    private static final int LEFT = 70;
    private static final int RIGHT = 30;
    private static final int TOP = 86;
    private static final int BOTTOM = 50;
    private static final int DIVISIONS = 5;
    private static final String[] COLOURS = {"#c2571a", "#1b6ca8", "#3c8a4e"};
    /** In the order of {@link QpScaling.Series}. */
    private static final String[] NAMES = {
        "one queue pair per connection", "queue pairs shared (one per machine)",
        "one DC initiator (changes its target with most READs)"};

    private final StringBuilder svg = new StringBuilder();
    private final double mostConnections;
    private final double mostGigabits;

    private QpScalingPlot(final List<QpScaling.Point> points)
    {
        mostConnections = points.stream().mapToInt(QpScaling.Point::connections).max().orElse(1);
        final double most = points.stream().mapToDouble(QpScaling.Point::gigabitsPerSecond).max().orElse(1);
        final double power = Math.pow(10, Math.floor(Math.log10(most)));
        mostGigabits = Math.ceil(most / power) * power;
    }

    /**
     * Draws it.
     *
     * @param points       of all series, in the order of their connections.
     * @param readBytes    of each READ.
     * @param cacheEntries of the modelled NIC, marked.
     * @return the image, as the text of an SVG file.
     */
    public static String of(final List<QpScaling.Point> points, final int readBytes, final int cacheEntries)
    {
        final QpScalingPlot plot = new QpScalingPlot(points);
        plot.add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" " +
            "font-size=\"12\">", WIDTH, HEIGHT);
        plot.add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>", WIDTH, HEIGHT);
        plot.add("<text x=\"%d\" y=\"18\" font-size=\"14\">READs of %,d bytes from %d machines, predicted</text>",
            LEFT, readBytes, QpScaling.TARGETS);
        plot.axes();
        plot.mark(cacheEntries);
        for (final QpScaling.Series series : QpScaling.Series.values())
        {
            plot.line(points.stream().filter(point -> point.series() == series).toList(), series.ordinal());
        }
        return plot.svg.append("</svg>\n").toString();
    }

    private void axes()
    {
        for (int i = 0; i <= DIVISIONS; i++)
        {
            final double connections = mostConnections * i / DIVISIONS;
            final double gigabits = mostGigabits * i / DIVISIONS;
            add("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#ddd\"/>",
                x(connections), TOP, x(connections), HEIGHT - BOTTOM);
            add("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%,.0f</text>",
                x(connections), HEIGHT - BOTTOM + 16, connections);
            add("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>",
                LEFT, y(gigabits), WIDTH - RIGHT, y(gigabits));
            add("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s Gb/s</text>",
                LEFT - 6, y(gigabits) + 4, String.format(Locale.ROOT, mostGigabits < 5 ? "%.1f" : "%.0f", gigabits));
        }
        add("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">connections of one machine</text>",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
    }

    private void mark(final int cacheEntries)
    {
        if (cacheEntries <= mostConnections)
        {
            add("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>",
                x(cacheEntries), TOP, x(cacheEntries), HEIGHT - BOTTOM);
            add("<text x=\"%.1f\" y=\"%d\" fill=\"#666\">contexts that the NIC holds: %d</text>",
                x(cacheEntries) + 6, HEIGHT - BOTTOM - 8, cacheEntries);
        }
    }

    private void line(final List<QpScaling.Point> points, final int series)
    {
        final StringBuilder path = new StringBuilder();
        for (final QpScaling.Point point : points)
        {
            final double x = x(point.connections());
            final double y = y(point.gigabitsPerSecond());
            path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
            add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>", x, y, COLOURS[series]);
        }
        add("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>",
            path.toString().strip(), COLOURS[series]);
        add("<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>", LEFT, 38 + 16 * series, COLOURS[series], NAMES[series]);
    }

    private double x(final double connections)
    {
        return LEFT + (WIDTH - LEFT - RIGHT) * connections / mostConnections;
    }

    private double y(final double gigabits)
    {
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * gigabits / mostGigabits;
    }

    private void add(final String format, final Object... arguments)
    {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }
}
