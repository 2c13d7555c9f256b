package io.verbena.client.routing;

import io.verbena.protocol.request.NodeRequest;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.locks.LockSupport;

/**
 * Makes one thread wait for the answer of one request at a time: it spins while an answer usually takes microseconds,
 * then gives way to other threads, then parks. The waiting thread announces that it parks and looks at the request once
 * more; the answering thread makes the answer visible and then looks whether somebody parks; with full ordering between
 * the two steps of each (volatile store then volatile load; compare-and-set then volatile load), a wake-up is never
 * lost. An interrupt does not end the wait, which is bounded anyway; it is kept for the caller to see.
 */
final class CallWaiter
{
    private static final int SPINS = 50;
    private static final int YIELDS = 100;

    private final Thread thread = Thread.currentThread();
    private volatile boolean parked;

    /**
     * Waits; only the thread that made this may.
     *
     * @param request    that was handed over.
     * @param clock      of the deadline.
     * @param deadlineNs to give up.
     * @param isFar      whether the answer comes over a network, so that it parks instead of giving way.
     * @return true if the request is DONE.
     */
    boolean await(final NodeRequest request, final NanoClock clock, final long deadlineNs, final boolean isFar)
    {
        for (int i = 0; i < SPINS; i++)
        {
            if (NodeRequest.DONE == request.state())
            {
                return true;
            }
            Thread.onSpinWait();
        }
        for (int i = 0; i < YIELDS && !isFar; i++)
        {
            if (NodeRequest.DONE == request.state())
            {
                return true;
            }
            Thread.yield();
        }
        return park(request, clock, deadlineNs);
    }

    private boolean park(final NodeRequest request, final NanoClock clock, final long deadlineNs)
    {
        boolean interrupted = false;
        long remainingNs = 1;
        parked = true;
        while (NodeRequest.DONE != request.state() && (remainingNs = deadlineNs - clock.nanoTime()) > 0)
        {
            LockSupport.parkNanos(this, remainingNs);
            interrupted |= Thread.interrupted();
        }
        parked = false;
        if (interrupted)
        {
            thread.interrupt();
        }
        return remainingNs > 0 || NodeRequest.DONE == request.state();
    }

    /** Called by the answering thread after the request became DONE. */
    void signal()
    {
        if (parked)
        {
            LockSupport.unpark(thread);
        }
    }
}
