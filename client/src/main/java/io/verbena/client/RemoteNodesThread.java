package io.verbena.client;

import io.verbena.request.remote.Waker;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.locks.LockSupport;

/**
 * The thread that drives {@link RemoteNodes}: spins a little and gives way while answers are awaited, because they
 * usually take microseconds, then naps; sleeps while nothing is under way, until a request wakes it.
 */
final class RemoteNodesThread
{
    private static final int SPINS = 50;
    private static final int YIELDS = 2_000;
    private static final long NAP_NS = 50_000;

    private final RemoteNodes nodes;
    private final Waker waker;
    private final NanoClock clock;
    private final Runnable onEnd;
    private final Thread thread;
    private volatile boolean closing;
    private volatile Throwable failure;

    /**
     * @param nodes to drive; nobody else may.
     * @param waker that the nodes were made with.
     * @param clock of the fabric.
     * @param onEnd called by the thread when it has closed the nodes, whatever ended it.
     */
    RemoteNodesThread(final RemoteNodes nodes, final Waker waker, final NanoClock clock, final Runnable onEnd)
    {
        this.nodes = nodes;
        this.waker = waker;
        this.clock = clock;
        this.onEnd = onEnd;
        thread = new Thread(this::run, nodes.roleName());
        thread.setDaemon(true);
    }

    void start()
    {
        thread.start();
    }

    /** @return why it ended, or null. */
    Throwable failure()
    {
        return failure;
    }

    /**
     * Ends the thread when nothing is under way any more, or the time is up.
     *
     * @param timeoutNs longest wait for what is under way, and for the end.
     */
    void close(final long timeoutNs)
    {
        closing = true;
        waker.wake();
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        boolean interrupted = false;
        while (thread.isAlive() && Thread.currentThread() != thread && deadlineNs - clock.nanoTime() > 0)
        {
            LockSupport.parkNanos(this, NAP_NS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void run()
    {
        try
        {
            int idleCycles = 0;
            while (!closing || nodes.isBusy())
            {
                idleCycles = nodes.doWork() > 0 ? 0 : idle(idleCycles);
            }
        }
        catch (final RuntimeException | Error ex)
        {
            failure = ex;
        }
        finally
        {
            try
            {
                nodes.onClose();
            }
            finally
            {
                onEnd.run();
            }
        }
    }

    private int idle(final int idleCycles)
    {
        if (idleCycles < SPINS)
        {
            Thread.onSpinWait();
        }
        else if (idleCycles < SPINS + YIELDS && nodes.isBusy())
        {
            Thread.yield();
        }
        else
        {
            waker.announce();
            final boolean isBusy = nodes.isBusy(); // looks at the queues as well
            if (closing && !isBusy)
            {
                waker.stayAwake();
            }
            else
            {
                waker.sleep(isBusy ? NAP_NS : nodes.idleNs());
            }
        }
        return idleCycles + 1;
    }
}
