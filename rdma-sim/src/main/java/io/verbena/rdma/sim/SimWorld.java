package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.sim.schedule.SeededDecisions;
import io.verbena.rdma.sim.schedule.SeededRandom;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimFault;
import io.verbena.rdma.sim.schedule.SimIncidents;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.TimedAgenda;

import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * Runs the agents of many nodes in one thread over a {@link SimFabric}, interleaved by the seed, with virtual time.
 * Each call of an agent is a step of the fabric, so nodes can be stopped between any two verbs of any node. Failures
 * are {@link SimFailureException}s that name the seed.
 */
public final class SimWorld implements AutoCloseable
{
    private final SimFabric fabric;
    private final SimFabricOptions options;
    private final List<SimNode> nodes = new ArrayList<>();
    private final RandomGenerator random;

    /**
     * @param seed    decides everything.
     * @param options of the fabric and the agents' timing.
     */
    public SimWorld(final long seed, final SimFabricOptions options)
    {
        this(new SeededDecisions(seed), options, null);
    }

    /**
     * @param decisions from a seed or a recording.
     * @param options   of the fabric and the agents' timing.
     * @param faults    exactly these go wrong and none is drawn; null to draw them by the options and
     *                  {@link #injectFaults}.
     */
    public SimWorld(final SimDecisions decisions, final SimFabricOptions options, final List<SimFault> faults)
    {
        this.fabric = new SimFabric(
            decisions, options, faults == null ? null : List.copyOf(faults), new TimedAgenda());
        this.options = options;
        this.random = new SeededRandom(decisions, SimDecision.WORKLOAD);
    }

    /** @return the seed given. */
    public long seed()
    {
        return fabric.seed();
    }

    /** @return the fabric. */
    public SimFabric fabric()
    {
        return fabric;
    }

    /** @return virtual time. */
    public NanoClock clock()
    {
        return fabric.clock();
    }

    /** @return random numbers of this world, for workloads and faults; a stream apart from the fabric's. */
    public RandomGenerator random()
    {
        return random;
    }

    /**
     * Adds a node with a device of its own.
     *
     * @param name for messages and the trace.
     * @return the node.
     */
    public SimNode addNode(final String name)
    {
        final SimNode node = new SimNode(fabric, options, name, fabric.openDevice(name));
        nodes.add(node);
        return node;
    }

    /** @return the nodes added so far, also dead ones. */
    public List<SimNode> nodes()
    {
        return List.copyOf(nodes);
    }

    /**
     * Schedules an action, such as a fault.
     *
     * @param delayNs from now, 0 or more.
     * @param action  called once, as a step of its own.
     */
    public void after(final long delayNs, final Runnable action)
    {
        fabric.schedule(fabric.nowNs() + delayNs, SimStep.Kind.ACTION, 0, 0, () ->
        {
            try
            {
                action.run();
            }
            catch (final SimFailureException ex)
            {
                throw ex;
            }
            catch (final RuntimeException | AssertionError ex)
            {
                throw failure("scheduled action threw " + ex, ex);
            }
        });
    }

    /**
     * Schedules faults, from now: those given to the constructor, else drawn ones. To be called once, when the nodes
     * are there.
     *
     * @param faultOptions what to draw.
     */
    public void injectFaults(final SimFaultOptions faultOptions)
    {
        final SimIncidents incidents = fabric.incidents();
        final int before = incidents.happened().size();
        if (incidents.isGiven())
        {
            incidents.given().stream().filter(SimFault::isScheduled).forEach(incidents::add);
        }
        else
        {
            faultOptions.draw(new SeededRandom(fabric.decisions(), SimDecision.FAULT), incidents);
        }
        final List<SimFault> all = incidents.happened();
        all.subList(before, all.size()).forEach(fault -> after(fault.atNs(), () -> inject(fault)));
    }

    /** @return the faults so far: scheduled ones, also those whose time has not come, long delays and stalls. */
    public List<SimFault> faults()
    {
        return fabric.incidents().happened();
    }

    /**
     * Runs until a condition holds.
     *
     * @param condition looked at before each step.
     * @param maxSteps  bound.
     * @throws SimFailureException when the bound is reached, nothing is left to do, or an agent throws.
     */
    public void runUntil(final BooleanSupplier condition, final long maxSteps)
    {
        long left = maxSteps;
        while (!condition.getAsBoolean())
        {
            if (left-- <= 0)
            {
                throw failure("condition does not hold after " + maxSteps + " steps", null);
            }
            if (!fabric.step())
            {
                throw failure("condition does not hold and nothing is left to do", null);
            }
        }
    }

    /**
     * Runs for some virtual time.
     *
     * @param durationNs virtual.
     * @throws SimFailureException when an agent throws.
     */
    public void runFor(final long durationNs)
    {
        fabric.advanceTo(fabric.nowNs() + durationNs);
    }

    /** @return steps so far, of agents, fabric and actions. */
    public long steps()
    {
        return fabric.steps();
    }

    /** @return hash of everything that happened; equal for equal seeds. */
    public long traceHash()
    {
        return fabric.traceHash();
    }

    /**
     * A failure that names seed, step, time and the last steps; for the checks of a test too.
     *
     * @param what  went wrong.
     * @param cause or null.
     * @return the exception, to be thrown.
     */
    public SimFailureException failure(final String what, final Throwable cause)
    {
        return fabric.failure(what, cause);
    }

    /** Closes the agents of running nodes, then frees all memory. */
    @Override
    public void close()
    {
        for (int i = nodes.size() - 1; i >= 0; i--)
        {
            nodes.get(i).close();
        }
        fabric.close();
    }

    private void inject(final SimFault fault)
    {
        final SimNode node = node(fault.node());
        switch (fault.kind())
        {
            case KILL -> node.kill();
            case KILL_AFTER -> node.device().killAfterRequests(fault.count());
            case PAUSE ->
            {
                node.pause();
                after(fault.durationNs(), node::resume);
            }
            case BREAK -> node.device().breakConnections(node(fault.peer()).device());
            default -> throw new IllegalArgumentException("cannot be scheduled: " + fault);
        }
    }

    private SimNode node(final String name)
    {
        return nodes.stream().filter(node -> node.name().equals(name)).findFirst().orElseThrow(
            () -> new IllegalArgumentException("no node has this name: " + name + ", there are " +
                nodes.stream().map(SimNode::name).toList()));
    }
}
