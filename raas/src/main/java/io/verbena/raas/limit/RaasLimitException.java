package io.verbena.raas.limit;

/** A limit is reached: nothing was begun, and the same call may succeed when something was closed. */
public final class RaasLimitException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    private final transient RaasLimit limit;

    /** @param limit that is reached. */
    public RaasLimitException(final RaasLimit limit)
    {
        super(limit.reached());
        this.limit = limit;
    }

    /** @return the limit; null after deserialization. */
    public RaasLimit limit()
    {
        return limit;
    }
}
