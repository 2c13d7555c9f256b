package io.verbena.compute.figures;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.operation.EngineCounters;

/**
 * What a node has counted in all its registrations, copied at one instant; nobody writes it afterwards.
 *
 * @param verbs   it posted, of all its connections.
 * @param engine  of its operations on tables.
 * @param growth  of its tables.
 */
public record NodeCounters(VerbCounters verbs, EngineCounters engine, GrowthFigures growth)
{
    /** @return counts that are 0. */
    public static NodeCounters none()
    {
        return new NodeCounters(new VerbCounters(), new EngineCounters(), GrowthFigures.NONE);
    }
}
