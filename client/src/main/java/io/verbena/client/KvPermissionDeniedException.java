package io.verbena.client;

/** The user of this client has no right to that, or is none any more; not applied. */
public final class KvPermissionDeniedException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvPermissionDeniedException(final String message)
    {
        super(Category.PERMISSION_DENIED, message);
    }
}
