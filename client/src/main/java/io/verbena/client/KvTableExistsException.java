package io.verbena.client;

/** There is a table of this name already; nothing was changed. */
public final class KvTableExistsException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvTableExistsException(final String message)
    {
        super(Category.INVALID_REQUEST, message);
    }
}
