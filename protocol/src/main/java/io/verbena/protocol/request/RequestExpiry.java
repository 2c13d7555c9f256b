package io.verbena.protocol.request;

/**
 * What a writer wants of the deadline of a record, in one word of an {@link OperationRequest}: 0 is none, a positive
 * number the deadline itself, a negative one how long it is from when the node executes the write, and the least of all
 * numbers stands for the deadline that the record has already. Milliseconds, deadlines since 1970; from its deadline on
 * a record is absent. Stateless.
 */
public final class RequestExpiry
{
    /** The record has no deadline; clears the one there is. */
    public static final long NONE = 0;
    /** The record keeps the deadline it has; one that is made anew has none. */
    public static final long KEEP = Long.MIN_VALUE;
    /** Longest time, and latest deadline. */
    public static final long MAX_MS = (1L << 48) - 1;
    /** {@link RequestKind#EXPIRE}, as operand: always. */
    public static final long ALWAYS = 0;
    /** Only if the record has no deadline. */
    public static final long IF_NONE = 1;
    /** Only if it has one. */
    public static final long IF_SOME = 2;
    /** Only if the new one is later; none is later than any. */
    public static final long IF_LATER = 3;
    /** Only if the new one is earlier. */
    public static final long IF_EARLIER = 4;

    private RequestExpiry()
    {
    }

    /**
     * @param timeToLiveMs 1 to {@link #MAX_MS}.
     * @return the word for a deadline so much later than the write.
     */
    public static long in(final long timeToLiveMs)
    {
        return -timeToLiveMs;
    }

    /**
     * @param deadlineMs 1 to {@link #MAX_MS}; one that has passed makes the record absent at once.
     * @return the word for this deadline.
     */
    public static long at(final long deadlineMs)
    {
        return deadlineMs;
    }

    /** @return whether a word says something. */
    public static boolean isValid(final long expiry)
    {
        return KEEP == expiry || expiry >= -MAX_MS && expiry <= MAX_MS;
    }
}
