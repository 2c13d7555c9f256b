package io.verbena.cli.bench.copies;

import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.bench.ReplicasBenchmark;
import io.verbena.load.bench.ReplicasRow;
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

/** {@code verbena bench replicas}: what two and three copies cost. */
@Command(
    name = "replicas",
    description = "Measure get, put, update (a replace by version), insert, and YCSB's workloads A and C with 16 " +
        "operations at once, on tables with 1, 2 and 3 copies in turn, in one process.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not. With fewer records than the default, " +
        "nothing is judged."})
public final class BenchReplicasCommand implements Callable<Integer>
{
    private static final String ROW = "%-9s %6d %,16.0f %11s %9s %7.2f %10.1f %15.3f  %s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--records", paramLabel = "N", defaultValue = "" + ReplicasBenchmark.FULL_RECORDS,
        description = "Records, and operations of each kind in each of three rounds, 100 to 50000 (default).")
    private int records;

    @Override
    public Integer call() throws IOException
    {
        OptionRange.check("--records", records, ReplicasBenchmark.MIN_RECORDS, ReplicasBenchmark.FULL_RECORDS);
        final boolean isJudged = ReplicasBenchmark.FULL_RECORDS == records;
        final OutputFile output = OutputFile.open("--json", json);
        final List<ReplicasRow> rows = new ReplicasBenchmark(records, SystemNanoClock.INSTANCE).run();
        final PrintWriter out = spec.commandLine().getOut();
        out.println("operation copies operations_per_s   median_ns    p99_ns   verbs      bytes  to_one_copy    goal");
        for (final ReplicasRow row : rows)
        {
            out.printf(Locale.ROOT, ROW, row.operation(), row.copies(), row.operationsPerS(), ns(row.medianNs()),
                ns(row.p99Ns()), row.verbs(), row.payloadBytes(), row.ratioToOneCopy(), goal(row, isJudged));
        }
        out.flush();
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "replicas");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("records_count", records);
        fields.put("judged", isJudged);
        fields.put("rows", rows.stream().map(ReplicasRow::fields).toList());
        output.write(JsonWriter.write(fields));
        return !isJudged || rows.stream().allMatch(ReplicasRow::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static String ns(final double value)
    {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String goal(final ReplicasRow row, final boolean isJudged)
    {
        return Double.isNaN(row.leastRatio()) ? "" : ">= " + row.leastRatio() +
            (!isJudged ? ", not judged" : row.isReached() ? ": reached" : ": MISSED");
    }
}
