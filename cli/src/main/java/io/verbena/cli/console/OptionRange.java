package io.verbena.cli.console;

/** Holds the value of an option to its range. Stateless. */
public final class OptionRange
{
    private OptionRange()
    {
    }

    /**
     * Does nothing if a value is in its range.
     *
     * @param option as the user types it, with its dashes.
     * @param value  given for it.
     * @param least  that is allowed.
     * @param most   that is allowed.
     * @throws CommandFailedException that names the option, the value and the range, with {@link ExitStatus#USAGE}.
     */
    public static void check(final String option, final long value, final long least, final long most)
    {
        if (value < least || value > most)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, option + ' ' + value + ": must be " + least + " to " + most, null);
        }
    }
}
