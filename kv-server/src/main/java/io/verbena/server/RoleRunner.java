package io.verbena.server;

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
    private static final long PARK_NS = 1_000_000;
    /** Shortest sleep: timers are looked at this late at most. */
    static final long SLEEP_NS = 20_000_000;
    /** Longest sleep, of a role that has nothing to do sooner and is woken for connections: the end is noticed then. */
    static final long LONGEST_SLEEP_NS = 200_000_000;
    /** A role on its way to be ready waits for answers to connections, which wake nobody. */
    private static final long EAGER_NS = 2_000_000_000;
    private static final long EAGER_PARK_NS = 100_000;
    private static final long POLL_NS = 1_000_000;

    private final Role role;
    private final NanoClock clock;
    private final IdleWindow window;
    /** Null where a poll costs no system call. */
    private final AnswerSpin spin;
    private final Thread thread;
    private final boolean busyPolls;
    private final long startedNs;
    private volatile boolean stopping;
    private volatile boolean ready;
    private volatile String failure = "";

    private RoleRunner(final Role role, final boolean busyPolls)
    {
        this.role = role;
        this.busyPolls = busyPolls;
        clock = role.device().clock();
        window = new IdleWindow(role.device().pollsBySystemCall());
        spin = role.device().pollsBySystemCall() ? new AnswerSpin() : null;
        startedNs = clock.nanoTime();
        thread = role.thread(this::run, "verbena-" + role.name());
    }

    /**
     * Starts the thread, which keeps the process alive until the role ends.
     *
     * @param role      to run; closed by the thread.
     * @param busyPolls whether the thread never sleeps: the least latency, for a processor of its own.
     * @return its runner.
     */
    public static RoleRunner start(final Role role, final boolean busyPolls)
    {
        final RoleRunner runner = new RoleRunner(role, busyPolls);
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
        boolean interrupted = false;
        final long deadlineNs = clock.nanoTime() + Math.min(timeoutNs, Long.MAX_VALUE >> 1);
        long leftNs = deadlineNs - clock.nanoTime();
        while (thread.isAlive() && leftNs > 0)
        {
            try
            {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs)));
            }
            catch (final InterruptedException ex)
            {
                interrupted = true;
            }
            leftNs = deadlineNs - clock.nanoTime();
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
            while (!stopping && role.failure().isEmpty())
            {
                final int work = role.doWork();
                if (ready != role.isReady())
                {
                    ready = !ready;
                }
                idle(work);
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

    /**
     * Spins, gives way, then sleeps until something arrives or a timer may be due. Only work ends the sleeping for
     * good: after one that ended by the clock the next one follows at once.
     */
    private void idle(final int work)
    {
        if (work > 0)
        {
            onWork();
            return;
        }
        if (busyPolls || null != spin && role.awaitsAnswers() && spin.polls(clock.nanoTime()))
        {
            return;
        }
        switch (window.next())
        {
            case SPIN -> Thread.onSpinWait();
            case YIELD -> Thread.yield();
            case SLEEP -> sleep();
        }
    }

    private void onWork()
    {
        window.onWork();
        if (null != spin)
        {
            spin.onWork();
        }
    }

    private void sleep()
    {
        if (!ready && clock.nanoTime() - startedNs < EAGER_NS)
        {
            LockSupport.parkNanos(this, EAGER_PARK_NS);
        }
        else if (null != role.completionChannel() && !stopping)
        {
            final long sinceNs = clock.nanoTime();
            final boolean isEvent = null != role.completionChannel().await(sleepNs(role));
            window.onSleep(clock.nanoTime() - sinceNs, isEvent);
        }
        else
        {
            LockSupport.parkNanos(this, PARK_NS);
        }
        role.onWake();
    }

    /** How long a role may sleep that has nothing to do now. */
    static long sleepNs(final Role role)
    {
        return Math.clamp(
            role.idleNs(), SLEEP_NS, role.device().wakesForConnections() ? LONGEST_SLEEP_NS : SLEEP_NS);
    }

    private void drain()
    {
        final long deadlineNs = clock.nanoTime() + role.drainTimeoutNs();
        role.drain();
        while (failure.isEmpty() && !role.isDrained() && deadlineNs - clock.nanoTime() > 0)
        {
            idle(role.doWork());
        }
        if (failure.isEmpty() && !role.isDrained())
        {
            failure = role.name() + " did not end in order within " +
                TimeUnit.NANOSECONDS.toSeconds(role.drainTimeoutNs()) + " s: " + role.undrained();
            LOGGER.error("{}", failure);
        }
    }
}
