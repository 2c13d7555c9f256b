package io.verbena.rdma.verbs;

/** Misuse of the verbs, or a resource that cannot be had. The message says what, with the values, and the remedy. */
public class RdmaException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** @param message what failed, the values involved, and what to do. */
    public RdmaException(final String message)
    {
        super(message);
    }

    /**
     * @param message what failed, the values involved, and what to do.
     * @param cause   the underlying failure.
     */
    public RdmaException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
