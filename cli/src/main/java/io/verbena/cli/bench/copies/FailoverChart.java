package io.verbena.cli.bench.copies;

import io.verbena.elle.plot.SvgImage;
import io.verbena.elle.plot.SvgImage.Anchor;
import io.verbena.elle.plot.SvgImage.Point;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Operations a second over time, with what was done to memory nodes. Filled by one thread, drawn by one afterwards. */
final class FailoverChart
{
    private static final int WIDTH = 860;
    private static final int HEIGHT = 320;
    private static final int LEFT = 80;
    private static final int RIGHT = 20;
    private static final int TOP = 60;
    private static final int BOTTOM = 50;
    private static final int LABELS = 3;
    private static final int LABEL_HEIGHT = 14;
    private static final int TICKS = 8;
    private static final int LINES = 5;

    private record Event(double atS, String what)
    {
    }

    private final List<Point> samples = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();

    /** Adds a rate. */
    void sample(final double atS, final double operationsPerS)
    {
        samples.add(new Point(atS, operationsPerS));
    }

    /** Adds what was done, in a word. */
    void event(final double atS, final String what)
    {
        events.add(new Event(atS, what));
    }

    /** @return the image, as the text of an SVG file; of one sample or more. */
    String draw()
    {
        final double mostS = samples.getLast().x();
        final double highest = samples.stream().mapToDouble(Point::y).max().orElse(1);
        final double rise = step(highest / LINES);
        final double most = Math.max(rise, rise * Math.ceil(highest / rise));
        final SvgImage image = new SvgImage(WIDTH, HEIGHT);
        final double stepS = step(mostS / TICKS);
        for (double atS = 0; atS <= mostS; atS += stepS)
        {
            image.gridLine(x(atS, mostS), TOP, x(atS, mostS), HEIGHT - BOTTOM);
            image.text(x(atS, mostS), HEIGHT - BOTTOM + 16, Anchor.MIDDLE, String.format(Locale.ROOT, "%,.0f", atS));
        }
        for (double rate = 0; rate <= most; rate += rise)
        {
            image.gridLine(LEFT, y(rate, most), WIDTH - RIGHT, y(rate, most));
            image.text(LEFT - 6, y(rate, most) + 4, Anchor.END, String.format(Locale.ROOT, "%,.0f", rate));
        }
        image.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, Anchor.MIDDLE, "seconds");
        image.note(8, TOP - 8, "operations a second");
        for (int i = 0; i < events.size(); i++)
        {
            // One beside the other they would cover each other.
            final double x = x(events.get(i).atS, mostS);
            image.dashedLine(x, TOP, x, HEIGHT - BOTTOM);
            image.text(x, LABEL_HEIGHT * (1 + i % LABELS), Anchor.MIDDLE, events.get(i).what);
        }
        image.curve(samples.stream().map((at) -> new Point(x(at.x(), mostS), y(at.y(), most))).toList(),
            SvgImage.colour(0));
        return image.end();
    }

    private static double x(final double atS, final double mostS)
    {
        return LEFT + (WIDTH - LEFT - RIGHT) * atS / mostS;
    }

    private static double y(final double rate, final double most)
    {
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / most;
    }

    /** @return 1, 2 or 5 times a power of ten, no less than the value. */
    private static double step(final double value)
    {
        final double power = Math.pow(10, Math.floor(Math.log10(Math.max(value, 1e-9))));
        final double lead = value / power;
        return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
    }
}
