package io.verbena.load;

/**
 * A run cannot be made as asked; one line that names the value and the remedy.
 */
public final class LoadException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** Where the fault lies. */
    public enum Reason
    {
        /** In what was asked for. */
        USAGE,
        /** In an input file. */
        BAD_DATA,
        /** In the machine: not enough memory in {@code /dev/shm}, a file that cannot be written. */
        CANNOT_CREATE,
        /** In what is not there: the device of the fabric, its library. */
        UNAVAILABLE,
        /** The store failed before the run proper, while it was started or loaded. */
        FAILED
    }

    private final Reason reason;

    /**
     * Without a cause.
     *
     * @param reason  where the fault lies.
     * @param message one line.
     */
    public LoadException(final Reason reason, final String message)
    {
        this(reason, message, null);
    }

    /**
     * With what was met.
     *
     * @param reason  where the fault lies.
     * @param message one line.
     * @param cause   what was met, or null.
     */
    public LoadException(final Reason reason, final String message, final Throwable cause)
    {
        super(message, cause);
        this.reason = reason;
    }

    /**
     * Where the fault lies.
     *
     * @return the reason, which the command turns into an exit status.
     */
    public Reason reason()
    {
        return reason;
    }
}
