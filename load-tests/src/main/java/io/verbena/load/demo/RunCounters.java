package io.verbena.load.demo;

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
    final LongAdder notFound = new LongAdder();
    final LongAdder notStarted = new LongAdder();
    final LongAdder updateConflicts = new LongAdder();
    /** Inserts for which there is room yet; negative when they have been used up. */
    final AtomicLong insertsLeft;
    /** When the last worker ended. */
    final AtomicLong endedNs = new AtomicLong(Long.MIN_VALUE);
    private final AtomicReference<String> firstError = new AtomicReference<>();

    /** For a phase whose inserts are counted elsewhere. */
    RunCounters()
    {
        this(Long.MAX_VALUE);
    }

    /** For a phase that ends when so many records have been inserted. */
    RunCounters(final long insertRoom)
    {
        insertsLeft = new AtomicLong(insertRoom);
    }

    /** Whether nothing more can be inserted for sure, so that the phase has to end. */
    boolean isFull()
    {
        return insertsLeft.get() <= 0;
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
