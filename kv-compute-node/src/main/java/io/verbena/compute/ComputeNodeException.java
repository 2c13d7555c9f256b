package io.verbena.compute;

/** A compute node could not join, or has failed; the message says why, in one line. */
public final class ComputeNodeException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** @param message with the facts, in one line. */
    public ComputeNodeException(final String message)
    {
        super(message);
    }
}
