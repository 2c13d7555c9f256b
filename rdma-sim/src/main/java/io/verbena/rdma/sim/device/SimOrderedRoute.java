package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.WorkRequest;

import java.util.ArrayDeque;

/** Messages of a connection: each arrives after a delay of its own, none before an earlier one. */
abstract class SimOrderedRoute implements SimRoute
{
    private final Owner queuePair;
    private final SimHost host;
    private final SimTimeline timeline;
    private final Rnic rnic;
    /** Sent and not arrived. */
    private final ArrayDeque<SimRequest> travelling = new ArrayDeque<>();
    private long lastArrivalNs;
    private int heldArrivals;

    SimOrderedRoute(final Owner queuePair)
    {
        this.queuePair = queuePair;
        this.host = queuePair.host();
        this.timeline = host.timeline();
        this.rnic = queuePair.network().rnic(host);
    }

    /** A request has come to where it leads. */
    abstract void deliver(SimRequest request);

    final Owner queuePair()
    {
        return queuePair;
    }

    /** Whether the cost model of a NIC decides how long messages take. */
    final boolean hasRnic()
    {
        return rnic != null;
    }

    final SimTimeline timeline()
    {
        return timeline;
    }

    @Override
    public boolean mustWait(final WorkRequest posted, final boolean isIdle)
    {
        return false;
    }

    @Override
    public void send(final SimRequest request)
    {
        travelling.add(request);
        if (rnic == null)
        {
            scheduleArrival();
            return;
        }
        rnic.send(request);
    }

    @Override
    public final void sendHeld()
    {
        for (; heldArrivals > 0; heldArrivals--)
        {
            scheduleArrival();
        }
    }

    @Override
    public void idle()
    {
    }

    @Override
    public void end()
    {
    }

    @Override
    public void killed()
    {
    }

    @Override
    public void describe(final StateWords words)
    {
        words.accept(heldArrivals);
        words.accept(travelling.size());
        travelling.forEach(request -> request.describe(words));
    }

    private void scheduleArrival()
    {
        scheduleArrival(
            null, timeline.nowNs() + timeline.drawDelayNs(host, queuePair.number(), SimRequest.REQUEST));
    }

    @Override
    public final void scheduleArrival(final SimRequest request, final long timeNs)
    {
        // Never before an earlier one, so that one long delay delays all that follow on this queue pair.
        lastArrivalNs = Math.max(lastArrivalNs + 1, timeNs);
        timeline.schedule(lastArrivalNs, SimStep.Kind.ARRIVE, host.index(), queuePair.number(), this::arrive);
    }

    /** The oldest travelling request arrives: whichever step brings it, order is kept. */
    private void arrive()
    {
        if (queuePair.isHeld())
        {
            heldArrivals++;
            return;
        }
        final SimRequest request = travelling.poll();
        if (request.connection.isCut() || host.isSilenced())
        {
            queuePair.giveUp(request);
        }
        else
        {
            deliver(request);
        }
    }
}
