package io.verbena.embedded;

import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How the agents of a meta server or memory node wait: spin and give way a little after work, then sleep longer and
 * longer, up to 2 ms, and up to 8 when nothing has happened for a while, because their calls are rare and one-sided
 * requests do not need them; each waking costs 5 to 25 microseconds of CPU. Somebody who is about to call several times
 * in a row, such as a node that joins, can keep them awake for a while.
 */
final class AgentIdleStrategy implements IdleStrategy
{
    private static final int SPINS = 20;
    private static final int YIELDS = 10;
    private static final long MIN_SLEEP_NS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long MAX_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(2);
    /** Sleeps, 15 ms in all, after which nobody is taken to be about to call. */
    private static final int SLEEPS_UNTIL_DEEP = 10;
    private static final long MAX_DEEP_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(8);

    private final NanoClock clock;
    private volatile Thread thread;
    private volatile long awakeUntilNs;
    private volatile boolean awake;
    private int idleCycles;
    private long sleepNs = MIN_SLEEP_NS;

    /** @param clock of the fabric. */
    AgentIdleStrategy(final NanoClock clock)
    {
        this.clock = clock;
    }

    /**
     * Keeps the agent from sleeping. Any thread.
     *
     * @param durationNs for how long, from now.
     */
    void keepAwake(final long durationNs)
    {
        awakeUntilNs = clock.nanoTime() + durationNs;
        awake = true;
        LockSupport.unpark(thread);
    }

    /** Lets the agent sleep again. Any thread. */
    void letSleep()
    {
        awake = false;
    }

    @Override
    public void idle(final int workCount)
    {
        if (workCount > 0)
        {
            reset();
        }
        else
        {
            idle();
        }
    }

    @Override
    public void idle()
    {
        idleCycles++;
        if (idleCycles <= SPINS)
        {
            Thread.onSpinWait();
        }
        else if (idleCycles <= SPINS + YIELDS || isKeptAwake())
        {
            Thread.yield();
        }
        else
        {
            thread = Thread.currentThread();
            LockSupport.parkNanos(this, sleepNs);
            final boolean deep = idleCycles > SPINS + YIELDS + SLEEPS_UNTIL_DEEP;
            sleepNs = Math.min(deep ? MAX_DEEP_SLEEP_NS : MAX_SLEEP_NS, sleepNs * 2);
        }
    }

    @Override
    public void reset()
    {
        idleCycles = 0;
        sleepNs = MIN_SLEEP_NS;
    }

    private boolean isKeptAwake()
    {
        if (awake && clock.nanoTime() - awakeUntilNs >= 0)
        {
            awake = false;
        }
        return awake;
    }
}
