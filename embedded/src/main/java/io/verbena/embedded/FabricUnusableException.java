package io.verbena.embedded;

/** The fabric of an embedded cluster is known but cannot be used here: no device, no library, no permission. */
public final class FabricUnusableException extends EmbeddedClusterException
{
    private static final long serialVersionUID = 1L;

    /**
     * @param message with the fabric's name and the remedy, in one line.
     * @param cause   what was met.
     */
    public FabricUnusableException(final String message, final Throwable cause)
    {
        super(message, cause);
    }
}
