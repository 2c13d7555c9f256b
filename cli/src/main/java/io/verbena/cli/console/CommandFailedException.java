package io.verbena.cli.console;

/**
 * Ends a subcommand with one line for the user and an {@link ExitStatus}; the line names the value and the remedy.
 */
public final class CommandFailedException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    private final int exitStatus;

    /**
     * @param exitStatus see {@link ExitStatus}.
     * @param message    one line that names the value and the remedy.
     * @param cause      or null.
     */
    public CommandFailedException(final int exitStatus, final String message, final Throwable cause)
    {
        super(message, cause);
        this.exitStatus = exitStatus;
    }

    /** @return see {@link ExitStatus}. */
    public int exitStatus()
    {
        return exitStatus;
    }
}
