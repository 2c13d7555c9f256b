package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SeededDecisions;
import io.verbena.rdma.sim.schedule.SimAgenda;
import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFailureException;
import io.verbena.rdma.sim.schedule.SimFault;
import io.verbena.rdma.sim.schedule.SimIncidents;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.TimedAgenda;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;

/**
 * A simulated fabric: devices, virtual time, and a queue of steps ordered by time and then by the seed. Time moves only
 * with steps. One thread.
 */
public final class SimFabric implements Fabric
{
    private static final long GID_PREFIX = 0xFE80_0000_0000_0000L;

    private final SimTimeline timeline;
    private final SimNetwork network;
    private final SimNamedMemory named = new SimNamedMemory();
    private final List<SimDevice> devices = new ArrayList<>();

    /**
     * @param seed    decides everything; equal seeds and equal calls give equal runs.
     * @param options how adversarial it is.
     */
    public SimFabric(final long seed, final SimFabricOptions options)
    {
        this(new SeededDecisions(seed), options, null, new TimedAgenda());
    }

    /**
     * @param decisions from wherever.
     * @param options   how adversarial it is.
     */
    public SimFabric(final SimDecisions decisions, final SimFabricOptions options)
    {
        this(decisions, options, null, new TimedAgenda());
    }

    /**
     * @param decisions from wherever.
     * @param options   how adversarial it is.
     * @param faults    exactly these happen; null to draw them.
     * @param agenda    orders the steps.
     */
    public SimFabric(
        final SimDecisions decisions,
        final SimFabricOptions options,
        final List<SimFault> faults,
        final SimAgenda agenda)
    {
        timeline = new SimTimeline(decisions, options, faults, agenda);
        network = new SimNetwork(timeline);
    }

    /** @return the seed given. */
    public long seed()
    {
        return timeline.decisions().seed();
    }

    @Override
    public String provider()
    {
        return "sim";
    }

    @Override
    public List<String> deviceNames()
    {
        return devices.stream().map(SimDevice::name).toList();
    }

    /**
     * Opens one more device; each stands for a node of its own.
     *
     * @param name for messages and the trace.
     * @return the device.
     */
    @Override
    public SimDevice openDevice(final String name)
    {
        final int index = devices.size() + 1;
        final SimDevice device = new SimDevice(
            network,
            new SimHost(timeline, named, name, index, new DeviceAddress(GID_PREFIX, index)),
            named,
            (host, servicePort) -> devices.get(host.index() - 1).listener(servicePort));
        devices.add(device);
        timeline.incidents().addDevice(name, index);
        return device;
    }

    @Override
    public boolean hasNamed(final String name)
    {
        return named.has(name);
    }

    @Override
    public boolean discardNamed(final String name)
    {
        return named.discard(name);
    }

    /** @return virtual time. */
    public NanoClock clock()
    {
        return timeline.clock();
    }

    /**
     * Executes the next step, moving virtual time to it.
     *
     * @return false when there is none.
     */
    public boolean step()
    {
        return timeline.step();
    }

    public void execute(final SimStep step)
    {
        timeline.execute(step);
    }

    /** Time goes on to this at least, without the steps due until then. */
    public void waitUntil(final long timeNs)
    {
        timeline.waitUntil(timeNs);
    }

    /** @return virtual time of the next step, {@link Long#MAX_VALUE} when there is none. */
    public long nextStepNs()
    {
        return timeline.nextStepNs();
    }

    /**
     * Moves virtual time forward, executing the steps due until then.
     *
     * @param targetNs the new time, not before the present one.
     */
    public void advanceTo(final long targetNs)
    {
        timeline.advanceTo(targetNs);
    }

    /** @return steps executed so far. */
    public long steps()
    {
        return timeline.trace().stepCount();
    }

    /** @return hash of everything that happened so far; equal for equal seeds and calls. */
    public long traceHash()
    {
        return timeline.trace().hash();
    }

    /** @return the last steps in words, for messages. */
    public String recentSteps()
    {
        return timeline.trace().recentSteps();
    }

    /**
     * A failure that names seed, step, time and the last steps.
     *
     * @param what  went wrong.
     * @param cause or null.
     * @return the exception, to be thrown.
     */
    public SimFailureException failure(final String what, final Throwable cause)
    {
        return new SimFailureException(
            what + ": seed=" + seed() + ", step=" + steps() + ", timeNs=" + nowNs() + ", traceHash=" +
            Long.toHexString(traceHash()) + "\nlast steps:" + recentSteps(), cause);
    }

    /** Frees all memory, whoever still has it open. */
    @Override
    public void close()
    {
        timeline.clear();
        devices.forEach(device -> device.host().freeMemory());
        named.close();
    }

    public long nowNs()
    {
        return timeline.nowNs();
    }

    public SimDecisions decisions()
    {
        return timeline.decisions();
    }

    public void observe(final SimObserver newObserver)
    {
        network.observe(newObserver);
    }

    public SimIncidents incidents()
    {
        return timeline.incidents();
    }

    /** A step that happens when its time has come. */
    public void schedule(
        final long timeNs, final SimStep.Kind kind, final int device, final int detail, final Runnable action)
    {
        timeline.schedule(timeNs, kind, device, detail, action);
    }

    /** A step that an exploration may hold back. */
    public void schedule(
        final long timeNs,
        final SimStep.Kind kind,
        final int device,
        final int detail,
        final SimChoice choice,
        final Runnable action)
    {
        timeline.schedule(timeNs, kind, device, detail, choice, action);
    }
}
