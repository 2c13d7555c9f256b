package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.WorkRequest;

import java.util.ArrayList;
import java.util.List;

/** UD: each datagram finds its own way, in any order, or vanishes without a word. */
final class SimDatagramRoute implements SimRoute
{
    private final Owner queuePair;
    private final SimHost host;
    private final SimNetwork network;
    private final SimTimeline timeline;
    private final Rnic rnic;
    private final List<SimRequest> held = new ArrayList<>();

    SimDatagramRoute(final Owner queuePair)
    {
        this.queuePair = queuePair;
        this.host = queuePair.host();
        this.network = queuePair.network();
        this.timeline = network.timeline();
        this.rnic = network.rnic(host);
    }

    @Override
    public boolean mustWait(final WorkRequest posted, final boolean isIdle)
    {
        return false;
    }

    @Override
    public void send(final SimRequest request)
    {
        if (rnic != null)
        {
            rnic.send(request);
        }
        else
        {
            queuePair.left(request);
            scheduleArrival(request);
        }
    }

    @Override
    public void scheduleArrival(final SimRequest request, final long timeNs)
    {
        timeline.schedule(
            timeNs, SimStep.Kind.ARRIVE, host.index(), queuePair.number(), choice(request), () -> arrive(request));
    }

    @Override
    public void sendHeld()
    {
        final List<SimRequest> waiting = List.copyOf(held);
        held.clear();
        waiting.forEach(this::scheduleArrival);
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
    public void cut(final SimHost peer)
    {
    }

    @Override
    public void describe(final StateWords words)
    {
        words.accept(held.size());
        held.forEach(request -> request.describe(words));
    }

    private void scheduleArrival(final SimRequest request)
    {
        scheduleArrival(
            request, timeline.nowNs() + timeline.drawDelayNs(host, queuePair.number(), SimRequest.REQUEST));
    }

    private SimChoice choice(final SimRequest request)
    {
        final SimHost target = network.find(request.destination.device());
        return target == null ? null :
            new SimMessage(SimMessage.DATAGRAM, request, host, target, false, host::isSilenced);
    }

    private void arrive(final SimRequest request)
    {
        if (queuePair.isHeld())
        {
            held.add(request);
        }
        else if (!request.connection.isCut() && !host.isSilenced() && !SimLoss.isLost(queuePair))
        {
            deliver(request);
        }
    }

    private void deliver(final SimRequest request)
    {
        final SimHost target = network.find(request.destination.device());
        final SimLink.Peer receiver =
            target == null ? null : network.queuePair(target, request.destination.number());
        if (receiver != null)
        {
            receiver.takeDatagram(request, queueKey(request));
        }
    }

    /** A key with the highest bit set stands for the sender's own. */
    private int queueKey(final SimRequest request)
    {
        final int given = (int)request.destination.accessKey();
        return given < 0 ? queuePair.queueKey() : given;
    }
}
