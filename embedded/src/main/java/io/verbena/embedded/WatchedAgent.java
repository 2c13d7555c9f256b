package io.verbena.embedded;

import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;

import java.util.concurrent.TimeUnit;

/** An agent that publishes its figures now and then, on its own thread: nobody else may read what it owns. */
final class WatchedAgent implements Agent
{
    /** Between two times. */
    static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Agent agent;
    private final Runnable publisher;
    private final NanoClock clock;
    private long publishedNs;

    /** @param publisher makes figures of the agent and leaves them to other threads. */
    WatchedAgent(final Agent agent, final Runnable publisher, final NanoClock clock)
    {
        this.agent = agent;
        this.publisher = publisher;
        this.clock = clock;
        publishedNs = clock.nanoTime() - PERIOD_NS;
    }

    @Override
    public String roleName()
    {
        return agent.roleName();
    }

    @Override
    public void onStart()
    {
        agent.onStart();
    }

    @Override
    public int doWork() throws Exception
    {
        final int work = agent.doWork();
        final long nowNs = clock.nanoTime();
        if (nowNs - publishedNs >= PERIOD_NS)
        {
            publishedNs = nowNs;
            publisher.run();
        }
        return work;
    }

    @Override
    public void onClose()
    {
        agent.onClose();
    }
}
