package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimIncidents;
import io.verbena.rdma.sim.schedule.SimStep;

import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentTerminationException;

import java.util.ArrayList;
import java.util.List;

/** One node of a {@link SimWorld}: a device and the agents that run on it. */
public final class SimNode
{
    private final SimFabric fabric;
    private final SimFabricOptions options;
    private final String name;
    private final SimDevice device;
    private final List<AgentRun> runs = new ArrayList<>();
    private int agentCount;
    private boolean isPaused;

    SimNode(
        final SimFabric fabric, final SimFabricOptions options, final String name, final SimDevice device)
    {
        this.fabric = fabric;
        this.options = options;
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
            final long ordinaryNs = options.minAgentStepNs() + fabric.decisions().next(
                SimDecision.STEP_NS,
                SimIncidents.agentLane(device.index(), index),
                options.maxAgentStepNs() - options.minAgentStepNs() + 1);
            return fabric.incidents().stallNs(device.host(), index, ordinaryNs, options);
        }

        private void schedule(final long delayNs)
        {
            fabric.schedule(
                fabric.nowNs() + delayNs, SimStep.Kind.AGENT, device.index(), index, this::run);
        }

        /** Idle agents are called at growing intervals, so that waiting for a timer costs few steps. */
        private long nextIdleNs()
        {
            return Math.min(options.maxAgentIdleNs(), idleNs * 2 + 1);
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
                idleNs = agent.doWork() > 0 ? 0 : nextIdleNs();
                schedule(drawStepNs() + idleNs);
            }
            catch (final AgentTerminationException ex)
            {
                runs.remove(this);
                agent.onClose();
            }
            catch (final Exception | AssertionError ex)
            {
                throw fabric.failure("agent " + agent.roleName() + " of node " + name + " threw " + ex, ex);
            }
        }
    }
}
