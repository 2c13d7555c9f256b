package io.verbena.rdma.sim;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.TreeMap;

/**
 * Steps that only concern the node that they happen at come at once, in the order in which they arose. The execution of
 * a request at its target waits until it is chosen: the oldest one of each responding queue pair.
 */
final class ExploredAgenda implements SimAgenda
{
    private final ArrayDeque<SimStep> local = new ArrayDeque<>();
    private final TreeMap<Long, SimStep> executions = new TreeMap<>();

    @Override
    public void add(final SimStep step)
    {
        if (step.kind == SimStep.Kind.SERVE)
        {
            // A responder has one plan at a time; an earlier one is void.
            executions.put(SimDecisions.lane(step.device, step.detail, 0), step);
        }
        else
        {
            local.add(step);
        }
    }

    @Override
    public SimStep poll()
    {
        return local.poll();
    }

    @Override
    public SimStep peek()
    {
        return local.peek();
    }

    @Override
    public void clear()
    {
        local.clear();
        executions.clear();
    }

    /** What can be chosen, ordered by responding queue pair. */
    Collection<SimStep> executions()
    {
        return executions.values();
    }

    void take(final SimStep execution)
    {
        executions.remove(SimDecisions.lane(execution.device, execution.detail, 0));
    }
}
