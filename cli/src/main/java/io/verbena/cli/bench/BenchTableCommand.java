package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.bench.LadderBenchmark;
import io.verbena.load.bench.TableBenchmark;
import io.verbena.load.bench.TableFigure;
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
import java.util.function.Consumer;

/**
 * {@code verbena bench table}: how fast a table is.
 */
@Command(
    name = "table",
    description = "Measure one engine against the bare memory accesses on the same lines.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not. With fewer records than the default " +
        "nothing is judged."})
final class BenchTableCommand implements Callable<Integer>
{
    private static final String ROW = "%-36s %,12.3f %-9s %12s  %8.3f %s%s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--records", paramLabel = "N", defaultValue = "" + TableBenchmark.FULL_RECORDS,
        description = "Records of 16-byte keys and 100-byte values, 1,000 to 10,000,000 (default), which take " +
            "2.5 GB of /dev/shm and 2 GB of heap.")
    private int records;

    @Option(names = "--ladder", description = "Measure where the time of a cached GET goes instead, from the bare " +
        "loads to the engine; nothing is judged.")
    private boolean isLadder;

    @Override
    public Integer call() throws IOException
    {
        if (records < TableBenchmark.MIN_RECORDS || records > TableBenchmark.FULL_RECORDS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--records " + records + ": must be " +
                TableBenchmark.MIN_RECORDS + " to " + TableBenchmark.FULL_RECORDS, null);
        }
        final boolean isJudged = isJudged();
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        out.println("figure                                      this store unit              bare    judged goal");
        final Consumer<TableFigure> progress = figure -> print(out, figure, isJudged);
        final List<TableFigure> figures = isLadder ?
            new LadderBenchmark(records, SystemNanoClock.INSTANCE, progress).run() :
            new TableBenchmark(records, SystemNanoClock.INSTANCE, progress).run();
        output.write(json(figures));
        return !isJudged || figures.stream().allMatch(TableFigure::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private boolean isJudged()
    {
        return records == TableBenchmark.FULL_RECORDS && !isLadder;
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

    private String json(final List<TableFigure> figures)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", isLadder ? "ladder" : "table");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("records", records);
        fields.put("judged", isJudged());
        fields.put("rows", figures.stream().map(TableFigure::fields).toList());
        return JsonWriter.write(fields);
    }
}
