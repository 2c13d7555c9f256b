package io.verbena.client;

/**
 * The table has no free slot for a key like this one, and cannot grow, for want of memory or because its compute nodes
 * do not let it (--growing-tables false); not applied. Add memory, or make a table with more
 * {@link TableOptions#expectedRecords()}.
 */
public final class KvTableFullException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvTableFullException(final String message)
    {
        super(Category.NO_SPACE, message);
    }
}
