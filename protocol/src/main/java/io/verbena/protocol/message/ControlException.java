package io.verbena.protocol.message;

/** A control call that did not succeed: thrown by services to say so, and by {@code ControlCall.result()}. */
public final class ControlException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    private final ControlStatus status;

    /**
     * @param status  kind of failure, not OK.
     * @param message what failed, with the values, and the remedy.
     */
    public ControlException(final ControlStatus status, final String message)
    {
        super(message);
        this.status = status;
    }

    /** As {@link #ControlException(ControlStatus, String)}, with what was met. */
    public ControlException(final ControlStatus status, final String message, final Throwable cause)
    {
        super(message, cause);
        this.status = status;
    }

    /** @return kind of failure. */
    public ControlStatus status()
    {
        return status;
    }
}
