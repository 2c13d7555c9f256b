package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.fabric.FabricDevice;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.Medians;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.IoUtil;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena bench metrics}: what it costs to be watched. */
@Command(
    name = "metrics",
    description = {
        "Measure what it costs to be scraped: a meta server, a memory node and a compute node in this process on the " +
        "soft fabric, and a client that reads records, in rounds with and without a scrape of each page per second, " +
        "in turn. Medians; a ratio is the median of those of each pair."},
    footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
final class BenchMetricsCommand implements Callable<Integer>
{
    private static final String FABRIC = "soft:/dev/shm/verbena-bench-metrics-" + ProcessHandle.current().pid();
    private static final int MOST_PAIRS = 1_000;
    private static final int MOST_SECONDS = 60;
    private static final int MOST_TABLES = 500;
    private static final int SCRAPES = 200;
    private static final double SLOWEST_SCRAPE_MS = 10;
    private static final double MOST_GET_RATIO = 1.03;
    private static final double MOST_CYCLE_RATIO = 1.2;
    private static final double NS_PER_MS = 1_000_000;
    private static final double NS_PER_US = 1_000;
    private static final String ROW = "%-26s %12.3f %12.3f %8.3f %10s%s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--tables", paramLabel = "N", defaultValue = "100",
        description = "Tables of the cluster, 1 to 500. Default: ${DEFAULT-VALUE}.")
    private int tables;

    @Option(names = "--pairs", paramLabel = "N", defaultValue = "20",
        description = "Rounds with and rounds without scrapes, 1 to 1000. Default: ${DEFAULT-VALUE}.")
    private int pairs;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "1",
        description = "Length of a round, 1 to 60. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    /** A figure with and without scrapes, in its unit; or one without anything beside it. */
    private record Row(String figure, double with, double without, double judged, double goal)
    {
        private Map<String, Object> fields()
        {
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("figure", figure);
            fields.put("with_scrapes", with);
            if (!Double.isNaN(without))
            {
                fields.put("without_scrapes", without);
            }
            fields.put("judged", judged);
            fields.put("goal_at_most", goal);
            fields.put("reached", isReached());
            return fields;
        }

        private boolean isReached()
        {
            return judged <= goal;
        }
    }

    @Override
    public Integer call() throws IOException
    {
        OptionRange.check("--tables", tables, 1, MOST_TABLES);
        OptionRange.check("--pairs", pairs, 1, MOST_PAIRS);
        OptionRange.check("--seconds", seconds, 1, MOST_SECONDS);
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        final Path folder = Files.createTempDirectory("verbena-bench-metrics-");
        final List<Row> rows;
        try
        {
            rows = FabricDevice.on("soft", () -> measure(folder));
        }
        finally
        {
            IoUtil.delete(folder.toFile(), true);
        }
        out.printf("%-26s %12s %12s %8s %10s%n", "figure", "with", "without", "judged", "at most");
        rows.forEach((row) -> out.print(String.format(Locale.ROOT, ROW, row.figure(), row.with(), row.without(),
            row.judged(), row.goal(), row.isReached() ? "" : " MISSED").replace("NaN", "   ")));
        out.flush();
        output.write(json(rows));
        return rows.stream().allMatch(Row::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private List<Row> measure(final Path folder)
    {
        try (Fabric fabric = Fabrics.open(FABRIC); MetricsBenchmark benchmark =
            new MetricsBenchmark(SystemNanoClock.INSTANCE))
        {
            benchmark.start(fabric, FABRIC, folder, tables);
            return measure(benchmark);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    private List<Row> measure(final MetricsBenchmark benchmark) throws InterruptedException
    {
        final long durationNs = TimeUnit.SECONDS.toNanos(seconds);
        benchmark.scrapes(SCRAPES); // compiles, as the rounds that are not counted
        benchmark.round(durationNs, true);
        benchmark.round(durationNs, false);
        final List<MetricsBenchmark.Round> with = new ArrayList<>();
        final List<MetricsBenchmark.Round> without = new ArrayList<>();
        for (int i = 0; i < pairs; i++)
        {
            // Which of the two is first changes, since what is first may find the machine otherwise.
            if (i % 2 == 0)
            {
                with.add(benchmark.round(durationNs, true));
                without.add(benchmark.round(durationNs, false));
            }
            else
            {
                without.add(benchmark.round(durationNs, false));
                with.add(benchmark.round(durationNs, true));
            }
        }
        final List<Row> rows = new ArrayList<>();
        final double scrapeMs = benchmark.scrapes(SCRAPES).stream()
            .mapToDouble((elapsedNs) -> elapsedNs[SCRAPES / 2] / NS_PER_MS).max().orElseThrow();
        rows.add(new Row("slowest_page_scrape_ms", scrapeMs, Double.NaN, scrapeMs, SLOWEST_SCRAPE_MS));
        rows.add(row("get_ns", figures(with, true, 1), figures(without, true, 1), MOST_GET_RATIO));
        rows.add(row("duty_cycle_p999_us", figures(with, false, NS_PER_US), figures(without, false, NS_PER_US),
            MOST_CYCLE_RATIO));
        return rows;
    }

    private static double[] figures(
        final List<MetricsBenchmark.Round> rounds, final boolean isGet, final double unitNs)
    {
        return rounds.stream().mapToDouble((round) -> (isGet ? round.getNs() : round.cycleP999Ns()) / unitNs).toArray();
    }

    private static Row row(final String figure, final double[] with, final double[] without, final double goal)
    {
        final double[] ratios = new double[with.length];
        for (int i = 0; i < ratios.length; i++)
        {
            ratios[i] = with[i] / without[i];
        }
        return new Row(figure, Medians.of(with), Medians.of(without), Medians.of(ratios), goal);
    }

    private String json(final List<Row> rows)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "metrics");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("tables_count", tables);
        fields.put("pairs_count", pairs);
        fields.put("round_seconds", seconds);
        fields.put("rows", rows.stream().map(Row::fields).toList());
        return JsonWriter.write(fields);
    }
}
