package io.verbena.client;

/**
 * Root of what the store throws. The subclass says what happened, {@link #category()} groups them for metrics and
 * retries, the message names values and the remedy in one line.
 */
public class KvException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** What a caller can do about it. */
    public enum Category
    {
        /** The request itself is wrong: repeating it does not help. */
        INVALID_REQUEST,
        /** Not applied in time: repeat at will. */
        NOT_APPLIED,
        /** May have been applied: read before repeating. */
        OUTCOME_UNKNOWN,
        /** No room: delete something, or make more. */
        NO_SPACE,
        /** Some part of the cluster cannot be reached now; not applied. */
        UNAVAILABLE,
        /** Stored bytes are damaged; not applied. */
        CORRUPT,
        /** The client or cluster was closed; not applied. */
        CLOSED,
        /** The user has no right to that: not applied, and repeating it does not help. */
        PERMISSION_DENIED,
        /** The user has used up its quota: not applied, repeat it later. */
        QUOTA_EXCEEDED
    }

    /** What a caller can do about it. */
    private final Category category;

    KvException(final Category category, final String message)
    {
        super(message);
        this.category = category;
    }

    /** {@return what a caller can do about it} */
    public final Category category()
    {
        return category;
    }
}
