package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SeededDecisions;
import io.verbena.rdma.sim.schedule.SimAgenda;
import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.sim.schedule.SimFault;
import io.verbena.rdma.sim.schedule.SimIncidents;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTrace;
import io.verbena.rdma.sim.schedule.TimedAgenda;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

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

    private final SimFabricOptions options;
    private final SimDecisions decisions;
    private final SimIncidents incidents;
    private final SimAgenda agenda;
    private final List<SimDevice> devices = new ArrayList<>();
    private final SimTrace trace;
    private final SimNamedMemory named = new SimNamedMemory();
    private final NanoClock clock = this::nowNs;
    private long nowNs = 1;
    private long sequence;
    private SimObserver observer = SimObserver.NONE;
    private boolean isInStep;

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
        this.agenda = agenda;
        this.decisions = decisions;
        this.trace = new SimTrace(decisions.seed());
        this.options = options;
        this.incidents = new SimIncidents(decisions, faults);
        if (options.minDelayNs() < 1 || options.maxDelayNs() < options.minDelayNs())
        {
            throw new RdmaException(
                "delays must be 1 or more and ordered: minDelayNs=" + options.minDelayNs() + ", maxDelayNs=" +
                options.maxDelayNs());
        }
    }

    /** @return the seed given. */
    public long seed()
    {
        return decisions.seed();
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
        final SimDevice device = new SimDevice(this, name, index, new DeviceAddress(GID_PREFIX, index));
        devices.add(device);
        incidents.addDevice(name, index);
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
        return clock;
    }

    /**
     * Executes the next step, moving virtual time to it.
     *
     * @return false when there is none.
     */
    public boolean step()
    {
        final SimStep step = agenda.poll();
        if (step == null)
        {
            return false;
        }
        execute(step);
        return true;
    }

    public void execute(final SimStep step)
    {
        nowNs = Math.max(nowNs, step.timeNs);
        trace.add(step);
        isInStep = true;
        try
        {
            step.action.run();
        }
        finally
        {
            isInStep = false;
        }
    }

    /** Time goes on to this at least, without the steps due until then. */
    public void waitUntil(final long timeNs)
    {
        nowNs = Math.max(nowNs, timeNs);
    }

    /** @return virtual time of the next step, {@link Long#MAX_VALUE} when there is none. */
    public long nextStepNs()
    {
        final SimStep step = agenda.peek();
        return step == null ? Long.MAX_VALUE : step.timeNs;
    }

    /**
     * Moves virtual time forward, executing the steps due until then.
     *
     * @param targetNs the new time, not before the present one.
     */
    public void advanceTo(final long targetNs)
    {
        if (targetNs < nowNs)
        {
            throw new RdmaException("time does not go back: nowNs=" + nowNs + ", targetNs=" + targetNs);
        }
        while (nextStepNs() <= targetNs)
        {
            step();
        }
        nowNs = targetNs;
    }

    /** @return steps executed so far. */
    public long steps()
    {
        return trace.stepCount();
    }

    /** @return hash of everything that happened so far; equal for equal seeds and calls. */
    public long traceHash()
    {
        return trace.hash();
    }

    /** @return the last steps in words, for messages. */
    public String recentSteps()
    {
        return trace.recentSteps();
    }

    /** Frees all memory, whoever still has it open. */
    @Override
    public void close()
    {
        agenda.clear();
        devices.forEach(SimDevice::freeMemory);
        named.close();
    }

    SimNamedMemory named()
    {
        return named;
    }

    public long nowNs()
    {
        return nowNs;
    }

    /** A number larger than all before, to tell what was first within one time. */
    long nextSequence()
    {
        return sequence++;
    }

    /** Whether this is called by something that a step does, such as an agent. */
    boolean isInStep()
    {
        return isInStep;
    }

    SimFabricOptions options()
    {
        return options;
    }

    public SimDecisions decisions()
    {
        return decisions;
    }

    public void observe(final SimObserver newObserver)
    {
        observer = newObserver;
    }

    SimObserver observer()
    {
        return observer;
    }

    public SimIncidents incidents()
    {
        return incidents;
    }

    SimTrace trace()
    {
        return trace;
    }

    SimDevice find(final DeviceAddress address)
    {
        for (final SimDevice device : devices)
        {
            if (device.address().equals(address) && !device.isClosed())
            {
                return device;
            }
        }
        return null;
    }

    public void schedule(
        final long timeNs, final SimStep.Kind kind, final int device, final int detail, final Runnable action)
    {
        schedule(timeNs, kind, device, detail, null, action);
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
        final long tieBreak =
            decisions.next(SimDecision.TIE, SimDecisions.lane(device, detail, kind.ordinal() & 3), Long.MAX_VALUE);
        agenda.add(new SimStep(timeNs, tieBreak, sequence++, kind, device, detail, choice, action));
    }

    /** One message's way: usually short, sometimes long. */
    long drawDelayNs(final SimDevice from, final int number, final int direction)
    {
        final long lane = SimDecisions.lane(from.index(), number, direction);
        final long spanNs = options.maxDelayNs() - options.minDelayNs() + 1;
        final long ordinaryNs = options.minDelayNs() + decisions.next(SimDecision.DELAY_NS, lane, spanNs);
        return incidents.delayNs(from, number, direction, ordinaryNs, options);
    }
}
