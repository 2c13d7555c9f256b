package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.QueuePairStates;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayList;
import java.util.List;

/** UD: each datagram finds its own way, in any order, or vanishes without a word. */
final class SimDatagramRoute implements SimRoute
{
    private final SimQueuePair queuePair;
    private final SimDevice device;
    private final SimFabric fabric;
    private final List<SimRequest> held = new ArrayList<>();

    SimDatagramRoute(final SimQueuePair queuePair)
    {
        this.queuePair = queuePair;
        this.device = queuePair.device();
        this.fabric = device.fabric();
    }

    @Override
    public boolean mustWait(final WorkRequest posted, final boolean isIdle)
    {
        return false;
    }

    @Override
    public void send(final SimRequest request)
    {
        if (queuePair.hasRnic())
        {
            device.rnic().send(request);
        }
        else
        {
            queuePair.sends().left(request);
            scheduleArrival(request);
        }
    }

    @Override
    public void scheduleArrival(final SimRequest request, final long timeNs)
    {
        fabric.schedule(
            timeNs, SimStep.Kind.ARRIVE, device.index(), queuePair.number(), choice(request), () -> arrive(request));
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
    public void cut(final SimDevice peer)
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
            request, fabric.nowNs() + fabric.drawDelayNs(device, queuePair.number(), SimQueuePair.REQUEST));
    }

    private SimChoice choice(final SimRequest request)
    {
        final SimDevice target = fabric.find(request.destination);
        return target == null ? null :
            new SimMessage(SimMessage.DATAGRAM, request, device, target, false, device::isSilenced);
    }

    private void arrive(final SimRequest request)
    {
        if (queuePair.isHeld())
        {
            held.add(request);
        }
        else if (!request.link.isCut() && !device.isSilenced() && !SimLoss.isLost(queuePair))
        {
            deliver(request);
        }
    }

    private void deliver(final SimRequest request)
    {
        final SimDevice target = fabric.find(request.destination);
        final SimQueuePair receiver = target == null ? null : target.findQueuePair(request.destinationNumber);
        final boolean isTaken = receiver != null && !target.isKilled() && receiver.type() == QueuePairType.UD &&
            QueuePairStates.servesInbound(receiver.state()) && receiver.attributes().qkey() == qkey(request) &&
            !receiver.receives().isEmpty() &&
            SimReceiver.check(receiver, request) != WorkCompletionStatus.LOC_LEN_ERR;
        if (isTaken)
        {
            receiver.serving();
            final int status = SimReceiver.consume(receiver, request);
            fabric.observer().onExecuted(target, request);
            device.onExecuted();
            if (status != WorkCompletionStatus.SUCCESS)
            {
                receiver.moveToError();
            }
        }
    }

    /** A key with the highest bit set stands for the sender's own. */
    private int qkey(final SimRequest request)
    {
        final int given = (int)request.destinationKey;
        return given < 0 ? queuePair.attributes().qkey() : given;
    }
}
