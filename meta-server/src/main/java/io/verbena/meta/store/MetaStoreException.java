package io.verbena.meta.store;

/** The meta server's durable state cannot be opened, read or written. The message is one line that says what to do. */
public final class MetaStoreException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** What is wrong with the data folder. */
    public enum Category
    {
        /** The folder cannot be written. */
        READ_ONLY,
        /** The folder holds something else than meta server data. */
        FOREIGN,
        /** Another meta server has it open. */
        LOCKED,
        /** Its content fails a check. */
        CORRUPT,
        /** A record was written by a build whose format this one does not know. */
        UNKNOWN_VERSION,
        /** A new database could not be made; nothing of it counts. */
        WRITE_FAILED
    }

    private final Category category;

    /**
     * @param category what is wrong.
     * @param message  one line: what, the values involved, the remedy.
     * @param cause    the underlying failure, or null.
     */
    public MetaStoreException(final Category category, final String message, final Throwable cause)
    {
        super(message, cause);
        this.category = category;
    }

    /** @return what is wrong, for callers that map it to an exit status. */
    public Category category()
    {
        return category;
    }
}
