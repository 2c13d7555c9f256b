package io.verbena.client;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Until when a record lives, as a write says it. From its deadline on a record is absent, for every reader; see
 * {@link ExpiringRecords} for the clock. Milliseconds count: a duration is rounded up to whole ones, an instant down.
 */
public sealed interface Expiry
{
    /** The record lives until it is deleted; a deadline that it had is cleared, as by a write that says nothing. */
    Expiry NEVER = new Never();
    /** The record keeps the deadline it has; one that is written anew has none. */
    Expiry KEEP = new Keep();

    /**
     * Makes an expiry some time after the write.
     *
     * @param timeToLive from the write on, by the clock of the compute node that executes it; above 0, up to 8,900
     *                   years.
     * @return this expiry.
     */
    static Expiry in(final Duration timeToLive)
    {
        return new In(timeToLive);
    }

    /**
     * Makes an expiry at an instant.
     *
     * @param deadline when the record ends, after 1970; one that has passed makes the record absent at once.
     * @return this expiry.
     */
    static Expiry at(final Instant deadline)
    {
        return new At(deadline);
    }

    /** See {@link #NEVER}. */
    record Never() implements Expiry
    {
    }

    /** See {@link #KEEP}. */
    record Keep() implements Expiry
    {
    }

    /**
     * See {@link #in}.
     *
     * @param timeToLive from the write on.
     */
    record In(Duration timeToLive) implements Expiry
    {
    }

    /**
     * See {@link #at}.
     *
     * @param deadline when the record ends.
     */
    record At(Instant deadline) implements Expiry
    {
    }

    /** On which condition {@link ExpiringRecords#expire} gives a record another deadline. */
    enum Condition
    {
        /** If there is a record. */
        ALWAYS,
        /** Only if the record has no deadline. */
        IF_NONE,
        /** Only if it has one. */
        IF_SOME,
        /** Only if the new one is later; no deadline is later than any. */
        IF_LATER,
        /** Only if the new one is earlier. */
        IF_EARLIER
    }

    /**
     * How long a record that is there lives on.
     *
     * @param deadlineMs when it ends, ms since 1970; 0 if it has no deadline.
     * @param leftMs     how long that was away by the clock of the compute node that answered, 1 or more; 0 if there is
     *                   no deadline.
     */
    record TimeToLive(long deadlineMs, long leftMs)
    {
        /** {@return when the record ends, or empty if it has no deadline} */
        public Optional<Instant> deadline()
        {
            return deadlineMs == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(deadlineMs));
        }

        /** {@return how long that was away, or empty if it has no deadline} */
        public Optional<Duration> left()
        {
            return deadlineMs == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(leftMs));
        }
    }
}
