package io.verbena.elle.linear;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Time and memory that the threads of one check share.
 */
final class Budget
{
    /** Of more objects that fail, only the prefix is reported: the search for a contradiction takes long. */
    private static final int MAX_EXPLANATIONS = 8;

    private final LongSupplier clock;
    private final long deadlineNs;
    private final AtomicLong statesLeft;
    private final AtomicInteger explanationsLeft = new AtomicInteger(MAX_EXPLANATIONS);

    Budget(final LongSupplier clock, final long timeoutNs, final long maxStates)
    {
        this.clock = clock;
        this.deadlineNs = clock.getAsLong() + timeoutNs;
        this.statesLeft = new AtomicLong(maxStates);
    }

    boolean isTimeUp()
    {
        return deadlineNs - clock.getAsLong() <= 0;
    }

    /** Takes room for so many states, or nothing. */
    boolean reserve(final long states)
    {
        if (statesLeft.addAndGet(-states) >= 0)
        {
            return true;
        }
        statesLeft.addAndGet(states);
        return false;
    }

    void release(final long states)
    {
        statesLeft.addAndGet(states);
    }

    boolean takeExplanation()
    {
        return explanationsLeft.getAndDecrement() > 0;
    }
}
