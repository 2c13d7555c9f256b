package io.verbena.elle.txn;

import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.Objects;

/**
 * One edge of a cycle.
 *
 * @param from        id of the operation that comes first.
 * @param to          id of the operation that comes after it.
 * @param kind        why.
 * @param key         the key concerned, or null for the orders of process and time.
 * @param explanation why, in words that call the transactions {@code T<id>}.
 */
public record CycleStep(int from, int to, EdgeKind kind, Object key, String explanation)
{
    /**
     * Checks the step.
     */
    public CycleStep
    {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(explanation, "explanation");
    }
}
