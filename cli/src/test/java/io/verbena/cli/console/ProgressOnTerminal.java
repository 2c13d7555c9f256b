package io.verbena.cli.console;

import io.verbena.load.report.Progress;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Progress on a terminal that keeps what it was sent; its clock stands still. */
public final class ProgressOnTerminal
{
    private static final int COLUMNS = 100;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final WatchedProgress progress;

    /** As {@link WatchedProgress#begin}. */
    public ProgressOnTerminal(final String phase, final String noun)
    {
        progress = new WatchedProgress(
            Progress.onTerminal(new PrintStream(out, true, StandardCharsets.UTF_8), COLUMNS), phase, noun, () -> 0,
            Runnable::run);
    }

    /** @return what a command updates. */
    public WatchedProgress progress()
    {
        return progress;
    }

    /** @return what the terminal shows. */
    public String shown()
    {
        return out.toString(StandardCharsets.UTF_8).strip();
    }
}
