package io.verbena.cli.console;

import io.verbena.load.report.Progress;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What is known of the place where output goes. Stateless.
 */
public final class Terminal
{
    private Terminal()
    {
    }

    /** @return whether a person types what a command reads, and reads what it prints. */
    public static boolean isInteractive()
    {
        return isTerminal("/proc/self/fd/0") && isStandardOutput();
    }

    /** @return whether standard output is a terminal; the JDK knows only input and output together. */
    static boolean isStandardOutput()
    {
        return isTerminal("/proc/self/fd/1");
    }

    private static boolean isTerminal(final String file)
    {
        try
        {
            final String place = Files.readSymbolicLink(Path.of(file)).toString();
            return place.startsWith("/dev/pts/") || place.startsWith("/dev/tty") || "/dev/console".equals(place);
        }
        catch (final IOException ex)
        {
            final Console console = System.console();
            return null != console && console.isTerminal();
        }
    }

    /**
     * Progress on standard error, as fits it.
     *
     * @return on a terminal one line that is written over, else lines.
     */
    public static Progress progress()
    {
        final Console console = System.console();
        return console != null && console.isTerminal() && !"dumb".equals(System.getenv("TERM")) ?
            Progress.onTerminal(System.err, columns()) : Progress.plain(System.err);
    }

    /** @return progress as one line, where standard error is a terminal that can show it; else null. */
    static Progress watched()
    {
        return isTerminal("/proc/self/fd/2") && !"dumb".equals(System.getenv("TERM")) ?
            Progress.onTerminal(System.err, columns()) : null;
    }

    // The JDK does not know the width of a terminal; stty does, on every Unix. Without it: 0, not known.
    private static int columns()
    {
        try
        {
            final Process process = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty")).start();
            final String size = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return process.waitFor() == 0 ? Integer.parseInt(size.substring(size.indexOf(' ') + 1)) : 0;
        }
        catch (final IOException | NumberFormatException ex)
        {
            return 0;
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            return 0;
        }
    }
}
