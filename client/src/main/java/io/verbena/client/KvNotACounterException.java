package io.verbena.client;

/** The value to be incremented has not the 8 bytes of a counter; nothing was changed. */
public final class KvNotACounterException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvNotACounterException(final String message)
    {
        super(Category.INVALID_REQUEST, message);
    }
}
