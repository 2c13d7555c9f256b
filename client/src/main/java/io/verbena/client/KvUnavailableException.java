package io.verbena.client;

/** No compute node, memory node or meta server could be reached for this operation within its deadline; not applied. */
public final class KvUnavailableException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvUnavailableException(final String message)
    {
        super(Category.UNAVAILABLE, message);
    }
}
