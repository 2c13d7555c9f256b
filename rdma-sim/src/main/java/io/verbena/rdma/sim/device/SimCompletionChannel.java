package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayDeque;

/**
 * A completion channel in virtual time. Called by a test, outside of any step, {@link #await} executes the fabric's
 * steps until an event comes or that much virtual time is over. Called by an agent, within a step, it only looks, as
 * if no time were given: the one thread must go on, so an agent looks again in its next duty cycle.
 */
final class SimCompletionChannel implements CompletionChannel, SimStateful
{
    private final SimDevice device;
    private final ArrayDeque<SimCompletionQueue> events = new ArrayDeque<>();
    private int queueCount;
    private boolean isClosed;

    SimCompletionChannel(final SimDevice device)
    {
        this.device = device;
        device.addObject(this);
    }

    SimDevice device()
    {
        return device;
    }

    void attach()
    {
        queueCount++;
    }

    void detach(final SimCompletionQueue queue)
    {
        queueCount--;
        events.removeIf(event -> event == queue);
    }

    void raise(final SimCompletionQueue queue)
    {
        events.add(queue);
    }

    @Override
    public void describe(final StateWords words)
    {
        words.in(StatePart.NOTIFICATIONS).accept(events.size());
        events.forEach(queue -> words.accept(device.indexOf(queue)));
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        final SimFabric fabric = device.fabric();
        if (fabric.isInStep() || timeoutNs <= 0)
        {
            return events.poll();
        }
        final long nowNs = fabric.nowNs();
        final long deadlineNs = timeoutNs > Long.MAX_VALUE - nowNs ? Long.MAX_VALUE : nowNs + timeoutNs;
        boolean isAtWork = true;
        while (isAtWork && events.isEmpty() && fabric.nextStepNs() <= deadlineNs)
        {
            isAtWork = fabric.step();
        }
        if (events.isEmpty() && deadlineNs != Long.MAX_VALUE)
        {
            fabric.advanceTo(deadlineNs);
        }
        return events.poll();
    }

    @Override
    public void close()
    {
        if (queueCount > 0)
        {
            throw new RdmaException(
                "completion channel is in use: close its completion queues first, open=" + queueCount);
        }
        if (!isClosed)
        {
            isClosed = true;
            device.removeObject(this);
            device.childClosed();
        }
    }
}
