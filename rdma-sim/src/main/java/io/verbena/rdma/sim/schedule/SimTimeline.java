package io.verbena.rdma.sim.schedule;

import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.NanoClock;

import java.util.List;

/**
 * Virtual time, and a queue of steps ordered by time and then by the seed. Time moves only with steps. One thread.
 */
public final class SimTimeline
{
    private final SimFabricOptions options;
    private final SimDecisions decisions;
    private final SimIncidents incidents;
    private final SimAgenda agenda;
    private final SimTrace trace;
    private final NanoClock clock = this::nowNs;
    private long nowNs = 1;
    private long sequence;
    private boolean isInStep;

    /**
     * @param decisions from wherever.
     * @param options   how adversarial the fabric is.
     * @param faults    exactly these happen; null to draw them.
     * @param agenda    orders the steps.
     */
    public SimTimeline(
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

    /** @return virtual time, as a clock. */
    public NanoClock clock()
    {
        return clock;
    }

    /** @return virtual time. */
    public long nowNs()
    {
        return nowNs;
    }

    /** @return a number larger than all before, to tell what was first within one time. */
    public long nextSequence()
    {
        return sequence++;
    }

    /** @return whether this is called by something that a step does, such as an agent. */
    public boolean isInStep()
    {
        return isInStep;
    }

    /** @return how adversarial the fabric is. */
    public SimFabricOptions options()
    {
        return options;
    }

    /** @return what decides. */
    public SimDecisions decisions()
    {
        return decisions;
    }

    /** @return what goes wrong. */
    public SimIncidents incidents()
    {
        return incidents;
    }

    /** @return what has happened. */
    public SimTrace trace()
    {
        return trace;
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

    /** Executes a step taken from the agenda, moving virtual time to it. */
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

    /** Drops all steps. */
    public void clear()
    {
        agenda.clear();
    }

    /** A step that happens when its time has come. */
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
    public long drawDelayNs(final SimParty from, final int number, final int direction)
    {
        final long lane = SimDecisions.lane(from.index(), number, direction);
        final long spanNs = options.maxDelayNs() - options.minDelayNs() + 1;
        final long ordinaryNs = options.minDelayNs() + decisions.next(SimDecision.DELAY_NS, lane, spanNs);
        return incidents.delayNs(from, number, direction, ordinaryNs, options);
    }
}
