package io.verbena.client.routing;

import org.agrona.concurrent.NanoClock;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that sweeps asynchronous calls each millisecond while there are any, and sleeps otherwise. It starts with
 * the first call and ends when it is closed and no call is left.
 */
final class CallSweeper
{
    private static final long INTERVAL_NS = 1_000_000;

    private final AsyncCalls calls;
    private final NanoClock clock;
    private Thread starting;
    private volatile Thread thread;
    private volatile boolean sleeping;
    private volatile boolean closed;

    CallSweeper(final AsyncCalls calls, final NanoClock clock)
    {
        this.calls = calls;
        this.clock = clock;
    }

    /** Makes sure that calls in flight are looked after; cheap when they are already. Any thread. */
    void wake()
    {
        final Thread sweeper = thread;
        if (null == sweeper)
        {
            start();
        }
        else if (sleeping)
        {
            LockSupport.unpark(sweeper);
        }
    }

    /** Ends the thread when the last call is over. */
    void close()
    {
        closed = true;
        LockSupport.unpark(thread);
    }

    private synchronized void start()
    {
        if (null == starting)
        {
            starting = new Thread(this::run, "verbena-client-sweeper");
            starting.setDaemon(true);
            starting.start();
            thread = starting;
        }
    }

    private void run()
    {
        while (!closed || calls.inFlight() > 0)
        {
            calls.sweep(clock.nanoTime());
            sleeping = true;
            VarHandle.fullFence(); // either we see the call, or its submitter sees that we sleep
            if (calls.inFlight() > 0)
            {
                LockSupport.parkNanos(this, INTERVAL_NS);
            }
            else if (!closed)
            {
                LockSupport.park(this);
            }
            sleeping = false;
        }
    }
}
