package io.verbena.embedded;

import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.TimeUnit;

/**
 * An agent on a thread named after its role, ended within a deadline. Closing it closes the agent on its own thread.
 */
final class AgentThread
{
    /** An agent by another name: the runner calls its thread after the agent's role, of which there may be several. */
    private record NamedAgent(String roleName, Agent agent) implements Agent
    {
        @Override
        public void onStart()
        {
            agent.onStart();
        }

        @Override
        public int doWork() throws Exception
        {
            return agent.doWork();
        }

        @Override
        public void onClose()
        {
            agent.onClose();
        }
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(AgentThread.class);

    private final String name;
    private final AgentIdleStrategy idleStrategy;
    private final AgentRunner runner;

    private AgentThread(final String name, final Agent agent, final NanoClock clock)
    {
        this.name = name;
        idleStrategy = new AgentIdleStrategy(clock);
        runner = new AgentRunner(idleStrategy, (error) -> LOGGER.error("{} failed", name, error), null,
            new NamedAgent(name, agent));
    }

    static AgentThread start(final String name, final Agent agent, final NanoClock clock)
    {
        final AgentThread thread = new AgentThread(name, agent, clock);
        AgentRunner.startOnThread(thread.runner, (runnable) ->
        {
            final Thread started = new Thread(runnable);
            started.setDaemon(true);
            return started;
        });
        return thread;
    }

    AgentIdleStrategy idleStrategy()
    {
        return idleStrategy;
    }

    /**
     * Ends the thread.
     *
     * @param timeoutNs longest wait.
     * @throws EmbeddedClusterException when it did not end in time.
     */
    void close(final long timeoutNs)
    {
        final int timeoutMs = Math.clamp(TimeUnit.NANOSECONDS.toMillis(timeoutNs), 1, Integer.MAX_VALUE);
        runner.close(timeoutMs, (thread) ->
        {
            throw new EmbeddedClusterException(name + " did not end within " + timeoutMs + " ms");
        });
    }
}
