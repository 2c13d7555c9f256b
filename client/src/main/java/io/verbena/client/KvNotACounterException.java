package io.verbena.client;

/** The value to be incremented is neither 8 bytes nor a number of 64 bits in digits; nothing was changed. */
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
