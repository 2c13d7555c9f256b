package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.WorkRequest;

import java.util.ArrayDeque;

/** Messages of a connection: each arrives after a delay of its own, none before an earlier one. */
abstract class SimOrderedRoute implements SimRoute
{
    private final SimQueuePair queuePair;
    private final SimDevice device;
    private final SimFabric fabric;
    /** Sent and not arrived. */
    private final ArrayDeque<SimRequest> travelling = new ArrayDeque<>();
    private long lastArrivalNs;
    private int heldArrivals;

    SimOrderedRoute(final SimQueuePair queuePair)
    {
        this.queuePair = queuePair;
        this.device = queuePair.device();
        this.fabric = device.fabric();
    }

    /** A request has come to where it leads. */
    abstract void deliver(SimRequest request);

    final SimQueuePair queuePair()
    {
        return queuePair;
    }

    final SimFabric fabric()
    {
        return fabric;
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
        if (!queuePair.hasRnic())
        {
            scheduleArrival();
            return;
        }
        device.rnic().send(request);
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
            null, fabric.nowNs() + fabric.drawDelayNs(device, queuePair.number(), SimQueuePair.REQUEST));
    }

    @Override
    public final void scheduleArrival(final SimRequest request, final long timeNs)
    {
        // Never before an earlier one, so that one long delay holds up all that follow on this queue pair.
        lastArrivalNs = Math.max(lastArrivalNs + 1, timeNs);
        fabric.schedule(lastArrivalNs, SimStep.Kind.ARRIVE, device.index(), queuePair.number(), this::arrive);
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
        if (request.link.isCut() || device.isSilenced())
        {
            queuePair.sends().giveUp(request);
        }
        else
        {
            deliver(request);
        }
    }
}
