package io.verbena.load.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Histories that nobody asked to keep, in the folder for temporary files. A process that is killed leaves its own; the
 * next one removes it, which its name allows: it says whose it is. Stateless.
 */
final class TemporaryHistory
{
    private static final String PREFIX = "verbena-history-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d{1,18})-.*");

    private TemporaryHistory()
    {
    }

    /** A new file, removed when the process ends in order; the caller removes it before, when it can. */
    static Path create() throws IOException
    {
        final Path history = Files.createTempFile(PREFIX + ProcessHandle.current().pid() + '-', ".history");
        history.toFile().deleteOnExit();
        removeLeft(history.getParent());
        return history;
    }

    /** Removes histories of processes that have ended; those of other users stay. */
    static void removeLeft(final Path folder)
    {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, PREFIX + '*'))
        {
            for (final Path file : files)
            {
                final Matcher name = NAME.matcher(file.getFileName().toString());
                if (name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty())
                {
                    removeIfOurs(file);
                }
            }
        }
        catch (final IOException | UncheckedIOException ex)
        {
            // They stay.
        }
    }

    private static void removeIfOurs(final Path file)
    {
        try
        {
            Files.deleteIfExists(file);
        }
        catch (final IOException ex)
        {
            // Somebody else's, or removed by another process at the same time.
        }
    }
}
