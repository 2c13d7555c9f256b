package io.verbena.rdma.sim.schedule;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Long2ObjectHashMap;

import java.util.ArrayList;
import java.util.List;

/**
 * Long delays and stalls: drawn with the probabilities of the options, or exactly those of a given schedule. Keeps what
 * happened as {@link SimFault}s, so that a run can be repeated with some of them left out.
 */
public final class SimIncidents
{
    private static final long PARTS = 1_000_000;
    private static final int AGENT_DIRECTION = 3;
    private static final long NONE = -1;

    private final SimDecisions decisions;
    /** Null: drawn. */
    private final List<SimFault> given;
    private final Long2ObjectHashMap<Long2LongHashMap> givenNsByLane = new Long2ObjectHashMap<>();
    private final Long2LongHashMap counts = new Long2LongHashMap(256, 0.5f, 0);
    private final List<SimFault> happened = new ArrayList<>();

    public SimIncidents(final SimDecisions decisions, final List<SimFault> given)
    {
        this.decisions = decisions;
        this.given = given;
    }

    public static long agentLane(final int deviceIndex, final int agentIndex)
    {
        return SimDecisions.lane(deviceIndex, agentIndex, AGENT_DIRECTION);
    }

    /** @return whether faults were given, so that none are drawn. */
    public boolean isGiven()
    {
        return given != null;
    }

    public List<SimFault> given()
    {
        return given;
    }

    /** @return incidents and faults that happened so far. */
    public List<SimFault> happened()
    {
        return List.copyOf(happened);
    }

    public void add(final SimFault fault)
    {
        happened.add(fault);
    }

    /** A device appears: from now on its lanes have the given incidents. */
    public void addDevice(final String name, final int deviceIndex)
    {
        for (final SimFault fault : isGiven() ? given : List.<SimFault>of())
        {
            if (!fault.isScheduled() && fault.node().equals(name))
            {
                final int direction = fault.kind() == SimFault.Kind.STALL ? AGENT_DIRECTION : fault.direction();
                givenNsByLane
                    .computeIfAbsent(
                        SimDecisions.lane(deviceIndex, fault.number(), direction), lane -> new Long2LongHashMap(NONE))
                    .put(fault.count(), fault.durationNs());
            }
        }
    }

    /** @return the delay of this message, or the ordinary one. */
    public long delayNs(
        final SimParty from, final int number, final int direction, final long ordinaryNs, final SimFabricOptions o)
    {
        final long lane = SimDecisions.lane(from.index(), number, direction);
        final long count = count(lane);
        if (isGiven())
        {
            return givenNs(SimFault.Kind.DELAY, from.name(), number, direction, lane, count, ordinaryNs);
        }
        if (!happens(SimDecision.LONG_DELAY, lane, o.longDelayProbability()))
        {
            return ordinaryNs;
        }
        final long spanNs = Math.max(o.longDelayNs() - o.maxDelayNs(), 0) + 1;
        final long durationNs = o.maxDelayNs() + decisions.next(SimDecision.LONG_DELAY_NS, lane, spanNs);
        add(new SimFault(SimFault.Kind.DELAY, from.name(), "", 0, count, durationNs, number, direction));
        return durationNs;
    }

    /** @return the time until the agent is called again, or the ordinary one. */
    public long stallNs(final SimParty device, final int agentIndex, final long ordinaryNs, final SimFabricOptions o)
    {
        final long lane = agentLane(device.index(), agentIndex);
        final long count = count(lane);
        if (isGiven())
        {
            return givenNs(SimFault.Kind.STALL, device.name(), agentIndex, 0, lane, count, ordinaryNs);
        }
        if (!happens(SimDecision.STALL, lane, o.agentStallProbability()))
        {
            return ordinaryNs;
        }
        final long durationNs = decisions.next(SimDecision.STALL_NS, lane, o.agentStallNs() + 1);
        add(new SimFault(SimFault.Kind.STALL, device.name(), "", 0, count, durationNs, agentIndex, 0));
        return durationNs;
    }

    private long count(final long lane)
    {
        final long count = counts.get(lane);
        counts.put(lane, count + 1);
        return count;
    }

    private boolean happens(final SimDecision what, final long lane, final double probability)
    {
        return probability > 0 && decisions.next(what, lane, PARTS) >= PARTS - Math.round(probability * PARTS);
    }

    private long givenNs(
        final SimFault.Kind kind,
        final String node,
        final int number,
        final int direction,
        final long lane,
        final long count,
        final long ordinaryNs)
    {
        final Long2LongHashMap byCount = givenNsByLane.get(lane);
        final long durationNs = byCount == null ? NONE : byCount.get(count);
        if (durationNs == NONE)
        {
            return ordinaryNs;
        }
        add(new SimFault(kind, node, "", 0, count, durationNs, number, direction));
        return durationNs;
    }
}
