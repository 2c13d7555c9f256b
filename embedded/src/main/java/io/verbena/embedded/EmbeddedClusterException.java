package io.verbena.embedded;

/** The cluster could not be started, changed or closed as asked; the message says why and what to do, in one line. */
public class EmbeddedClusterException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** @param message with the facts and the remedy, in one line. */
    public EmbeddedClusterException(final String message)
    {
        super(message);
    }

    /**
     * @param message with the facts and the remedy, in one line.
     * @param cause   what was met.
     */
    public EmbeddedClusterException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
