package io.verbena.load.demo;

import java.util.Map;

/**
 * Two counts of the same verbs: by operation, and at the queue pairs. While records are loaded nothing else posts READ,
 * WRITE or atomics, so both must be equal; in the run, nodes that join look up tables and peers, so the queue pairs may
 * count more, never less.
 *
 * @param loadByOperations while loading, summed over operations.
 * @param loadAtFabric     while loading, at the queue pairs of all compute nodes; -1 where they cannot be counted.
 * @param runByOperations  in the run, summed over operations.
 * @param runAtFabric      in the run, at the queue pairs of all compute nodes; of no account where not counted.
 */
record VerbAgreement(long loadByOperations, long loadAtFabric, long runByOperations, long runAtFabric)
{
    /** Whether the queue pairs could be counted. */
    boolean isCounted()
    {
        return loadAtFabric >= 0;
    }

    /** Also true when there is nothing to compare. */
    boolean holds()
    {
        return !isCounted() || loadByOperations == loadAtFabric && runByOperations <= runAtFabric;
    }

    void addTo(final Map<String, Object> figures)
    {
        figures.put("load_verbs_by_operations", loadByOperations);
        figures.put("load_verbs_at_fabric", isCounted() ? loadAtFabric : null);
        figures.put("run_verbs_by_operations", runByOperations);
        figures.put("run_verbs_at_fabric", isCounted() ? runAtFabric : null);
        figures.put("verb_counts_agree", isCounted() ? holds() : null);
    }
}
