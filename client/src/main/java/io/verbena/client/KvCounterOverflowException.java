package io.verbena.client;

/** The sum of an increment does not fit 64 bits; nothing was changed. */
public final class KvCounterOverflowException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvCounterOverflowException(final String message)
    {
        super(Category.INVALID_REQUEST, message);
    }
}
