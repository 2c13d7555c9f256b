package io.verbena.client;

/**
 * The memory nodes have no room for this value or table; not applied. Delete records, or start memory nodes with more
 * memory.
 */
public final class KvOutOfMemoryException extends KvException
{
    private static final long serialVersionUID = 1L;

    /**
     * Says what happened.
     *
     * @param message with the facts, in one line.
     */
    public KvOutOfMemoryException(final String message)
    {
        super(Category.NO_SPACE, message);
    }
}
