package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.schedule.SimStep;

import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentTerminationException;

import java.util.ArrayList;
import java.util.List;

/** One node of a {@link SimWorld}: a device and the agents that run on it. */
public final class SimNode
{
    private final SimWorld world;
    private final String name;
    private final SimDevice device;
    private final List<AgentRun> runs = new ArrayList<>();
    private int agentCount;
    private boolean isPaused;

    SimNode(final SimWorld world, final String name, final SimDevice device)
    {
        this.world = world;
        this.name = name;
        this.device = device;
    }

    /** @return name, for messages. */
    public String name()
    {
        return name;
    }

    /** @return its device. */
    public SimDevice device()
    {
        return device;
    }

    /**
     * Adds an agent; its {@code onStart} is called before its first {@code doWork}, both by steps of the world.
     *
     * @param agent production code. When it throws {@link AgentTerminationException} it is closed and not called again;
     *              anything else fails the run.
     * @return this.
     */
    public SimNode addAgent(final Agent agent)
    {
        final AgentRun run = new AgentRun(agent, agentCount++);
        runs.add(run);
        run.schedule(run.drawStepNs());
        return this;
    }

    /**
     * Takes an agent away without closing it.
     *
     * @param agent not called again.
     */
    public void removeAgent(final Agent agent)
    {
        runs.removeIf(run -> run.agent == agent);
    }

    /** The node dies: agents are not called again (not even {@code onClose}) and the device is killed. */
    public void kill()
    {
        device.kill();
    }

    /** Agents are not called until {@link #resume()}; see also {@link SimDevice#pause()}. */
    public void pause()
    {
        isPaused = true;
        device.pause();
    }

    /** Ends {@link #pause()}. */
    public void resume()
    {
        isPaused = false;
        device.resume();
        runs.forEach(AgentRun::resume);
    }

    /** @return whether it runs: neither killed nor paused. */
    public boolean isRunning()
    {
        return !isPaused && !device.isKilled();
    }

    void close()
    {
        if (!device.isKilled())
        {
            runs.forEach(run -> run.agent.onClose());
        }
        runs.clear();
    }

    /** The calls of one agent: soon again when it works, more rarely when it idles. */
    private final class AgentRun
    {
        private final Agent agent;
        private final int index;
        private boolean isStarted;
        private boolean isParked;
        private long idleNs;

        private AgentRun(final Agent agent, final int index)
        {
            this.agent = agent;
            this.index = index;
        }

        private long drawStepNs()
        {
            return world.drawStepNs(device, index);
        }

        private void schedule(final long delayNs)
        {
            world.fabric().schedule(
                world.fabric().nowNs() + delayNs, SimStep.Kind.AGENT, device.index(), index, this::run);
        }

        private void resume()
        {
            if (isParked)
            {
                isParked = false;
                schedule(drawStepNs());
            }
        }

        private void run()
        {
            if (!runs.contains(this) || device.isKilled())
            {
                return;
            }
            if (isPaused)
            {
                isParked = true;
                return;
            }
            try
            {
                if (!isStarted)
                {
                    isStarted = true;
                    agent.onStart();
                }
                idleNs = agent.doWork() > 0 ? 0 : world.nextIdleNs(idleNs);
                schedule(drawStepNs() + idleNs);
            }
            catch (final AgentTerminationException ex)
            {
                runs.remove(this);
                agent.onClose();
            }
            catch (final Exception | AssertionError ex)
            {
                throw world.failure("agent " + agent.roleName() + " of node " + name + " threw " + ex, ex);
            }
        }
    }
}
