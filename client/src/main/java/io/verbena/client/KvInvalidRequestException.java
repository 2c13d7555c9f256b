package io.verbena.client;

/** An argument is out of its range; nothing was sent. The message names the value and the limit. */
public final class KvInvalidRequestException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvInvalidRequestException(final String message)
    {
        super(Category.INVALID_REQUEST, message);
    }
}
