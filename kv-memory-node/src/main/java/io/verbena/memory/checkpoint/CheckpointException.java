package io.verbena.memory.checkpoint;

/** A checkpoint cannot be made or used. The message is one line: what, the values involved, the remedy. */
public class CheckpointException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message one line.
     * @param cause   the underlying failure, or null.
     */
    public CheckpointException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
