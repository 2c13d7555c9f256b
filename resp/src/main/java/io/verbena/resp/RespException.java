package io.verbena.resp;

/** The port cannot be opened; the message says why, and what to do. */
public final class RespException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message one line.
     * @param cause   of it, or null.
     */
    public RespException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
