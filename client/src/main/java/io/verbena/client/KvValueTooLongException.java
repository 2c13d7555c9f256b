package io.verbena.client;

/** An append would make the value longer than {@link KvLimits#MAX_VALUE_BYTES}; nothing was changed. */
public final class KvValueTooLongException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvValueTooLongException(final String message)
    {
        super(Category.INVALID_REQUEST, message);
    }
}
