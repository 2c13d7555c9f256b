package io.verbena.memory;

/** A memory node cannot start. The message is one line: what, the values involved, the remedy. */
public final class MemoryNodeException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message one line.
     * @param cause   the underlying failure, or null.
     */
    public MemoryNodeException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
