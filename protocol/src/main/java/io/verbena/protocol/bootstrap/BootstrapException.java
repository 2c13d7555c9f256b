package io.verbena.protocol.bootstrap;

/** A cluster was not joined; the message is one line that names the value and the remedy. */
public final class BootstrapException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason
    {
        /** The address cannot be one. */
        BAD_ADDRESS,
        /** Nobody answers there, or not in time, or the port cannot be listened on. */
        UNREACHABLE,
        /** Who answers speaks another protocol, or another version of it. */
        VERSION_MISMATCH,
        /** The token is missing, unreadable or not the cluster's. */
        WRONG_TOKEN,
        /** One side does not take the certificate of the other, or only one of the two speaks TLS. */
        UNTRUSTED
    }

    private final Reason reason;

    BootstrapException(final Reason reason, final String message, final Throwable cause)
    {
        super(message, cause);
        this.reason = reason;
    }

    /** @return why. */
    public Reason reason()
    {
        return reason;
    }
}
