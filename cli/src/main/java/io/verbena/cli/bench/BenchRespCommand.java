package io.verbena.cli.bench;

import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.TableOptions;
import io.verbena.load.report.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/** {@code verbena bench resp}: a compute node and Redis under the same clients. */
@Command(
    name = "resp",
    description = {
        "Measure a compute node that serves Redis' protocol against Redis, both under redis-benchmark, in turn: GET " +
        "and SET of 100 bytes, 50 connections, pipelines of 64 and of 1; then what the node's threads allocate for " +
        "each command. Needs redis-server and redis-benchmark. Medians."},
    footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
final class BenchRespCommand implements Callable<Integer>
{
    private static final int MEMORY_MIB = 1_024;
    private static final int MOST_RECORDS = 2_000_000;
    private static final int MOST_REQUESTS = 100_000_000;
    private static final int MOST_ROUNDS = 99;
    /** Commands without a pipeline are that many times fewer. */
    private static final int FEWER = 10;
    private static final int PIPELINE = 64;
    private static final long FIGURES_PAUSE_MS = 1_500;
    private static final String ROW = "%-22s %,14.1f %,14.1f %10.3f %10s%s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--records", paramLabel = "N", defaultValue = "1000000",
        description = "Records, all of which are there before, 1 to 2000000. Default: ${DEFAULT-VALUE}.")
    private int records;

    @Option(names = "--requests", paramLabel = "N", defaultValue = "1000000",
        description = "Commands of each round, 1000 to 100000000; a tenth without a pipeline. " +
            "Default: ${DEFAULT-VALUE}.")
    private int requests;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "Rounds of each figure, 1 to 99. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    private final List<Map<String, Object>> rows = new ArrayList<>();
    private boolean isReached = true;

    @Override
    public Integer call() throws IOException, InterruptedException
    {
        OptionRange.check("--records", records, 1, MOST_RECORDS);
        OptionRange.check("--requests", requests, 1_000, MOST_REQUESTS);
        OptionRange.check("--rounds", rounds, 1, MOST_ROUNDS);
        final OutputFile output = OutputFile.open("--json", json);
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-bench-resp-");
            RedisProcess redis = RedisProcess.start(temporary.folder().path().resolve("redis")))
        {
            final LocalCluster cluster = temporary.open();
            final int port = RedisProcess.freePort();
            cluster.computeOptionsByNumber((number) -> List.of("--resp-port", String.valueOf(port)));
            cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB, 1, (line) -> {});
            try (KvClient client = KvClient.connect(temporary.folder().address(), new KvClientOptions()
                .tokenFile(temporary.folder().token()).timeout(Duration.ofSeconds(60))))
            {
                client.createTable("default", new TableOptions(records));
            }
            RedisProcess.load(port, records);
            RedisProcess.load(redis.port(), records);
            measure(cluster, port, redis.port());
            temporary.end();
        }
        output.write(JsonWriter.write(document()));
        return isReached ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private void measure(final LocalCluster cluster, final int port, final int redisPort)
        throws IOException, InterruptedException
    {
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%-22s %14s %14s %10s %10s%n", "figure", "verbena", "redis", "ratio", "goal");
        double commands = 0;
        final Map<String, Object> before = figures(cluster);
        for (final String command : List.of("get", "set"))
        {
            for (final int pipeline : new int[]{PIPELINE, 1})
            {
                final double[] own = new double[rounds];
                final double[] other = new double[rounds];
                final double[] ownTail = new double[rounds];
                final double[] otherTail = new double[rounds];
                final long count = PIPELINE == pipeline ? requests : requests / FEWER;
                for (int i = 0; i < rounds; i++)
                {
                    final RedisProcess.Figures first =
                        RedisProcess.benchmark(redisPort, command, records, count, pipeline);
                    final RedisProcess.Figures second =
                        RedisProcess.benchmark(port, command, records, count, pipeline);
                    other[i] = first.perSecond();
                    own[i] = second.perSecond();
                    otherTail[i] = first.p99Ms();
                    ownTail[i] = second.p99Ms();
                    commands += count;
                }
                final String name = command + "_pipeline_" + pipeline;
                final double goal = "set".equals(command) && PIPELINE == pipeline ? 0.6 : 0.8;
                row(name + "_per_s", median(own), median(other), goal);
                row(name + "_p99_ms", median(ownTail), median(otherTail), Double.NaN);
            }
        }
        allocations(before, figures(cluster), commands);
        out.flush();
    }

    private void allocations(final Map<String, Object> before, final Map<String, Object> after, final double commands)
    {
        for (final String name : List.of("resp_allocated_bytes", "allocated_bytes"))
        {
            final double bytes =
                ((Number)after.get(name)).doubleValue() - ((Number)before.get(name)).doubleValue();
            rowAtMost(name + "_per_command", bytes / commands);
        }
    }

    /** After a pause, in which the role has published them anew. */
    private static Map<String, Object> figures(final LocalCluster cluster) throws InterruptedException
    {
        Thread.sleep(FIGURES_PAUSE_MS);
        final Map<String, Object> figures = HealthProbe.figures(cluster.entry("compute-1"));
        if (null == figures)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "compute-1 does not answer", null);
        }
        return figures;
    }

    private static double median(final double[] values)
    {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private void row(final String name, final double own, final double other, final double goal)
    {
        final boolean isMissed = own / other < goal;
        add(name, own, other, own / other, goal, isMissed);
    }

    private void rowAtMost(final String name, final double own)
    {
        final boolean isJudged = name.startsWith("resp_");
        add(name, own, Double.NaN, Double.NaN, isJudged ? 1 : Double.NaN, isJudged && own > 1);
    }

    private void add(
        final String name, final double own, final double other, final double ratio, final double goal,
        final boolean isMissed)
    {
        isReached &= !isMissed;
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", name);
        fields.put("verbena", own);
        fields.put("redis", other);
        fields.put("ratio", ratio);
        fields.put("goal", goal);
        fields.put("reached", !isMissed);
        rows.add(fields);
        spec.commandLine().getOut().printf(Locale.ROOT, ROW, name, own, other, ratio,
            Double.isNaN(goal) ? "" : String.format(Locale.ROOT, "%.1f", goal), isMissed ? " MISSED" : "");
    }

    private Map<String, Object> document()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "resp");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("records_count", records);
        fields.put("requests_count", requests);
        fields.put("rounds_count", rounds);
        fields.put("rows", rows);
        return fields;
    }
}
