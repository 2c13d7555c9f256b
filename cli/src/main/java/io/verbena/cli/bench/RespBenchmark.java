package io.verbena.cli.bench;

import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.TableOptions;
import io.verbena.load.report.Medians;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A compute node and Redis under the same clients, in turn, on this host. Used once, by one thread. */
final class RespBenchmark
{
    private static final int MEMORY_MIB = 512;
    private static final int MEMORY_MIB_PER_MILLION = 600;
    private static final int MILLION = 1_000_000;
    /** Commands without a pipeline are that many times fewer. */
    private static final int FEWER = 10;
    private static final int PIPELINE = 64;
    /** The longer run of the two whose allocations are compared has that many times the commands. */
    private static final long LONGER = 3;
    private static final List<String> COMMANDS = List.of("get", "set");
    private static final int EXPIRY_S = 100_000;
    private static final long FIGURES_PAUSE_MS = 1_500;
    /** Keys, values and what an index needs, of memory that is counted by whole chunks: fewer records say nothing. */
    private static final int FEWEST_JUDGED_RECORDS = 100_000;

    /** What is measured of both servers in turn. */
    private interface Round
    {
        /** @return what one round found, one number for each row. */
        double[] run(int port, ProcessorTime time) throws IOException, InterruptedException;
    }

    /** @return processor time of a server since it started, user and system, in ns. */
    private interface ProcessorTime
    {
        long ns();
    }

    private final RedisPrograms programs;
    private final int records;
    private final int requests;
    private final int rounds;
    private final double latencySeconds;
    private final RespFigures figures;
    private LocalCluster cluster;
    private RedisProcess redis;
    private int port;

    /**
     * @param programs       of Redis; rows are not judged without them.
     * @param records        1 or more.
     * @param requests       commands of each round.
     * @param rounds         of each figure, of which the median counts.
     * @param latencySeconds of each round of latencies.
     * @param figures        takes the rows.
     */
    RespBenchmark(
        final RedisPrograms programs, final int records, final int requests, final int rounds,
        final double latencySeconds, final RespFigures figures)
    {
        this.programs = programs;
        this.records = records;
        this.requests = requests;
        this.rounds = rounds;
        this.latencySeconds = latencySeconds;
        this.figures = figures;
    }

    /** Starts both servers, measures, and ends them. */
    void run() throws IOException, InterruptedException
    {
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-bench-resp-"))
        {
            cluster = temporary.open();
            port = RespLoad.freePort();
            cluster.computeOptionsByNumber((number) -> List.of("--resp-port", String.valueOf(port)));
            cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB + (int)((long)MEMORY_MIB_PER_MILLION * records / MILLION),
                1, (line) -> {});
            try (RedisProcess started = RedisProcess.start(programs.server(), temporary.folder().path());
                KvClient client = KvClient.connect(temporary.folder().address(), new KvClientOptions()
                    .tokenFile(temporary.folder().token()).timeout(Duration.ofSeconds(60))))
            {
                redis = started;
                memory(client, "default", 0, 0, "record");
                memory(client, "db1", 1, EXPIRY_S, "record_with_expiry");
                load();
            }
            temporary.end();
        }
    }

    /** Writes records into an empty table of both, and counts what they take. */
    private void memory(
        final KvClient client, final String table, final int database, final int expiryS, final String name)
        throws IOException, InterruptedException
    {
        final double before = takenBytes();
        client.createTable(table, new TableOptions(records));
        RespLoad.write(port, database, records, expiryS);
        final double own = (takenBytes() - before) / records;
        double other = Double.NaN;
        if (null != redis)
        {
            final double redisBefore = redis.usedMemoryBytes();
            RespLoad.write(redis.port(), database, records, expiryS);
            other = (redis.usedMemoryBytes() - redisBefore) / records;
        }
        if (records < FEWEST_JUDGED_RECORDS)
        {
            figures.show(name, "bytes", own, other);
        }
        else
        {
            figures.atMost(name, "bytes", own, other, 0 == expiryS ? 1.15 : 1.0);
        }
    }

    /** Memory of the memory node that is not free, for records and for the index. */
    private long takenBytes() throws InterruptedException
    {
        final Map<String, Object> node = health("memory-1");
        return (long)node.get("record_bytes") + (long)node.get("index_bytes");
    }

    private void load() throws IOException, InterruptedException
    {
        for (final String command : COMMANDS)
        {
            final double goal = "set".equals(command) ? 0.6 : 0.8;
            if (null == programs.benchmark())
            {
                figures.atLeast(command + "_pipeline_" + PIPELINE, "per_s", Double.NaN, Double.NaN, goal);
                figures.atLeast(command + "_pipeline_1", "per_s", Double.NaN, Double.NaN, 0.8);
                figures.atMost(command + "_half_load_p999", "us", Double.NaN, Double.NaN, 1.5);
            }
            else
            {
                rate(command, PIPELINE, requests, goal);
                final double perSecond = rate(command, 1, Math.max(1, requests / FEWER), 0.8);
                latency(command, perSecond / 2);
            }
        }
        allocations();
    }

    /** Returns the lower of both rates. */
    private double rate(final String command, final int pipeline, final int count, final double goal)
        throws IOException, InterruptedException
    {
        final double[][] medians = medians(3, (at, time) ->
        {
            final long beforeNs = time.ns();
            final RespLoad.Figures found =
                RespLoad.benchmark(programs.benchmark(), at, command, records, count, pipeline);
            return new double[]{found.perSecond(), (double)(time.ns() - beforeNs) / count, found.p99Ms() * 1e3};
        });
        final String name = command + "_pipeline_" + pipeline;
        figures.atLeast(name, "per_s", medians[0][0], medians[1][0], goal);
        figures.show(name + "_processor", "ns", medians[0][1], medians[1][1]);
        figures.show(name + "_p99", "us", medians[0][2], medians[1][2]);
        return Double.isNaN(medians[1][0]) ? medians[0][0] : Math.min(medians[0][0], medians[1][0]);
    }

    private void latency(final String command, final double perSecond) throws IOException, InterruptedException
    {
        final double[][] medians = medians(1, (at, time) ->
        {
            try (PacedClients clients = new PacedClients(at, "get".equals(command), records))
            {
                return new double[]{clients.p999Us(perSecond, latencySeconds)};
            }
        });
        figures.atMost(command + "_half_load_p999", "us", medians[0][0], medians[1][0], 1.5);
    }

    /** Both servers in turn; returns the medians of this one and of Redis. */
    private double[][] medians(final int numbers, final Round round) throws IOException, InterruptedException
    {
        final double[][] own = new double[numbers][rounds];
        final double[][] other = new double[numbers][rounds];
        for (int i = 0; i < rounds; i++)
        {
            if (null != redis)
            {
                put(other, i, round.run(redis.port(), () -> processorNs(Stream.of(redis.process()))));
            }
            put(own, i, round.run(port, () -> processorNs(
                cluster.live().stream().map(ProcessTable.Entry::process).flatMap(Optional::stream))));
        }
        final double[][] medians = new double[2][numbers];
        for (int i = 0; i < numbers; i++)
        {
            medians[0][i] = Medians.of(own[i]);
            medians[1][i] = null == redis ? Double.NaN : Medians.of(other[i]);
        }
        return medians;
    }

    private static void put(final double[][] series, final int round, final double[] found)
    {
        for (int i = 0; i < found.length; i++)
        {
            series[i][round] = found[i];
        }
    }

    /** Of all processes of the cluster: what the memory node does for it counts. */
    private static long processorNs(final Stream<ProcessHandle> processes)
    {
        return processes.mapToLong((process) -> process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L))
            .sum();
    }

    /**
     * With pipelines, after all that is allocated once and while code is compiled. Of a long run and of a short one the
     * difference counts: what connections take when they begin is the same in both.
     */
    private void allocations() throws IOException, InterruptedException
    {
        final double[] found = {Double.NaN, Double.NaN};
        if (null != programs.benchmark())
        {
            final double[] once = allocated(requests);
            final double[] longer = allocated(LONGER * requests);
            for (int i = 0; i < found.length; i++)
            {
                found[i] = (longer[i] - once[i]) / (longer[found.length] - once[found.length]);
            }
        }
        figures.ownAtMost("network_threads_allocated_per_command", "bytes", found[0], 1);
        figures.ownAtMost("node_thread_allocated_per_command", "bytes", found[1], 1);
    }

    /** Returns bytes of the threads of the port, of the node's thread, and commands. */
    private double[] allocated(final long count) throws IOException, InterruptedException
    {
        final Map<String, Object> before = health("compute-1");
        for (final String command : COMMANDS)
        {
            RespLoad.benchmark(programs.benchmark(), port, command, records, count, PIPELINE);
        }
        final Map<String, Object> after = health("compute-1");
        return new double[]{difference(before, after, "resp_allocated_bytes"),
            difference(before, after, "allocated_bytes"), difference(before, after, "resp_commands")};
    }

    private static double difference(
        final Map<String, Object> before, final Map<String, Object> after, final String name)
    {
        return ((Number)after.get(name)).doubleValue() - ((Number)before.get(name)).doubleValue();
    }

    /** After a pause, in which the role has published its figures anew. */
    private Map<String, Object> health(final String name) throws InterruptedException
    {
        Thread.sleep(FIGURES_PAUSE_MS);
        final Map<String, Object> health = HealthProbe.figures(cluster.entry(name));
        if (null == health)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, name + " does not answer", null);
        }
        return health;
    }
}
