package io.verbena.protocol.tls;

/** Files for TLS cannot be used; the message is one line that names the option, the file and the remedy. */
public final class TlsException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message one line.
     * @param cause   of it, or null.
     */
    public TlsException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
