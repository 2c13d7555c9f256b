package io.verbena.client;

/** A record's bytes fail their checksum again and again: memory was damaged by something outside the store. */
public final class KvCorruptException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvCorruptException(final String message)
    {
        super(Category.CORRUPT, message);
    }
}
