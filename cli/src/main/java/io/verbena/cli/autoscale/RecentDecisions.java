package io.verbena.cli.autoscale;

import io.verbena.cli.cluster.ClusterFolder;

import java.util.List;
import java.util.Map;

/** What the autoscaler of a cluster did last, for those who watch. Stateless. */
public final class RecentDecisions
{
    private RecentDecisions()
    {
    }

    /**
     * Reads the end of the log.
     *
     * @param folder of the cluster.
     * @param most   decisions.
     * @return those that changed something or would have, the latest first, as in {@code autoscale explain --json};
     * empty where there is no log, or it cannot be read.
     */
    public static List<Map<String, Object>> of(final ClusterFolder folder, final int most)
    {
        return DecisionLog.readEnd(folder).reversed().stream().filter(DecisionRecord::isEvent).limit(most).toList();
    }
}
