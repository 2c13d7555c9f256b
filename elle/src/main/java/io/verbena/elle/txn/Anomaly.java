package io.verbena.elle.txn;

import io.verbena.elle.txn.isolation.AnomalyType;

import java.util.List;
import java.util.stream.Collectors;

/**
 * One thing found.
 *
 * @param type         of what kind it is.
 * @param transactions ids of the operations involved, in the order of the explanation; those of a cycle in its order.
 * @param cycle        the steps of a cycle, each beginning where the one before ended and the last ending where the
 *                     first began; empty if the anomaly is no cycle.
 * @param text         what happened, in words that call the transactions {@code T<id>}.
 */
public record Anomaly(AnomalyType type, List<Integer> transactions, List<CycleStep> cycle, String text)
{
    /**
     * Copies the lists.
     */
    public Anomaly
    {
        transactions = List.copyOf(transactions);
        cycle = List.copyOf(cycle);
    }

    static Anomaly of(final AnomalyType type, final List<Integer> transactions, final String text)
    {
        return new Anomaly(type, transactions, List.of(), text);
    }

    static Anomaly ofCycle(final AnomalyType type, final List<CycleStep> cycle)
    {
        final String story = cycle.stream().map(CycleStep::explanation).collect(Collectors.joining("; "));
        return new Anomaly(type, cycle.stream().map(CycleStep::from).toList(), cycle,
            story + ": so T" + cycle.getFirst().from() + " comes before itself");
    }
}
