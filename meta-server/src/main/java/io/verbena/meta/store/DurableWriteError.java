package io.verbena.meta.store;

/**
 * A write of the meta server's state failed, and whether it took effect is not known: what failed to be synced may be
 * in the log all the same, and is replayed by the next start. So nothing may go on as if it were done, nor as if it
 * were not: the server halts without an answer, its callers have an unknown outcome, and the next start reads what is
 * so. An error, not an exception: no request may catch it and go on. The message is one line that says what to do.
 */
public final class DurableWriteError extends Error
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message one line: what, where, the remedy.
     * @param cause   the underlying failure, or null.
     */
    public DurableWriteError(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
