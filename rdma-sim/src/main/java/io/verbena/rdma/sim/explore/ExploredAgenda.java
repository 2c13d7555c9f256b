package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.schedule.SimAgenda;
import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * Steps that only concern the node that they happen at come at once, in the order in which they arose. A
 * {@link SimChoice} waits until it is chosen; one that has become void comes at once as well.
 */
final class ExploredAgenda implements SimAgenda
{
    private final boolean isLate;
    private final ArrayDeque<SimStep> local = new ArrayDeque<>();
    /** By node, then by age. */
    private final TreeSet<SimStep> waiting = new TreeSet<>(
        Comparator.<SimStep>comparingLong(step -> SimDecisions.lane(step.device, step.detail, 0))
            .thenComparing(step -> step.kind).thenComparingLong(SimStep::sequence));

    /** @param isLate whether responses wait too. */
    ExploredAgenda(final boolean isLate)
    {
        this.isLate = isLate;
    }

    @Override
    public void add(final SimStep step)
    {
        if (step.choice == null || step.choice.isResponse() && !isLate)
        {
            local.add(step);
        }
        else
        {
            if (step.kind == SimStep.Kind.SERVE)
            {
                // A responder has one plan at a time; an earlier one is void.
                waiting.removeIf(other -> other.choice == step.choice);
            }
            waiting.add(step);
        }
    }

    @Override
    public SimStep poll()
    {
        final SimStep next = peek();
        if (next != null && local.poll() == null)
        {
            waiting.remove(next);
        }
        return next;
    }

    @Override
    public SimStep peek()
    {
        final SimStep next = local.peek();
        return next != null ? next : waiting.stream().filter(step -> step.choice.isVoid()).findFirst().orElse(null);
    }

    @Override
    public void clear()
    {
        local.clear();
        waiting.clear();
    }

    /** What can be chosen, ordered by node: of the responses to one queue pair only the oldest. */
    List<SimStep> choices()
    {
        return waiting.stream().filter(this::isFirst).toList();
    }

    /** Adds what is on its way; what has arrived at a responder is described by its owner. */
    void describe(final StateWords words)
    {
        words.in(StatePart.MESSAGES);
        waiting.stream().filter(step -> step.kind != SimStep.Kind.SERVE).forEach(step -> step.choice.describe(words));
    }

    void take(final SimStep step)
    {
        waiting.remove(step);
    }

    private boolean isFirst(final SimStep step)
    {
        if (step.kind != SimStep.Kind.RESPOND)
        {
            return true;
        }
        final SimStep lower = waiting.lower(step);
        return lower == null || lower.kind != SimStep.Kind.RESPOND || lower.device != step.device ||
            lower.detail != step.detail;
    }
}
