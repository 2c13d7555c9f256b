package io.verbena.cli.autoscale;

import java.util.List;
import java.util.Map;

/**
 * What a compute node has counted since its process began, at one moment.
 *
 * @param node           name and process: another process begins to count anew.
 * @param timeNs         of the sample, on the clock of the node.
 * @param operations     answered.
 * @param busyNs         that its thread has worked.
 * @param processorNs    of a processor that its thread has used; -1 when not known.
 * @param slots          operations that can be under way at once.
 * @param slotNs         of all operations together.
 * @param waitCounts     operations by time in the queue, by bucket.
 * @param responseCounts operations by time from arrival to answer, by bucket.
 */
record DemandSample(
    String node, long timeNs, long operations, long busyNs, long processorNs, long slots, long slotNs,
    List<?> waitCounts, List<?> responseCounts)
{
    private static final String DEMAND = "demand";

    /**
     * Reads the figures of a health endpoint.
     *
     * @param name   of the process in the cluster.
     * @param health its figures; may be null.
     * @return the sample, or null when the process does not report its demand: it does not answer, or is another role.
     */
    static DemandSample of(final String name, final Map<String, Object> health)
    {
        if (null == health || !(health.get(DEMAND) instanceof final Map<?, ?> demand) ||
            !(demand.get("wait_counts") instanceof final List<?> waits) ||
            !(demand.get("response_counts") instanceof final List<?> responses))
        {
            return null;
        }
        try
        {
            return new DemandSample(name + ' ' + health.get("pid"), number(demand, "time_ns"),
                number(demand, "operations"), number(demand, "busy_ns"), number(demand, "processor_ns"),
                number(demand, "slots"), number(demand, "slot_ns"), waits, responses);
        }
        catch (final ClassCastException | NullPointerException ex)
        {
            return null; // of another version: it counts as a node without figures
        }
    }

    private static long number(final Map<?, ?> figures, final String name)
    {
        return (Long)figures.get(name);
    }
}
