package io.verbena.rdma.sim.schedule;

import java.util.PriorityQueue;

/** By time, then as decided for ties. */
public final class TimedAgenda implements SimAgenda
{
    private final PriorityQueue<SimStep> steps = new PriorityQueue<>();

    @Override
    public void add(final SimStep step)
    {
        steps.add(step);
    }

    @Override
    public SimStep poll()
    {
        return steps.poll();
    }

    @Override
    public SimStep peek()
    {
        return steps.peek();
    }

    @Override
    public void clear()
    {
        steps.clear();
    }
}
