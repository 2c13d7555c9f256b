package io.verbena.cli.console;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file that an option names for results. Opened before the work, because nobody wants to hear after it that there is
 * nowhere to write to.
 */
public final class OutputFile
{
    private final String option;
    private final Path file;

    private OutputFile(final String option, final Path file)
    {
        this.option = option;
        this.file = file;
    }

    /** Makes sure that the file can be written, without changing what is in it; a null file is written nowhere. */
    public static OutputFile open(final String option, final Path file)
    {
        final OutputFile output = new OutputFile(option, file);
        if (file != null)
        {
            try
            {
                Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
            }
            catch (final IOException ex)
            {
                throw output.cannotWrite(ex);
            }
        }
        return output;
    }

    public void write(final String text)
    {
        if (file != null)
        {
            try
            {
                Files.writeString(file, text);
            }
            catch (final IOException ex)
            {
                throw cannotWrite(ex);
            }
        }
    }

    private CommandFailedException cannotWrite(final IOException ex)
    {
        return new CommandFailedException(ExitStatus.CANNOT_CREATE,
            option + " " + file + ": cannot be written (" + FileErrors.reason(ex) + ")", ex);
    }
}
