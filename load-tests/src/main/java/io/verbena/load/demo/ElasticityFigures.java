package io.verbena.load.demo;

import java.util.Map;

/**
 * The compute node that came and the one that left while the load ran.
 *
 * @param addedNodeId          the one that came.
 * @param removedNodeId        the one that left.
 * @param joinToReadyNs        from the start of its creation until it could serve.
 * @param joinToFirstRequestNs from the start of its creation until it had answered an operation; -1 if none came.
 * @param joinBreakdown        where the time went.
 * @param operationCount       operations that the new node answered.
 * @param isKilled             the one that left was killed.
 * @param isUnderLoad          it left while the load ran.
 */
record ElasticityFigures(
    int addedNodeId,
    int removedNodeId,
    long joinToReadyNs,
    long joinToFirstRequestNs,
    String joinBreakdown,
    long operationCount,
    boolean isKilled,
    boolean isUnderLoad)
{
    private static final double NS_PER_US = 1_000.0;

    /** Both changes took place, a kill in the midst of the load, and the new node took over work. */
    boolean isComplete()
    {
        return addedNodeId != 0 && removedNodeId != 0 && joinToFirstRequestNs >= 0 &&
            (!isKilled || isUnderLoad);
    }

    void addTo(final Map<String, Object> figures)
    {
        figures.put("added_node_id", addedNodeId);
        figures.put("removed_node_id", removedNodeId);
        figures.put("removed_by_kill", isKilled);
        figures.put("removed_under_load", isUnderLoad);
        figures.put("join_to_ready_us", joinToReadyNs / NS_PER_US);
        figures.put("join_to_first_request_us", joinToFirstRequestNs < 0 ? null : joinToFirstRequestNs / NS_PER_US);
        figures.put("join_breakdown", joinBreakdown);
        figures.put("added_node_operations", operationCount);
    }
}
