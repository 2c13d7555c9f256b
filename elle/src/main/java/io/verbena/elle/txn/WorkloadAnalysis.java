package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.isolation.EdgeKind;

/** What a workload lets one infer from a history: the data dependencies and the words for them. */
interface WorkloadAnalysis
{
    /** Adds the edges ww, wr and rw. */
    void addTo(GraphBuilder graph);

    /** Says why one transaction comes before another, by an edge of data that {@link #addTo} added. */
    CycleStep explain(int from, int to, EdgeKind kind);
}
