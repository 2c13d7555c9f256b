package io.verbena.client;

/** The deadline passed and the operation was not applied and will not be; it may be repeated at will. */
public final class KvTimeoutException extends KvException
{
    private static final long serialVersionUID = 1L;

    /** @param message with the facts, in one line. */
    public KvTimeoutException(final String message)
    {
        super(Category.NOT_APPLIED, message);
    }
}
