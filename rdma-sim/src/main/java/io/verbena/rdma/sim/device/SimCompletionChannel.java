package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayDeque;

/**
 * A completion channel in virtual time. Called by a test, outside of any step, {@link #await} executes the fabric's
 * steps until an event comes or that much virtual time is over. Called by an agent, within a step, it only polls, as
 * if no time were given: the one thread must go on, so an agent polls again in its next duty cycle.
 */
final class SimCompletionChannel implements CompletionChannel, SimStateful
{
    private final SimHost host;
    private final ArrayDeque<CompletionQueue> events = new ArrayDeque<>();
    private int queueCount;
    private boolean isClosed;

    SimCompletionChannel(final SimHost host)
    {
        this.host = host;
        host.childOpened();
        host.addObject(this);
    }

    SimHost host()
    {
        return host;
    }

    void attach()
    {
        queueCount++;
    }

    void detach(final CompletionQueue queue)
    {
        queueCount--;
        events.removeIf(event -> event == queue);
    }

    void raise(final CompletionQueue queue)
    {
        events.add(queue);
    }

    @Override
    public void describe(final StateWords words)
    {
        words.in(StatePart.NOTIFICATIONS).accept(events.size());
        events.forEach(queue -> words.accept(host.indexOf(queue)));
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        final SimTimeline timeline = host.timeline();
        if (timeline.isInStep() || timeoutNs <= 0)
        {
            return events.poll();
        }
        final long nowNs = timeline.nowNs();
        final long deadlineNs = timeoutNs > Long.MAX_VALUE - nowNs ? Long.MAX_VALUE : nowNs + timeoutNs;
        boolean isAtWork = true;
        while (isAtWork && events.isEmpty() && timeline.nextStepNs() <= deadlineNs)
        {
            isAtWork = timeline.step();
        }
        if (events.isEmpty() && deadlineNs != Long.MAX_VALUE)
        {
            timeline.advanceTo(deadlineNs);
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
            host.removeObject(this);
            host.childClosed();
        }
    }
}
