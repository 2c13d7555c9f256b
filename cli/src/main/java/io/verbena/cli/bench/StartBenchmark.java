package io.verbena.cli.bench;

import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.ProcessComputeNode;
import io.verbena.client.KvTable;

import org.agrona.concurrent.NanoClock;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How long a compute node takes from exec to the first GET that it serves. The only one of a cluster is killed, another
 * one started, and the client asks all the time: the new node serves the GET that ends. Several times, because a start
 * is short, and the first one is also the first of who starts it; the median counts. Used once, by one thread.
 */
final class StartBenchmark
{
    static final long GOAL_MS = 500;
    private static final String NODE = "compute-1";
    private static final String FIRST_GET = "exec_to_first_get_ms";
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final int starts;
    private final NanoClock clock;

    StartBenchmark(final int starts, final NanoClock clock)
    {
        this.starts = starts;
        this.clock = clock;
    }

    /**
     * Runs it.
     *
     * @param cluster with one compute node.
     * @param table   of a client that waits longer than a start takes.
     * @param key     of a record in it.
     * @return the figures of the median start, and the times of all.
     */
    Map<String, Object> run(final LocalCluster cluster, final KvTable table, final byte[] key)
        throws InterruptedException
    {
        final List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < starts; i++)
        {
            table.get(key);
            rows.add(start(cluster, table, key));
        }
        final List<Double> all = rows.stream().map(StartBenchmark::firstGetMs).toList();
        rows.sort(Comparator.comparing(StartBenchmark::firstGetMs));
        final Map<String, Object> row = rows.get(starts / 2);
        row.put("all_ms", all);
        row.put("aot_cache", isWithAotCache());
        row.put("goal_ms", GOAL_MS);
        row.put("reached", firstGetMs(row) <= GOAL_MS);
        return row;
    }

    /** Of the row of a start. */
    static double firstGetMs(final Map<String, Object> row)
    {
        return (double)row.get(FIRST_GET);
    }

    private Map<String, Object> start(final LocalCluster cluster, final KvTable table, final byte[] key)
        throws InterruptedException
    {
        final ProcessHandle before = cluster.entry(NODE).process().orElseThrow();
        before.destroyForcibly();
        before.onExit().join();
        final long startedNs = clock.nanoTime();
        final Thread starter = Thread.ofPlatform().start(() -> cluster.scale(1, (line) -> {}));
        table.get(key);
        final long servedNs = clock.nanoTime();
        starter.join();
        final ProcessComputeNode node = new ProcessComputeNode(cluster.entry(NODE), startedNs);
        final Map<String, Object> row = new LinkedHashMap<>();
        row.put(FIRST_GET, (servedNs - startedNs) / NS_PER_MS);
        row.put("exec_to_ready_ms", node.joinToReadyNs() / NS_PER_MS);
        row.put("breakdown", node.joinBreakdown());
        return row;
    }

    private static boolean isWithAotCache()
    {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .anyMatch((argument) -> argument.startsWith("-XX:AOTCache="));
    }
}
