package io.verbena.client;

/** There is no table of this name, or no longer; not applied. */
public final class KvNoSuchTableException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvNoSuchTableException(final String message)
    {
        super(Category.INVALID_REQUEST, message);
    }
}
