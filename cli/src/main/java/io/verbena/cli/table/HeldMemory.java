package io.verbena.cli.table;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;

import java.util.List;
import java.util.Map;

/**
 * What the compute nodes of a cluster on this host say they hold.
 *
 * @param bytes        free, in quarantine and of operations under way.
 * @param unknownBytes blocks of which a node does not know whether a word names them.
 * @param operations   answered so far.
 * @param isReclaiming whether one of them takes memory back now.
 */
record HeldMemory(long bytes, long unknownBytes, long operations, boolean isReclaiming)
{
    private static final String COMPUTE = "compute-";

    /**
     * Asks all compute nodes.
     *
     * @param folder of the cluster.
     * @return their sum; null when one of them does not report it.
     */
    static HeldMemory ask(final ClusterFolder folder)
    {
        HeldMemory sum = new HeldMemory(0, 0, 0, false);
        for (final Entry node : computeNodes(folder))
        {
            final Map<String, Object> figures = HealthProbe.figures(node);
            if (null == figures || !(figures.get("held_bytes") instanceof final Long held))
            {
                return null;
            }
            sum = new HeldMemory(sum.bytes + held, sum.unknownBytes + (long)figures.get("unknown_bytes"),
                sum.operations + (long)figures.get("operations"),
                sum.isReclaiming || Boolean.TRUE.equals(figures.get("reclaiming")));
        }
        return sum;
    }

    /** The compute nodes of a folder whose processes live. */
    static List<Entry> computeNodes(final ClusterFolder folder)
    {
        return new ProcessTable(folder.processes()).entries().stream()
            .filter((entry) -> entry.name().startsWith(COMPUTE) && entry.isLive()).toList();
    }
}
