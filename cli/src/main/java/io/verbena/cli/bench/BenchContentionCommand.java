package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.bench.ContentionBenchmark;
import io.verbena.load.bench.ContentionRow;
import io.verbena.load.report.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench contention}: what writers of the same keys reach together.
 */
@Command(
    name = "contention",
    description = "Predict the updates of 2 to 64 simulated nodes on the same keys, Zipf-distributed (0.99), on an " +
        "RNIC model, with the control of contention on and off. The same figures on every machine.",
    footer = {"", "Exit status 0: with it on, throughput does not fall with more nodes and an update takes at most 2 " +
        "compare-and-swaps; 1: not so."})
final class BenchContentionCommand implements Callable<Integer>
{
    private static final int FEWEST_NODES = 2;
    private static final int MOST_NODES = 64;
    private static final double MOST_SWAPS = 2;
    private static final String ROW = "%5d %-4s %,14.0f %12.3f %9.1f %%%n";
    private static final double PERCENT = 100;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the rows to this file too.")
    private Path json;

    @Option(names = "--updates", paramLabel = "N", defaultValue = "20000",
        description = "Updates for each row, 1,000 to 1,000,000; 20,000 if not given.")
    private long updates;

    @Override
    public Integer call() throws IOException
    {
        if (updates < 1_000 || updates > 1_000_000)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--updates " + updates + ": must be 1,000 to 1,000,000", null);
        }
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        out.println("nodes      updates/second swaps/update  combined");
        final List<ContentionRow> rows = new ArrayList<>();
        boolean isReached = true;
        for (final boolean isControlled : new boolean[]{true, false})
        {
            double before = 0;
            for (int nodes = FEWEST_NODES; nodes <= MOST_NODES; nodes *= 2)
            {
                final ContentionRow row = ContentionBenchmark.measure(nodes, isControlled, updates);
                rows.add(row);
                out.printf(Locale.ROOT, ROW, nodes, isControlled ? "on" : "off", row.updatesPerSecond(),
                    row.swapsPerUpdate(), PERCENT * row.combinedShare());
                out.flush();
                isReached &= !isControlled ||
                    row.updatesPerSecond() >= before && row.swapsPerUpdate() <= MOST_SWAPS;
                before = row.updatesPerSecond();
            }
        }
        output.write(JsonWriter.write(rows.stream().map(ContentionRow::fields).toList()));
        return isReached ? ExitStatus.OK : ExitStatus.FAILED;
    }
}
