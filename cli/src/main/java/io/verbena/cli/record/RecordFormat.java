package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.nio.file.Path;
import java.util.Locale;

/** How a file of records is written: as {@code docs/commands.md} describes. */
enum RecordFormat
{
    JSONL, CSV;

    /** The one asked for, or the one that the file's name ends with. */
    static RecordFormat of(final RecordFormat asked, final Path file)
    {
        final String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        if (null != asked)
        {
            return asked;
        }
        if (name.endsWith(".csv"))
        {
            return CSV;
        }
        if (name.endsWith(".jsonl") || name.endsWith(".ndjson") || name.endsWith(".json"))
        {
            return JSONL;
        }
        throw new CommandFailedException(
            ExitStatus.USAGE, "format of " + file + " not known by its name: give --format jsonl or csv", null);
    }
}
