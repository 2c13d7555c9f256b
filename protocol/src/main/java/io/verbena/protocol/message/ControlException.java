package io.verbena.protocol.message;

/** A control call that did not succeed: thrown by services to say so, and by {@code ControlCall.result()}. */
public final class ControlException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    private final ControlStatus status;
    private final long retryDelayNs;

    /**
     * @param status  kind of failure, not OK.
     * @param message what failed, with the values, and the remedy.
     */
    public ControlException(final ControlStatus status, final String message)
    {
        this(status, message, 0);
    }

    /**
     * @param status       kind of failure, not OK.
     * @param message      what failed, with the values, and the remedy.
     * @param retryDelayNs after how long another attempt is worth while; 0 when that is not known.
     */
    public ControlException(final ControlStatus status, final String message, final long retryDelayNs)
    {
        super(message);
        this.status = status;
        this.retryDelayNs = retryDelayNs;
    }

    /** As {@link #ControlException(ControlStatus, String)}, with what was met. */
    public ControlException(final ControlStatus status, final String message, final Throwable cause)
    {
        super(message, cause);
        this.status = status;
        retryDelayNs = 0;
    }

    /** @return after how long another attempt is worth while, in nanoseconds; 0 when that is not known. */
    public long retryDelayNs()
    {
        return retryDelayNs;
    }

    /** @return kind of failure. */
    public ControlStatus status()
    {
        return status;
    }
}
