package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.bench.GrowthBenchmark;
import io.verbena.load.bench.GrowthChart;
import io.verbena.load.bench.GrowthSample;
import io.verbena.load.bench.TableFigure;
import io.verbena.load.demo.GrowthUnderLoad;
import io.verbena.load.report.JsonWriter;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench growth}: what it costs that a table grows.
 */
@Command(
    name = "growth",
    description = "Measure inserts into a table that grows from 1,000 records against a table created large enough.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not. With fewer records than the default " +
        "nothing is judged; --cluster judges always."})
final class BenchGrowthCommand implements Callable<Integer>
{
    private static final String ROW = "%-47s %,14.3f %-8s %14s  %8.3f %s%s%n";

    private static final int COMPUTE_NODES = 2;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE",
        description = "Write the figures and the rates over time to this file too.")
    private Path json;

    @Option(names = "--plot", paramLabel = "FILE", description = "Draw the rates over time, as an SVG image.")
    private Path plot;

    @Option(names = "--records", paramLabel = "N", defaultValue = "" + GrowthBenchmark.FULL_RECORDS,
        description = "Records of 16-byte keys and 100-byte values, 50,000 to 10,000,000 (default), which take " +
            "2.5 GB of /dev/shm.")
    private int records;

    @Option(names = "--cluster", description = "Instead of that, grow a table of a whole cluster in this process, " +
        "and empty it, so that it shrinks, beside a register workload on the same table: is what was seen " +
        "linearizable, is every record there, does its memory come back?")
    private boolean isCluster;

    @Override
    public Integer call() throws IOException, InterruptedException
    {
        if (records < GrowthBenchmark.MIN_RECORDS || records > GrowthBenchmark.FULL_RECORDS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--records " + records + ": must be " +
                GrowthBenchmark.MIN_RECORDS + " to " + GrowthBenchmark.FULL_RECORDS, null);
        }
        return isCluster ? runCluster() : runEngine();
    }

    private int runCluster() throws IOException, InterruptedException
    {
        final OutputFile output = OutputFile.open("--json", json);
        final OutputFile image = OutputFile.open("--plot", plot);
        final GrowthUnderLoad.Result result =
            new GrowthUnderLoad(records, COMPUTE_NODES, SystemNanoClock.INSTANCE).run();
        final PrintWriter out = spec.commandLine().getOut();
        out.println(String.format(Locale.ROOT,
            "%,d records in %,.1f s, %,.0f a second; %,d subtables%n" +
            "nearly all of them deleted in %,.1f s; %,d subtables %,.1f s later, as many as there were: %s%n" +
            "%,d register operations: %s%n%,d operations failed, %,d records are missing; %,d problems%s",
            result.records(), result.seconds(), result.records() / result.seconds(), result.stat().subtables(),
            result.deleteSeconds(), result.lastSubtables(), result.shrinkSeconds(),
            result.lastSubtables() == result.firstSubtables() ? "yes" : "NO",
            result.registerOperations(), verdict(result), result.failures(), result.missing(),
            result.check().problems().size(), result.firstFailure() == null ? "" : "\n" + result.firstFailure()));
        out.flush();
        output.write(JsonWriter.write(result.fields()));
        image.write(GrowthChart.of(result.samples()));
        return result.passed() ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static String verdict(final GrowthUnderLoad.Result result)
    {
        return Boolean.TRUE.equals(result.isLinearizable()) ? "linearizable" : result.isLinearizable() == null ?
            "unknown whether linearizable: " + result.explanation() : "NOT LINEARIZABLE: " + result.explanation();
    }

    private int runEngine() throws IOException
    {
        final boolean isJudged = records == GrowthBenchmark.FULL_RECORDS;
        final OutputFile output = OutputFile.open("--json", json);
        final OutputFile image = OutputFile.open("--plot", plot);
        final PrintWriter out = spec.commandLine().getOut();
        out.println(
            "figure                                                 growing unit     without growth    judged goal");
        final GrowthBenchmark benchmark = new GrowthBenchmark(
            records, SystemNanoClock.INSTANCE, figure -> print(out, figure, isJudged));
        final List<TableFigure> figures = benchmark.run();
        output.write(json(figures, benchmark.samples()));
        image.write(GrowthChart.of(benchmark.samples()));
        return !isJudged || figures.stream().allMatch(TableFigure::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static void print(final PrintWriter out, final TableFigure figure, final boolean isJudged)
    {
        out.printf(Locale.ROOT, ROW, figure.name(), figure.value(), figure.unit(),
            Double.isNaN(figure.bare()) ? "" : String.format(Locale.ROOT, "%,.3f", figure.bare()), figure.judged(),
            goal(figure), !isJudged || figure.isReached() ? "" : " MISSED");
        out.flush();
    }

    private static String goal(final TableFigure figure)
    {
        return Double.isNaN(figure.goal()) ? "" :
            String.format(Locale.ROOT, "%s %.3f", figure.isAtMost() ? "<=" : ">=", figure.goal());
    }

    private String json(final List<TableFigure> figures, final List<GrowthSample> samples)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "growth");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("records", records);
        fields.put("judged", records == GrowthBenchmark.FULL_RECORDS);
        fields.put("rows", figures.stream().map(TableFigure::fields).toList());
        fields.put("samples", samples.stream().map(GrowthSample::fields).toList());
        return JsonWriter.write(fields);
    }
}
