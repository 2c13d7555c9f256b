package io.verbena.memory.checkpoint;

/** What is on disk is no checkpoint any more, however often it is read. The message is one line. */
public final class DamagedCheckpointException extends CheckpointException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message one line.
     * @param cause   the underlying failure, or null.
     */
    public DamagedCheckpointException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
