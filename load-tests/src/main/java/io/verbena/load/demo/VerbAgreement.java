package io.verbena.load.demo;

import io.verbena.rdma.verbs.VerbCounters;

import java.util.Map;

/**
 * Two counts of the same verbs: by operation, and at the queue pairs. While records are loaded nothing else posts READ,
 * WRITE or atomics, so both must be equal; in the run, nodes that join look up tables and peers, so the queue pairs may
 * count more, never less.
 *
 * @param loadByOperations while loading, summed over operations.
 * @param loadAtFabric     while loading, at the queue pairs of all compute nodes.
 * @param runByOperations  in the run, summed over operations.
 * @param runAtFabric      in the run, at the queue pairs of all compute nodes.
 */
record VerbAgreement(long loadByOperations, long loadAtFabric, long runByOperations, long runAtFabric)
{
    /**
     * One-sided verbs; SEND belongs to control calls.
     */
    static long oneSided(final VerbCounters counters)
    {
        return counters.reads + counters.writes + counters.compareSwaps + counters.fetchAdds;
    }

    boolean holds()
    {
        return loadByOperations == loadAtFabric && runByOperations <= runAtFabric;
    }

    void addTo(final Map<String, Object> figures)
    {
        figures.put("load_verbs_by_operations", loadByOperations);
        figures.put("load_verbs_at_fabric", loadAtFabric);
        figures.put("run_verbs_by_operations", runByOperations);
        figures.put("run_verbs_at_fabric", runAtFabric);
        figures.put("verb_counts_agree", holds());
    }
}
