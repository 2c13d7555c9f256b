package io.verbena.client;

/** The deadline passed; a write was not applied and will not be, a read had no answer. It may be repeated at will. */
public final class KvTimeoutException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvTimeoutException(final String message)
    {
        super(Category.NOT_APPLIED, message);
    }
}
