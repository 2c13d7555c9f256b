package io.verbena.load.demo;

import io.verbena.client.KvException;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * What all workers of a phase have done so far. Thread-safe.
 */
final class RunCounters
{
    final LongAdder operations = new LongAdder();
    final LongAdder errors = new LongAdder();
    /** Writes of unknown outcome, where they may be. */
    final LongAdder unknownOutcomes = new LongAdder();
    final LongAdder notFound = new LongAdder();
    final LongAdder notStarted = new LongAdder();
    final LongAdder updateConflicts = new LongAdder();
    /** Inserts for which there is room yet; negative when they have been used up. */
    final AtomicLong insertsLeft;
    /** When the last worker ended. */
    final AtomicLong endedNs = new AtomicLong(Long.MIN_VALUE);
    private final AtomicReference<String> firstError = new AtomicReference<>();
    private final boolean mayBeUnknown;

    /** For a phase whose inserts are counted elsewhere. */
    RunCounters()
    {
        this(Long.MAX_VALUE);
    }

    /** For a phase that ends when so many records have been inserted. */
    RunCounters(final long insertRoom)
    {
        this(insertRoom, false);
    }

    /**
     * @param mayBeUnknown whether a node is killed in this phase, so that writes it had may have an unknown outcome.
     */
    RunCounters(final long insertRoom, final boolean mayBeUnknown)
    {
        insertsLeft = new AtomicLong(insertRoom);
        this.mayBeUnknown = mayBeUnknown;
    }

    /** Whether writes may have an unknown outcome. */
    boolean mayBeUnknown()
    {
        return mayBeUnknown;
    }

    /** Whether nothing more can be inserted for sure, so that the phase has to end. */
    boolean isFull()
    {
        return insertsLeft.get() <= 0;
    }

    /** An operation ended with an exception, or with a status that is none (then null). */
    void onFailure(final RuntimeException failure, final String what)
    {
        if (mayBeUnknown && failure instanceof final KvException ex &&
            KvException.Category.OUTCOME_UNKNOWN == ex.category())
        {
            unknownOutcomes.increment();
        }
        else
        {
            onError(what);
        }
    }

    void onError(final String what)
    {
        errors.increment();
        firstError.compareAndSet(null, what);
    }

    /**
     * The first operation that failed and why, or null.
     */
    String firstError()
    {
        return firstError.get();
    }
}
