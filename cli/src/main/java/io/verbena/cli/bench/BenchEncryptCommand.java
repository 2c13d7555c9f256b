package io.verbena.cli.bench;

import io.verbena.cli.bench.EncryptionBenchmark.Transport;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.Medians;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena bench encrypt}: what encryption costs a client. */
@Command(
    name = "encrypt",
    description = {
        "Measure what encryption costs: two clusters of processes on this host, one made with --encrypt, and a " +
        "client that reads and writes records of 100 bytes one after the other at each in turn; over the network " +
        "transport at ::1, where packets are sealed, and over shared memory, where requests are. Medians of " +
        "latencies; a ratio is the median of those of each pair."},
    footer = {"", "Exit status 0: the goal was reached; 1: it was not."})
final class BenchEncryptCommand implements Callable<Integer>
{
    private static final int MOST_PAIRS = 1_000;
    private static final int LEAST_ROUND_MS = 10;
    private static final int MOST_ROUND_MS = 60_000;
    private static final double MOST_GET_RATIO = 1.5;
    private static final String ROW = "%-26s %12.1f %12.1f %8.3f %8s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "10",
        description = "Rounds at each cluster, of each figure, 1 to 1000. Default: ${DEFAULT-VALUE}.")
    private int pairs;

    @Option(names = "--round-ms", paramLabel = "MS", defaultValue = "1000",
        description = "Length of a round, 10 to 60000. Default: ${DEFAULT-VALUE}.")
    private int roundMs;

    @Option(names = "--warm-up-ms", paramLabel = "MS", defaultValue = "5000",
        description = "How long each cluster is used before each figure without being measured, 10 to 60000. " +
            "Default: ${DEFAULT-VALUE}.")
    private int warmUpMs;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    /** Latencies in both clusters, and their ratio; a goal of NaN is none. */
    private record Row(
        String figure, double encryptedUs, double clearUs, double ratio, double goal, double[] encryptedRoundsUs,
        double[] clearRoundsUs)
    {
        private Map<String, Object> fields()
        {
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("figure", figure);
            fields.put("encrypted_us", encryptedUs);
            fields.put("clear_us", clearUs);
            fields.put("ratio", ratio);
            if (!Double.isNaN(goal))
            {
                fields.put("goal_at_most", goal);
                fields.put("reached", isReached());
            }
            // In the order of the pairs: a warm-up that was too short shows.
            fields.put("encrypted_rounds_us", Arrays.stream(encryptedRoundsUs).boxed().toList());
            fields.put("clear_rounds_us", Arrays.stream(clearRoundsUs).boxed().toList());
            return fields;
        }

        private boolean isReached()
        {
            return Double.isNaN(goal) || ratio <= goal;
        }
    }

    @Override
    public Integer call() throws IOException
    {
        OptionRange.check("--pairs", pairs, 1, MOST_PAIRS);
        OptionRange.check("--round-ms", roundMs, LEAST_ROUND_MS, MOST_ROUND_MS);
        OptionRange.check("--warm-up-ms", warmUpMs, LEAST_ROUND_MS, MOST_ROUND_MS);
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%-26s %12s %12s %8s %8s%n", "median us", "encrypted", "in clear", "ratio", "at most");
        out.flush();
        final List<Row> rows = new ArrayList<>();
        for (final Transport transport : Transport.values())
        {
            try (EncryptionBenchmark benchmark = new EncryptionBenchmark(SystemNanoClock.INSTANCE, transport))
            {
                final String where = transport.name().toLowerCase(Locale.ROOT);
                rows.add(row(benchmark, "get_" + where, true, Transport.NETWORK == transport));
                rows.add(row(benchmark, "put_" + where, false, false));
            }
        }
        output.write(document(rows));
        return rows.stream().allMatch(Row::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private Row row(
        final EncryptionBenchmark benchmark, final String figure, final boolean isGet, final boolean isJudged)
    {
        final long durationNs = TimeUnit.MILLISECONDS.toNanos(roundMs);
        final double[] encrypted = new double[pairs];
        final double[] clear = new double[pairs];
        final double[] ratios = new double[pairs];
        // Compiles, in the processes of both clusters as well; not counted.
        final long warmUpNs = TimeUnit.MILLISECONDS.toNanos(warmUpMs);
        benchmark.medianUs(false, isGet, warmUpNs);
        benchmark.medianUs(true, isGet, warmUpNs);
        for (int i = 0; i < pairs; i++)
        {
            // Which of the two is first changes, since what is first may find the machine otherwise.
            final boolean isEncryptedFirst = i % 2 == 0;
            final double first = benchmark.medianUs(isEncryptedFirst, isGet, durationNs);
            final double second = benchmark.medianUs(!isEncryptedFirst, isGet, durationNs);
            encrypted[i] = isEncryptedFirst ? first : second;
            clear[i] = isEncryptedFirst ? second : first;
            ratios[i] = encrypted[i] / clear[i];
        }
        final Row row = new Row(
            figure, Medians.of(encrypted), Medians.of(clear), Medians.of(ratios),
            isJudged ? MOST_GET_RATIO : Double.NaN, encrypted, clear);
        final PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, ROW, figure, row.encryptedUs, row.clearUs, row.ratio,
            isJudged ? row.goal + (row.isReached() ? "" : " MISSED") : "");
        out.flush();
        return row;
    }

    private String document(final List<Row> rows)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "encrypt");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("pairs_count", pairs);
        fields.put("round_ms", roundMs);
        fields.put("warm_up_ms", warmUpMs);
        fields.put("rows", rows.stream().map(Row::fields).toList());
        return JsonWriter.write(fields);
    }
}
