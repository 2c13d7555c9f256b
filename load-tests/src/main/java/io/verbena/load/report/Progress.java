package io.verbena.load.report;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What a run shows of itself while it lasts: on a terminal one line with a bar, written over and over; elsewhere a line
 * every few seconds. Thread-safe.
 */
public final class Progress
{
    private static final long PLAIN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long LEAST_ELAPSED_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long SECONDS_PER_MINUTE = 60;
    private static final int MIN_COLUMNS = 40;
    private static final int BAR_WIDTH = 24;
    private static final int DEFAULT_COLUMNS = 80;

    private final PrintStream out;
    private final int columns;
    private boolean isLineOpen;
    private long lastPlainNs;
    private String lastPhase = "";

    private Progress(final PrintStream out, final int columns)
    {
        this.out = out;
        this.columns = columns;
    }

    /**
     * For a terminal.
     *
     * @param out     the terminal.
     * @param columns its width, 0 where it is not known.
     * @return progress as one line that fits.
     */
    public static Progress onTerminal(final PrintStream out, final int columns)
    {
        return new Progress(out, Math.max(MIN_COLUMNS, columns == 0 ? DEFAULT_COLUMNS : columns));
    }

    /**
     * For a file or a pipe.
     *
     * @param out where lines go.
     * @return progress as lines.
     */
    public static Progress plain(final PrintStream out)
    {
        return new Progress(out, 0);
    }

    /**
     * Shows how far a phase is.
     *
     * @param nowNs    the time.
     * @param phase    one word.
     * @param fraction done, 0 to 1.
     * @param text     figures.
     */
    public synchronized void update(final long nowNs, final String phase, final double fraction, final String text)
    {
        final int percent = (int)(100 * Math.clamp(fraction, 0.0, 1.0));
        if (columns > 0)
        {
            final int filled = (int)(BAR_WIDTH * Math.clamp(fraction, 0.0, 1.0));
            final String line = String.format(Locale.ROOT, "%-5s %s%s %3d%%  %s", phase, "█".repeat(filled),
                "░".repeat(BAR_WIDTH - filled), percent, text);
            out.print("\r" + fit(line));
            out.flush();
            isLineOpen = true;
        }
        else if (!phase.equals(lastPhase) || nowNs - lastPlainNs >= PLAIN_INTERVAL_NS || fraction >= 1)
        {
            out.printf(Locale.ROOT, "%-5s %3d%%  %s%n", phase, percent, text);
            lastPlainNs = nowNs;
            lastPhase = phase;
        }
    }

    /**
     * Shows how far a phase is that does the same again and again, how fast, and how long the rest takes at that rate.
     *
     * @param elapsedNs since the phase began, by the clock of {@code nowNs}.
     * @param nowNs     the time.
     * @param phase     one word.
     * @param fraction  done, 0 to 1.
     * @param count     done.
     * @param noun      of what, for more than one.
     */
    public void update(
        final long elapsedNs, final long nowNs, final String phase, final double fraction, final long count,
        final String noun)
    {
        update(nowNs, phase, fraction, Units.count(count) + ' ' + noun + rate(elapsedNs, fraction, count));
    }

    /** @return nothing at the beginning, when it would be a guess. */
    private static String rate(final long elapsedNs, final double fraction, final long count)
    {
        if (elapsedNs < LEAST_ELAPSED_NS || fraction <= 0)
        {
            return "";
        }
        final double elapsedS = (double)elapsedNs / TimeUnit.SECONDS.toNanos(1);
        final long leftS = Math.round(elapsedS * (1 - Math.min(1, fraction)) / fraction);
        return ", " + Units.count(Math.round(count / elapsedS)) + "/s, " + (leftS < SECONDS_PER_MINUTE ? leftS + " s" :
            leftS / SECONDS_PER_MINUTE + " min " + leftS % SECONDS_PER_MINUTE + " s") + " left";
    }

    /**
     * Says something that stays.
     *
     * @param text one line.
     */
    public synchronized void say(final String text)
    {
        clear();
        out.println(text);
    }

    /**
     * Removes the line that is written over and over, where there is one.
     */
    public synchronized void clear()
    {
        if (isLineOpen)
        {
            out.print("\r" + " ".repeat(columns - 1) + "\r");
            out.flush();
            isLineOpen = false;
        }
    }

    // One column less than there are: a line as wide as the terminal would wrap on some.
    private String fit(final String line)
    {
        final int width = columns - 1;
        return line.length() > width ? line.substring(0, width) : line + " ".repeat(width - line.length());
    }
}
