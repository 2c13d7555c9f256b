package io.verbena.table.expiry;

/**
 * What a writer wants of the deadline of a record, in one word: 0 is none, a positive number the deadline itself, a
 * negative one how long it is from now on, and the least of all numbers stands for the deadline that the record has
 * already. Milliseconds, deadlines since 1970. Stateless.
 */
public final class Expiry
{
    /** The record has no deadline; clears the one there is. */
    public static final long NONE = 0;
    /** The record keeps the deadline it has; one that is made anew has none. */
    public static final long KEEP = Long.MIN_VALUE;
    /** Longest time, and latest deadline: year 10889. */
    public static final long MAX_MS = (1L << 48) - 1;
    /** A deadline that has passed by every clock; of a record that is to be absent at once. */
    static final long LONG_AGO = 1;

    private Expiry()
    {
    }

    /**
     * @param timeToLiveMs 1 to {@link #MAX_MS}, counted by the node that executes the write.
     * @return the word for a deadline so much later than now.
     */
    public static long in(final long timeToLiveMs)
    {
        return -check("timeToLiveMs", timeToLiveMs);
    }

    /**
     * @param deadlineMs 1 to {@link #MAX_MS}, wall clock.
     * @return the word for this deadline; the record is absent from then on.
     */
    public static long at(final long deadlineMs)
    {
        return check("deadlineMs", deadlineMs);
    }

    /** @return whether a word says something; others come from a defect or another version. */
    public static boolean isValid(final long expiry)
    {
        return expiry == KEEP || expiry >= -MAX_MS && expiry <= MAX_MS;
    }

    /** @return the word; an error if it is none. */
    public static long checked(final long expiry)
    {
        if (!isValid(expiry))
        {
            throw new IllegalArgumentException("expiry=" + expiry + " (at most " + MAX_MS + " ms)");
        }
        return expiry;
    }

    /**
     * @param expiry   resolved: no time from now on any more.
     * @param beforeMs deadline of the record that is replaced, 0 if it has none, or if there is no record.
     * @return deadline of the new record, 0 for none.
     */
    public static long deadline(final long expiry, final long beforeMs)
    {
        return expiry == KEEP ? beforeMs : expiry;
    }

    /** @return whether a record can have this deadline, or none. */
    public static boolean isDeadline(final long expiryMs)
    {
        return expiryMs >= NONE && expiryMs <= MAX_MS;
    }

    private static long check(final String what, final long ms)
    {
        if (ms < 1 || ms > MAX_MS)
        {
            throw new IllegalArgumentException(what + '=' + ms + " (1 to " + MAX_MS + ')');
        }
        return ms;
    }
}
