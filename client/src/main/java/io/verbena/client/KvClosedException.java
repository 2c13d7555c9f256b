package io.verbena.client;

/** The client, or the cluster it belongs to, was closed before the operation was begun; not applied. */
public final class KvClosedException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvClosedException(final String message)
    {
        super(Category.CLOSED, message);
    }
}
