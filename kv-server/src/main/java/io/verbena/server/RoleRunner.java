package io.verbena.server;

import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread of a {@link Role}: duty cycles until it is stopped or fails, an orderly end with a deadline, then closing.
 * Thread-safe.
 */
public final class RoleRunner
{
    private static final Logger LOGGER = LoggerFactory.getLogger(RoleRunner.class);
    /** How long an orderly end may take: 10 s. */
    public static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_SPINS = 100;
    private static final long MAX_YIELDS = 50;
    private static final long MIN_PARK_NS = 20_000;
    private static final long MAX_PARK_NS = 2_000_000;
    private static final long POLL_NS = 1_000_000;

    private final Role role;
    private final NanoClock clock;
    private final IdleStrategy idle = new BackoffIdleStrategy(MAX_SPINS, MAX_YIELDS, MIN_PARK_NS, MAX_PARK_NS);
    private final Thread thread;
    private volatile boolean stopping;
    private volatile boolean ready;
    private volatile String failure = "";

    private RoleRunner(final Role role)
    {
        this.role = role;
        clock = role.device().clock();
        thread = new Thread(this::run, "verbena-" + role.name());
    }

    /**
     * Starts the thread, which keeps the process alive until the role ends.
     *
     * @param role to run; closed by the thread.
     * @return its runner.
     */
    public static RoleRunner start(final Role role)
    {
        final RoleRunner runner = new RoleRunner(role);
        runner.thread.start();
        return runner;
    }

    /** @return true while the role is ready. */
    public boolean isReady()
    {
        return ready;
    }

    /** @return why the role ended by itself; empty otherwise. */
    public String failure()
    {
        return failure;
    }

    /**
     * Waits until the role is ready.
     *
     * @param timeoutNs longest wait.
     * @return false when it was not in time, or has ended: see {@link #failure()}.
     */
    public boolean awaitReady(final long timeoutNs)
    {
        final long deadlineNs = clock.nanoTime() + timeoutNs;
        while (!ready && thread.isAlive() && deadlineNs - clock.nanoTime() > 0)
        {
            LockSupport.parkNanos(this, POLL_NS);
        }
        return ready;
    }

    /** Asks for an orderly end; returns at once. */
    public void stop()
    {
        stopping = true;
        LockSupport.unpark(thread);
    }

    /**
     * Waits until the role has ended and is closed.
     *
     * @param timeoutNs longest wait.
     * @return true if it has.
     */
    public boolean awaitEnd(final long timeoutNs)
    {
        final long deadlineNs = clock.nanoTime() + Math.min(timeoutNs, Long.MAX_VALUE >> 1);
        while (thread.isAlive() && deadlineNs - clock.nanoTime() > 0)
        {
            LockSupport.parkNanos(this, POLL_NS);
        }
        return !thread.isAlive();
    }

    private void run()
    {
        try
        {
            while (!stopping && role.failure().isEmpty())
            {
                idle.idle(role.doWork());
                ready = role.isReady();
            }
            failure = role.failure();
            ready = false;
            drain();
        }
        catch (final RuntimeException | Error ex)
        {
            LOGGER.error("{} failed", role.name(), ex);
            failure = role.name() + " failed: " + ex;
        }
        finally
        {
            ready = false;
            role.close();
        }
    }

    private void drain()
    {
        final long deadlineNs = clock.nanoTime() + DRAIN_TIMEOUT_NS;
        role.drain();
        while (failure.isEmpty() && !role.isDrained() && deadlineNs - clock.nanoTime() > 0)
        {
            idle.idle(role.doWork());
        }
    }
}
