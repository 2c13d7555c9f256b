package io.verbena.raas.limit;

/**
 * A request that would have broken the queue pair shared with other tenants, refused before anything was posted; or a
 * call out of turn. The batch under construction is dropped; the virtual queue pair stays usable. The message names the
 * values and the limit they violate.
 */
public final class RaasMisuseException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** @param message what is wrong, with values and limits. */
    public RaasMisuseException(final String message)
    {
        super(message);
    }
}
