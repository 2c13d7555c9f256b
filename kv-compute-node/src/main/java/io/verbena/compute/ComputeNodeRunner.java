package io.verbena.compute;

import io.verbena.protocol.request.DutyLock;

import org.agrona.concurrent.NanoClock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.locks.LockSupport;

/**
 * Runs a {@link ComputeNode} on a thread of its own, named after it. After it has worked for callers the thread spins a
 * little, as they often come back at once, then gives way, then sleeps until a request wakes it or a heartbeat is due.
 * Heartbeats alone do not make it spin again, so an idle node costs next to nothing. Between two duty cycles a thread
 * that waits for an answer may take its place, see {@link DutyLock}. Thread-safe.
 */
public final class ComputeNodeRunner implements AutoCloseable
{
    private static final Logger LOGGER = LoggerFactory.getLogger(ComputeNodeRunner.class);
    private static final int SPINS = 20;
    private static final int YIELDS = 200;
    private static final long POLL_NS = 100_000;
    /** Longest sleep while another thread works on the node. */
    private static final long HELD_SLEEP_NS = 1_000_000;

    private final ComputeNode node;
    private final NanoClock clock;
    private final Runnable onEnd;
    private final Thread thread;
    private final DutyLock dutyLock;
    private Runnable afterCycle;
    private volatile boolean killed;
    private boolean holdsLock;

    /**
     * @param node  to run; nobody else may call its duty cycle.
     * @param onEnd called by the node's thread before it ends, whatever ends it: from then on the node answers nothing.
     */
    public ComputeNodeRunner(final ComputeNode node, final Runnable onEnd)
    {
        this.node = node;
        this.onEnd = onEnd;
        clock = node.clock();
        thread = new Thread(this::run, node.roleName());
        thread.setDaemon(true);
        dutyLock = new DutyLock(
            new NodeDuty(node), node.queue()::wakeSleeper, clock, DutyLock.Patience.DUTY_CYCLE_ANSWERS);
        dutyLock.share();
        node.shareDuty(dutyLock);
    }

    /**
     * Has something done after each duty cycle of the node's thread, before another thread may take its place: it may
     * read what only the node's thread may. Before {@link #start()}.
     *
     * @param task quick, and does not throw.
     */
    public void afterCycles(final Runnable task)
    {
        afterCycle = task;
    }

    /**
     * Starts the thread; the node joins.
     *
     * @return this.
     */
    public ComputeNodeRunner start()
    {
        thread.start();
        return this;
    }

    /**
     * Waits until the node serves.
     *
     * @param timeoutNs longest wait.
     * @throws ComputeNodeException when it does not within the timeout, or never will.
     */
    public void awaitServing(final long timeoutNs)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (ComputeNode.State.SERVING != node.state())
        {
            if (ComputeNode.State.FAILED == node.state() || ComputeNode.State.LEFT == node.state())
            {
                throw new ComputeNodeException(node + ": " + node.failure());
            }
            if (clock.nanoTime() - deadlineNs >= 0)
            {
                throw new ComputeNodeException(node + " does not serve after " + timeoutNs + " ns: " + node.failure());
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    /**
     * Lets the node leave: it finishes what it has begun, hands back what it has not, deregisters, and its
     * thread ends.
     *
     * @param timeoutNs longest wait; afterwards the node is killed.
     * @return true if it left in time, false if it was killed.
     */
    public boolean leave(final long timeoutNs)
    {
        node.leave();
        if (join(timeoutNs))
        {
            return ComputeNode.State.LEFT == node.state();
        }
        kill(timeoutNs);
        return false;
    }

    /**
     * Stops the thread between two duty cycles and ends the node as a crash would.
     *
     * @param timeoutNs longest wait.
     * @return true if the thread has ended.
     */
    public boolean kill(final long timeoutNs)
    {
        killed = true;
        node.queue().wake();
        return join(timeoutNs);
    }

    /** Kills the node if it still runs. */
    @Override
    public void close()
    {
        kill(Long.MAX_VALUE);
    }

    private boolean join(final long timeoutNs)
    {
        final long deadlineNs = clock.nanoTime() + Math.min(timeoutNs, Long.MAX_VALUE >> 1);
        boolean interrupted = false;
        while (thread.isAlive() && deadlineNs - clock.nanoTime() > 0)
        {
            LockSupport.parkNanos(POLL_NS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted)
        {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    private void run()
    {
        try
        {
            int idleCycles = 0;
            while (!killed && ComputeNode.State.LEFT != node.state() && ComputeNode.State.FAILED != node.state())
            {
                idleCycles = cycle(idleCycles);
            }
        }
        catch (final RuntimeException | Error ex)
        {
            LOGGER.error("{} failed", node, ex);
            node.onError(ex);
        }
        finally
        {
            onEnd.run();
            // Whatever ended the thread: nobody may wait for answers that never come. The lock is kept for ever.
            while (!holdsLock && !dutyLock.tryAcquire())
            {
                Thread.yield();
            }
            node.onClose();
        }
    }

    /** One duty cycle, if nobody else is at it, and the pause after it. */
    private int cycle(final int idleCycles)
    {
        if (!dutyLock.tryAcquire())
        {
            // Who works on the node wakes this thread if anything is left to do.
            node.queue().sleepWhile(dutyLock::isHeld, HELD_SLEEP_NS);
            return idleCycles;
        }
        holdsLock = true;
        final Throwable failed = dutyLock.failure();
        if (null != failed)
        {
            throw new IllegalStateException("duty cycle failed in a submitting thread", failed);
        }
        final int workCount = node.doWork();
        final boolean staysAwake = workCount > 0 && node.hasWorkedForCallers();
        final long sleepNs = 0 == workCount ? node.sleepNs() : 0;
        if (null != afterCycle)
        {
            afterCycle.run();
        }
        holdsLock = false;
        dutyLock.release();
        if (workCount > 0)
        {
            return staysAwake ? 0 : idleCycles;
        }
        idle(idleCycles + 1, sleepNs);
        return idleCycles + 1;
    }

    private void idle(final int idleCycles, final long sleepNs)
    {
        if (idleCycles <= SPINS)
        {
            Thread.onSpinWait();
        }
        else if (idleCycles <= SPINS + YIELDS)
        {
            Thread.yield();
        }
        else
        {
            node.queue().sleep(sleepNs);
        }
    }
}
