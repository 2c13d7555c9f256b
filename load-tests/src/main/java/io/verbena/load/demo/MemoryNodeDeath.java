package io.verbena.load.demo;

import org.agrona.concurrent.NanoClock;

import java.util.Map;

/**
 * The memory node that was killed while tables with several copies were used.
 *
 * @param name        of its process.
 * @param diedAfterNs from the start of the run until it was killed.
 */
record MemoryNodeDeath(String name, long diedAfterNs)
{
    private static final double NS_PER_US = 1_000.0;

    /**
     * Kills a memory node, where there are copies and it is a process.
     *
     * @return what happened; null when none was killed.
     */
    static MemoryNodeDeath cause(
        final DemoCluster cluster, final int copies, final NanoClock clock, final long startNs)
    {
        final String name = copies > 1 ? cluster.killMemoryNode() : null;
        return null == name ? null : new MemoryNodeDeath(name, clock.nanoTime() - startNs);
    }

    static void addTo(final MemoryNodeDeath death, final Map<String, Object> figures)
    {
        figures.put("memory_node_killed", null == death ? null : death.name);
        figures.put("memory_node_died_after_us", null == death ? null : death.diedAfterNs / NS_PER_US);
    }
}
