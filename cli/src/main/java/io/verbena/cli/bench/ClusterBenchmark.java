package io.verbena.cli.bench;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.load.bench.RedisServer;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * What a cluster of processes on this host costs: a remote GET beside one of Redis, the time from exec of a compute
 * node to its first GET, and the processor time of a cluster that does nothing. Used once, by one thread.
 */
public final class ClusterBenchmark
{
    private static final int MEMORY_MIB = 64;
    private static final int VALUE_BYTES = 100;
    private static final byte[] KEY = {'k'};
    private static final double GET_GOAL_RATIO = 5;
    private static final double IDLE_GOAL_PERCENT = 5;
    private static final Duration WAIT = Duration.ofSeconds(60);
    private static final int SETTLE_S = 20;
    private static final double PERCENT = 100;

    private final int operations;
    private final int records;
    private final int starts;
    private final int idleSeconds;
    private final int settleSeconds;
    private final Consumer<String> says;
    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final Map<String, Object> figures = new LinkedHashMap<>();

    /**
     * @param operations  GETs measured of each store in each placement, at most.
     * @param records     loaded from a file.
     * @param starts      of a compute node; the median counts.
     * @param idleSeconds how long the idle cluster is watched.
     * @param says        hears each row.
     */
    public ClusterBenchmark(
        final int operations, final int records, final int starts, final int idleSeconds, final Consumer<String> says)
    {
        this(operations, records, starts, idleSeconds, SETTLE_S, says);
    }

    /** With another time to settle, for tests. */
    ClusterBenchmark(
        final int operations, final int records, final int starts, final int idleSeconds, final int settleSeconds,
        final Consumer<String> says)
    {
        this.starts = starts;
        this.records = records;
        this.settleSeconds = settleSeconds;
        this.operations = operations;
        this.idleSeconds = idleSeconds;
        this.says = says;
    }

    /** @return whether each goal that could be judged was reached. */
    public boolean isReached()
    {
        return figures.values().stream().noneMatch(
            (row) -> row instanceof final Map<?, ?> map && Boolean.FALSE.equals(map.get("reached")));
    }

    /**
     * Runs all of it.
     *
     * @return the figures; {@code docs/benchmarks/cluster.md} says what each means.
     */
    public Map<String, Object> run() throws InterruptedException
    {
        figures.put("benchmark", "cluster");
        figures.put("processors_count", Runtime.getRuntime().availableProcessors());
        figures.put("load_average", loadAverage());
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-bench-cluster-"))
        {
            try
            {
                measureIdle(temporary);
                measureStart(temporary);
                measureGet(temporary);
                measureLoad(temporary);
                return figures;
            }
            catch (final RuntimeException ex)
            {
                temporary.throwIfEnding(ex);
                throw ex;
            }
        }
    }

    private static double loadAverage()
    {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private interface Work
    {
        void on(LocalCluster cluster, KvClient client) throws InterruptedException;
    }

    private void onCluster(
        final TemporaryCluster temporary, final int memoryMib, final List<String> computeOptions, final Work work)
        throws InterruptedException
    {
        final LocalCluster cluster = temporary.open();
        final ClusterFolder folder = temporary.folder();
        try
        {
            cluster.computeOptions(computeOptions);
            cluster.up(LocalCluster.ANY_PORT, 1, memoryMib, 1, (line) -> {});
            try (KvClient client = KvClient.connect(
                folder.address(), new KvClientOptions().tokenFile(folder.token()).timeout(WAIT)))
            {
                final KvTable table = client.createTable("bench", new TableOptions(1_000));
                table.put(KEY, new byte[VALUE_BYTES]);
                work.on(cluster, client);
            }
        }
        finally
        {
            temporary.end();
        }
    }

    private void measureIdle(final TemporaryCluster temporary) throws InterruptedException
    {
        final LocalCluster cluster = temporary.open();
        try
        {
            cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB, 2, (line) -> {});
            // Starting and compiling is not idling.
            TimeUnit.SECONDS.sleep(settleSeconds);
            final long startNs = clock.nanoTime();
            final Map<String, Long> before = processorNs(cluster);
            TimeUnit.SECONDS.sleep(idleSeconds);
            final Map<String, Long> after = processorNs(cluster);
            final double elapsedNs = clock.nanoTime() - startNs;
            final Map<String, Object> row = new LinkedHashMap<>();
            double all = 0;
            for (final Map.Entry<String, Long> process : after.entrySet())
            {
                final double percent = PERCENT * (process.getValue() - before.get(process.getKey())) / elapsedNs;
                row.put(process.getKey().replace('-', '_') + "_percent", percent);
                all += percent;
            }
            row.put("all_percent", all);
            row.put("goal_percent", IDLE_GOAL_PERCENT);
            row.put("reached", all < IDLE_GOAL_PERCENT);
            figures.put("idle", row);
            says.accept(String.format(Locale.ROOT,
                "idle cluster (1 meta server, 1 memory node, 2 compute nodes): %.2f %% of a processor " +
                "in %d s, goal under %.0f %%: %s", all, idleSeconds, IDLE_GOAL_PERCENT, verdict(row)));
        }
        finally
        {
            temporary.end();
        }
    }

    private static Map<String, Long> processorNs(final LocalCluster cluster)
    {
        final Map<String, Long> times = new LinkedHashMap<>();
        cluster.entries().forEach((entry) -> times.put(entry.name(), entry.process()
            .flatMap((process) -> process.info().totalCpuDuration()).orElseThrow(() -> new CommandFailedException(
                ExitStatus.FAILED, entry.name() + " has ended by itself", null)).toNanos()));
        return times;
    }

    private void measureStart(final TemporaryCluster temporary) throws InterruptedException
    {
        onCluster(temporary, MEMORY_MIB, List.of(), (cluster, client) ->
        {
            final Map<String, Object> row = new StartBenchmark(starts, clock).run(cluster, client.table("bench"), KEY);
            figures.put("start", row);
            says.accept(String.format(Locale.ROOT,
                "exec of a compute node to its first GET, at the client, median of %d: %.0f ms (%s AOT cache), " +
                "goal %d ms: %s%n  %s", starts, row.get("exec_to_first_get_ms"),
                Boolean.TRUE.equals(row.get("aot_cache")) ? "with" : "without", StartBenchmark.GOAL_MS, verdict(row),
                row.get("breakdown")));
        });
    }

    private void measureGet(final TemporaryCluster temporary) throws InterruptedException
    {
        onCluster(temporary, MEMORY_MIB, List.of("--busy-poll"), (cluster, client) ->
        {
            final long computeProcess = cluster.entry("compute-1").process().orElseThrow().pid();
            final Map<String, Object> row = new LinkedHashMap<>();
            row.put("value_bytes", VALUE_BYTES);
            row.put("operations", operations);
            try (RedisServer redis = startRedis(temporary))
            {
                redis.set(KEY, new byte[VALUE_BYTES]);
                row.put("redis", redis.version());
                compare(row, client.table("bench"), computeProcess, redis);
            }
            catch (final RedisServer.MissingException ex)
            {
                row.put("redis", null);
                row.put("redis_missing", ex.getMessage());
                compareUnchecked(row, client.table("bench"), computeProcess);
            }
            catch (final IOException ex)
            {
                throw new CommandFailedException(ExitStatus.FAILED, "redis-server does not answer: " + ex, ex);
            }
            figures.put("remote_get", row);
        });
    }

    private void compareUnchecked(final Map<String, Object> row, final KvTable table, final long computeProcess)
        throws InterruptedException
    {
        try
        {
            compare(row, table, computeProcess, null);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.FAILED, "a GET failed: " + ex, ex);
        }
    }

    /** The quickest placement of each counts: neither is to lose by where the scheduler puts it. */
    private void compare(
        final Map<String, Object> row, final KvTable table, final long computeProcess, final RedisServer redis)
        throws InterruptedException, IOException
    {
        final GetComparison comparison = new GetComparison(
            operations, table, KEY, computeProcess, redis, ProcessorPlaces.ofThisProcess(), clock);
        comparison.run(row);
        final boolean isCompared = null != redis;
        final double ratio = isCompared ? (double)comparison.quickestNs(true) / comparison.quickestNs(false) : 0;
        row.put("redis_to_own_median_ratio", isCompared ? ratio : null);
        row.put("goal_ratio", GET_GOAL_RATIO);
        row.put("reached", isCompared ? ratio >= GET_GOAL_RATIO : null);
        says.accept(String.format(Locale.ROOT, "GET of %d bytes, medians in us: %s%n  %s", VALUE_BYTES,
            comparison.mediansUs(), isCompared ? String.format(Locale.ROOT, "%s, quickest to quickest: " +
                "ratio %.2f, goal %.0f: %s", row.get("redis"), ratio, GET_GOAL_RATIO, verdict(row)) :
                "NOT COMPARED: " + row.get("redis_missing")));
    }

    private static RedisServer startRedis(final TemporaryCluster temporary)
        throws RedisServer.MissingException, IOException, InterruptedException
    {
        synchronized (temporary)
        {
            temporary.throwIfEnding(null);
            return RedisServer.start();
        }
    }

    private void measureLoad(final TemporaryCluster temporary) throws InterruptedException
    {
        onCluster(temporary, LoadBenchmark.memoryMib(records), List.of(), (cluster, client) ->
        {
            final Map<String, Object> row = new LoadBenchmark(temporary.folder().path(), records).run(client);
            figures.put("load", row);
            says.accept(String.format(Locale.ROOT, "load of %,d records: %.1f s, goal %.0f s for 1,000,000: %s; " +
                "dump: %.1f s", records, row.get("load_seconds"), row.get("goal_seconds"),
                null == row.get("reached") ? "not judged" : verdict(row), row.get("dump_seconds")));
        });
    }

    private static String verdict(final Map<String, Object> row)
    {
        return Boolean.TRUE.equals(row.get("reached")) ? "reached" : "MISSED";
    }
}
