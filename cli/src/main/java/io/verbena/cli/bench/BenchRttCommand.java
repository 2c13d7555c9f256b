package io.verbena.cli.bench;

import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.client.TableOptions;
import io.verbena.load.bench.RoundTripBenchmark;
import io.verbena.load.bench.RoundTripRow;
import io.verbena.load.report.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench rtt}: what operations cost in round trips.
 */
@Command(
    name = "rtt",
    description = "Count round trips, doorbells, requests and bytes of each operation of a table, at a live engine.",
    footer = {"", "Exit status 0: all within the round-trip budget; 1: one was not."})
final class BenchRttCommand implements Callable<Integer>
{
    private static final String ROW = "%-32s %-9s %11d %9d %6d %13d  %s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too, as an array.")
    private Path json;

    @Option(names = "--replicas", paramLabel = "N", defaultValue = "1",
        description = "Copies of the table, 1 to 3; with several, splits and merges are left out. Default: " +
        "${DEFAULT-VALUE}.")
    private int replicas;

    @Override
    public Integer call() throws IOException
    {
        OptionRange.check("--replicas", replicas, 1, TableOptions.MAX_COPIES);
        final OutputFile output = OutputFile.open("--json", json);
        final List<RoundTripRow> rows = new RoundTripBenchmark(replicas).run();
        final PrintWriter out = spec.commandLine().getOut();
        out.println("operation                        location  round_trips doorbells  verbs bytes_on_wire  budget");
        for (final RoundTripRow row : rows)
        {
            out.printf(Locale.ROOT, ROW, row.operation(), row.isCached() ? "cached" : "unknown", row.roundTrips(),
                row.doorbells(), row.verbs(), row.bytesOnWire(),
                row.mostRoundTrips() + (row.isWithinBudget() ? "" : " EXCEEDED"));
        }
        if (1 == replicas)
        {
            out.println("multi_get reads " + RoundTripBenchmark.MULTI_GET_KEYS + " keys.");
        }
        out.flush();
        output.write(JsonWriter.write(rows.stream().map(RoundTripRow::fields).toList()));
        return rows.stream().allMatch(RoundTripRow::isWithinBudget) ? ExitStatus.OK : ExitStatus.FAILED;
    }
}
