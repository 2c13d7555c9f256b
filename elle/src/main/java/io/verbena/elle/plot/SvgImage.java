package io.verbena.elle.plot;

import java.util.List;
import java.util.Locale;

/**
 * One SVG image of lines, points and text on white, for plots. Places are in pixels from the upper left corner. Not
 * thread-safe.
 */
public final class SvgImage
{
    private static final String[] COLOURS = {"#1b6ca8", "#c2571a", "#3b7d3b", "#7a4fa3"};
    private static final String GREY = "#666";

    /**
     * A place in the image.
     *
     * @param x to the right.
     * @param y downwards.
     */
    public record Point(double x, double y)
    {
    }

    /** Which part of a text is at its place. */
    public enum Anchor
    {
        /** Its beginning. */
        START,
        /** Its middle. */
        MIDDLE,
        /** Its end. */
        END
    }

    private final StringBuilder svg = new StringBuilder();

    /**
     * @param width  in pixels.
     * @param height in pixels.
     */
    public SvgImage(final int width, final int height)
    {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" " +
            "font-size=\"12\">", width, height);
        add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>", width, height);
    }

    /**
     * @param series from 0.
     * @return its colour; the colours repeat after four.
     */
    public static String colour(final int series)
    {
        return COLOURS[series % COLOURS.length];
    }

    /** Draws a faint line, for a grid. */
    public void gridLine(final double x1, final double y1, final double x2, final double y2)
    {
        add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>", x1, y1, x2, y2);
    }

    /** Draws a dashed line, for a limit or a comparison. */
    public void dashedLine(final double x1, final double y1, final double x2, final double y2)
    {
        add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>",
            x1, y1, x2, y2);
    }

    /** Writes black text, for the values of an axis. */
    public void text(final double x, final double y, final Anchor anchor, final String text)
    {
        add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor.name().toLowerCase(Locale.ROOT),
            escaped(text));
    }

    /** Writes larger text. */
    public void title(final double x, final double y, final String text)
    {
        add("<text x=\"%.1f\" y=\"%.1f\" font-size=\"14\">%s</text>", x, y, escaped(text));
    }

    /** Writes grey text. */
    public void note(final double x, final double y, final String text)
    {
        legend(x, y, GREY, text);
    }

    /** Writes text in a colour, such as the name of a series. */
    public void legend(final double x, final double y, final String colour, final String text)
    {
        add("<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>", x, y, colour, escaped(text));
    }

    /** Draws a dot. */
    public void dot(final Point at, final String colour)
    {
        add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>", at.x, at.y, colour);
    }

    /** Draws straight lines from each point to the next. */
    public void curve(final List<Point> points, final String colour)
    {
        final StringBuilder path = new StringBuilder();
        points.forEach(point -> path.append(String.format(Locale.ROOT, "%.1f,%.1f ", point.x, point.y)));
        add("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>",
            path.toString().strip(), colour);
    }

    /**
     * Ends the image.
     *
     * @return the text of an SVG file.
     */
    public String end()
    {
        return svg.append("</svg>\n").toString();
    }

    private static String escaped(final String text)
    {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }

    private void add(final String format, final Object... arguments)
    {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }
}
