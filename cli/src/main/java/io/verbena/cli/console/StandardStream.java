package io.verbena.cli.console;

import java.nio.file.Path;

/** What the name {@code -} stands for where a command takes a file. Stateless. */
public final class StandardStream
{
    private static final Path NAME = Path.of("-");

    private StandardStream()
    {
    }

    /** @return the file to read. */
    public static Path input(final Path file)
    {
        return NAME.equals(file) ? Path.of("/dev/stdin") : file;
    }

    /** @return the file to write. */
    public static Path output(final Path file)
    {
        return NAME.equals(file) ? Path.of("/dev/stdout") : file;
    }
}
