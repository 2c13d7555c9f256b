package io.verbena.client.routing;

import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.Waker;

import org.agrona.concurrent.NanoClock;

import java.util.concurrent.locks.LockSupport;

/**
 * The thread that drives {@link RemoteNodes} while no caller holds the lock: spins a little and gives way while answers
 * are awaited, because they usually take microseconds, then naps, or waits for packets; sleeps while nothing is under
 * way, or a caller that waits drives them, until a request wakes it, or who leaves one.
 */
final class RemoteNodesThread
{
    private static final int SPINS = 50;
    private static final int YIELDS = 2_000;
    /**
     * Longest time without work in which it gives way instead of sleeping: answers that take longer wait for a
     * processor, which this thread would take from the nodes of its host.
     */
    private static final long YIELD_NS = 100_000;
    private static final long NAP_NS = 50_000;
    /** Empty cycles until it waits for packets, and how long: connections are looked after in between. */
    private static final int POLLS = 4;
    private static final long WAIT_NS = 5_000_000;

    /**
     * Times between duty cycles, in ns, while nobody wakes the thread.
     *
     * @param napNs      while answers are awaited.
     * @param heldNs     while callers hold the lock one after the other; then it is reserved for this thread.
     * @param settlingNs the same while connections or listings are on their way.
     */
    record Pauses(long napNs, long heldNs, long settlingNs)
    {
        static final Pauses USUAL = new Pauses(NAP_NS, 100_000_000, 1_000_000);
    }

    private static final System.Logger LOGGER = System.getLogger(RemoteNodesThread.class.getName());

    private final DrivenNodes nodes;
    private final Pauses pauses;
    private final Waker waker;
    private final NanoClock clock;
    private final Runnable onEnd;
    private final Thread thread;
    private final DutyLock dutyLock;
    private boolean holdsLock;
    private boolean mayEnd;
    private boolean isSettling = true;
    private long lastCycleNs;
    private long lastWorkNs;
    private volatile boolean closing;
    private volatile Throwable failure;

    /**
     * @param nodes to drive; nobody else may.
     * @param waker that the nodes were made with.
     * @param clock of the fabric.
     * @param name  of the thread.
     * @param pauses how often it looks for work.
     * @param onEnd called by the thread when it has closed the nodes, whatever ended it.
     */
    RemoteNodesThread(
        final DrivenNodes nodes, final Waker waker, final NanoClock clock, final String name, final Pauses pauses,
        final Runnable onEnd)
    {
        this.pauses = pauses;
        lastCycleNs = clock.nanoTime();
        lastWorkNs = lastCycleNs;
        this.nodes = nodes;
        dutyLock = nodes.dutyLock();
        this.waker = waker;
        this.clock = clock;
        this.onEnd = onEnd;
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    void start()
    {
        dutyLock.share();
        thread.start();
    }

    /** @return why it ended, or null. */
    Throwable failure()
    {
        return failure;
    }

    /**
     * Ends the thread when nothing is under way any more, or the time is up. Does not wait where the calling thread is
     * at the work that the end waits for: that ends after this has returned.
     *
     * @param timeoutNs longest wait for what is under way, and for the end.
     */
    void close(final long timeoutNs)
    {
        closing = true;
        waker.wake();
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        boolean interrupted = false;
        final boolean mayWait = Thread.currentThread() != thread && !dutyLock.isMine();
        while (mayWait && thread.isAlive() && deadlineNs - clock.nanoTime() > 0)
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
            while (!mayEnd)
            {
                idleCycles = cycle(idleCycles);
            }
        }
        catch (final RuntimeException | Error ex)
        {
            fail(ex);
        }
        finally
        {
            // The lock is kept for ever: no caller drives what is closed.
            while (!holdsLock && !dutyLock.tryAcquire())
            {
                dutyLock.reserve();
                LockSupport.parkNanos(this, NAP_NS);
            }
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

    private void fail(final Throwable cause)
    {
        nodes.onFailure(cause);
        failure = cause;
        LOGGER.log(System.Logger.Level.ERROR, "the client has ended: " + cause, cause);
    }

    /** One duty cycle, if no caller is at it, and the pause after it. */
    private int cycle(final int idleCycles)
    {
        if (!dutyLock.tryAcquire())
        {
            awaitLock();
            return idleCycles;
        }
        holdsLock = true;
        final Throwable failed = dutyLock.failure();
        if (null != failed)
        {
            throw new IllegalStateException("duty cycle failed in a calling thread: " + failed, failed);
        }
        final boolean hasWorked = nodes.doWork() > 0;
        final boolean isBusy = nodes.isBusy();
        final boolean waits = !hasWorked && isBusy && idleCycles >= POLLS && nodes.canWait();
        if (waits)
        {
            // With the lock: whoever enqueues something ends the wait. Connections do not.
            nodes.await(isSettling ? pauses.settlingNs() : WAIT_NS);
        }
        final boolean hasYielded = idleCycles >= SPINS + YIELDS || clock.nanoTime() - lastWorkNs >= YIELD_NS;
        final boolean mayRest = !hasWorked && !waits && idleCycles >= (nodes.canWait() ? POLLS : SPINS) &&
            (hasYielded || !isBusy);
        final long restNs = mayRest ? announceRest() : 0;
        mayEnd = closing && nodes.mayEnd();
        holdsLock = mayEnd;
        isSettling = nodes.isSettling();
        lastCycleNs = clock.nanoTime();
        lastWorkNs = hasWorked ? lastCycleNs : lastWorkNs;
        if (!mayEnd)
        {
            dutyLock.release();
        }
        if (mayRest)
        {
            waker.sleep(mayEnd || dutyLock.hasLeftWork() ? 0 : restNs);
        }
        else if (!hasWorked && !waits)
        {
            pause(idleCycles);
        }
        return hasWorked ? 0 : idleCycles + 1;
    }

    /** The holder wakes this thread if anything is left to do. */
    private void awaitLock()
    {
        final long longestNs = closing ? NAP_NS : isSettling ? pauses.settlingNs() : pauses.heldNs();
        if (clock.nanoTime() - lastCycleNs - longestNs >= 0)
        {
            dutyLock.reserve();
        }
        waker.announce();
        waker.sleep(dutyLock.isHeld() ? longestNs : 0);
    }

    /** From here on a submitter wakes this thread; says how long it may sleep, after a look at the queues. */
    private long announceRest()
    {
        waker.announce();
        return nodes.isBusy() ? pauses.napNs() : nodes.idleNs();
    }

    private static void pause(final int idleCycles)
    {
        if (idleCycles < SPINS)
        {
            Thread.onSpinWait();
        }
        else
        {
            Thread.yield();
        }
    }
}
