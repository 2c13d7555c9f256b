package io.verbena.client;

import java.time.Duration;

/** The user of this client has used up its quota at a compute node; not applied. */
public final class KvQuotaExceededException extends KvException
{
    private static final long serialVersionUID = 1L;

    /** When the node may take it. */
    private final Duration retryAfter;

    /**
     * Says what happened.
     *
     * @param message    with the facts, in one line.
     * @param retryAfter see {@link #retryAfter()}.
     */
    public KvQuotaExceededException(final String message, final Duration retryAfter)
    {
        super(Category.QUOTA_EXCEEDED, message);
        this.retryAfter = retryAfter;
    }

    /**
     * {@return how long the node takes no more of this, at least; one that is repeated sooner is refused again. Zero
     * for a table: that takes no time, but another one to be dropped}
     */
    public Duration retryAfter()
    {
        return retryAfter;
    }
}
