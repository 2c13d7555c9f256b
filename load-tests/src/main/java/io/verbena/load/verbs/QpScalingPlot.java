package io.verbena.load.verbs;

import io.verbena.elle.plot.SvgImage;
import io.verbena.elle.plot.SvgImage.Anchor;

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
    /** In the order of {@link QpScaling.Series}. */
    private static final String[] NAMES = {
        "one queue pair per connection", "queue pairs shared (one per machine)",
        "one DC initiator (changes its target with most READs)"};

    private final SvgImage image = new SvgImage(WIDTH, HEIGHT);
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
        plot.image.title(LEFT, 18, String.format(Locale.ROOT, "READs of %,d bytes from %d machines, predicted",
            readBytes, QpScaling.TARGETS));
        plot.axes();
        plot.mark(cacheEntries);
        for (final QpScaling.Series series : QpScaling.Series.values())
        {
            plot.line(points.stream().filter(point -> point.series() == series).toList(), series.ordinal());
        }
        return plot.image.end();
    }

    private void axes()
    {
        for (int i = 0; i <= DIVISIONS; i++)
        {
            final double connections = mostConnections * i / DIVISIONS;
            final double gigabits = mostGigabits * i / DIVISIONS;
            image.gridLine(x(connections), TOP, x(connections), HEIGHT - BOTTOM);
            image.text(x(connections), HEIGHT - BOTTOM + 16, Anchor.MIDDLE,
                String.format(Locale.ROOT, "%,.0f", connections));
            image.gridLine(LEFT, y(gigabits), WIDTH - RIGHT, y(gigabits));
            image.text(LEFT - 6, y(gigabits) + 4, Anchor.END,
                String.format(Locale.ROOT, mostGigabits < 5 ? "%.1f Gb/s" : "%.0f Gb/s", gigabits));
        }
        image.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, Anchor.MIDDLE, "connections of one machine");
    }

    private void mark(final int cacheEntries)
    {
        if (cacheEntries <= mostConnections)
        {
            image.dashedLine(x(cacheEntries), TOP, x(cacheEntries), HEIGHT - BOTTOM);
            image.note(
                x(cacheEntries) + 6, HEIGHT - BOTTOM - 8, "contexts that the NIC holds: " + cacheEntries);
        }
    }

    private void line(final List<QpScaling.Point> points, final int series)
    {
        final String colour = SvgImage.colour(series);
        final List<SvgImage.Point> places = points.stream()
            .map(point -> new SvgImage.Point(x(point.connections()), y(point.gigabitsPerSecond()))).toList();
        places.forEach(place -> image.dot(place, colour));
        image.curve(places, colour);
        image.legend(LEFT, 38 + 16 * series, colour, NAMES[series]);
    }

    private double x(final double connections)
    {
        return LEFT + (WIDTH - LEFT - RIGHT) * connections / mostConnections;
    }

    private double y(final double gigabits)
    {
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * gigabits / mostGigabits;
    }
}
