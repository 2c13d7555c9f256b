package io.verbena.client;

/** A write whose outcome is not known: applied, or not, or about to be. Read the record before you repeat the write. */
public final class KvOutcomeUnknownException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvOutcomeUnknownException(final String message)
    {
        super(Category.OUTCOME_UNKNOWN, message);
    }
}
