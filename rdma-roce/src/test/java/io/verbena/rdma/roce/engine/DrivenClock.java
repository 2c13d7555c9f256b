package io.verbena.rdma.roce.engine;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Time that passes only while two engines are driven: by one step whenever both have been since the last one. So a
 * thread that waits for a processor while it drives one of them makes no answer of the other one late, however busy
 * the machine is, and an answer that never comes is missed after as many turns of both. Thread-safe.
 */
final class DrivenClock implements NanoClock
{
    private static final long STEP_NS = 10_000;
    private static final int ALL = 0b11;

    private final AtomicLong timeNs = new AtomicLong(1);
    private final AtomicInteger driven = new AtomicInteger();

    @Override
    public long nanoTime()
    {
        return timeNs.get();
    }

    /**
     * An engine has handled what arrived and sent what it had.
     *
     * @param index of it, 0 or 1.
     */
    void onDriven(final int index)
    {
        final int mark = 1 << index;
        if ((driven.get() & mark) == 0 && driven.updateAndGet((marks) -> (marks | mark) == ALL ? 0 : marks | mark) == 0)
        {
            timeNs.addAndGet(STEP_NS);
        }
    }
}
