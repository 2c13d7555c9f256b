package io.verbena.cli.bench;

import io.verbena.cli.autoscale.BenchAutoscaleCommand;
import io.verbena.cli.bench.copies.BenchFailoverCommand;
import io.verbena.cli.bench.copies.BenchFillCommand;
import io.verbena.cli.bench.copies.BenchReplicasCommand;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.elle.bench.BenchmarkRow;
import io.verbena.elle.bench.CheckBenchmark;
import io.verbena.elle.bench.GrowthPlot;
import io.verbena.elle.history.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench}: measurements.
 */
@Command(
    name = "bench",
    description = "Measure parts of Verbena.",
    subcommands = {
        BenchCommand.BenchCheckCommand.class, BenchRttCommand.class, BenchTableCommand.class,
        BenchContentionCommand.class, BenchSimCommand.class, BenchQpScalingCommand.class, BenchVerbsCommand.class,
        BenchSequencerCommand.class, BenchSoakCommand.class, BenchClusterCommand.class, BenchGrowthCommand.class,
        BenchWireCommand.class, BenchConnectCommand.class, BenchConnectionsCommand.class, BenchRespCommand.class,
        BenchMetricsCommand.class, BenchTenantsCommand.class, BenchAutoscaleCommand.class, BenchMetaCommand.class,
        BenchEncryptCommand.class, BenchReplicasCommand.class, BenchFailoverCommand.class,
        BenchFillCommand.class})
public final class BenchCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Override
    public void run()
    {
        throw new ParameterException(
            spec.commandLine(), "say what to measure: check, rtt, table, contention, sim, qp-scaling, verbs, " +
            "sequencer, soak, cluster, growth, wire, connect, connections, resp, metrics, autoscale, meta, encrypt, " +
            "replicas or failover");
    }

    /**
     * {@code verbena bench check}: how fast histories are checked.
     */
    @Command(
        name = "check",
        description = "Measure the checkers on histories made for it; takes some minutes.",
        footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
    static final class BenchCheckCommand implements Callable<Integer>
    {
        private static final String ROW = "%-66s %,9d ops %,10.0f ms %,11.0f ops/s %,11d conf.  %-8s %s%n";
        private static final double MS_PER_S = 1_000;

        @Spec
        private CommandSpec spec;

        @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
        private Path json;

        @Option(names = "--plot", paramLabel = "FILE",
            description = "Draw how the time grows with the length of the history, as an SVG image.")
        private Path plot;

        @Option(names = "--scale", paramLabel = "X", defaultValue = "1", hidden = true,
            description = "Shorter histories, without goals.")
        private double scale;

        @Override
        public Integer call() throws IOException
        {
            if (!(scale >= 0.001 && scale <= 1))
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--scale " + scale + ": must be 0.001 to 1", null);
            }
            final OutputFile output = OutputFile.open("--json", json);
            final OutputFile image = OutputFile.open("--plot", plot);
            final Path folder = Files.createTempDirectory("verbena-bench");
            try
            {
                final List<BenchmarkRow> rows = new CheckBenchmark(scale, folder, this::print).run();
                output.write(json(rows));
                image.write(GrowthPlot.of(rows));
                return rows.stream().allMatch(BenchmarkRow::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
            }
            finally
            {
                Files.deleteIfExists(folder);
            }
        }

        private void print(final BenchmarkRow row)
        {
            final PrintWriter out = spec.commandLine().getOut();
            final String goal = row.goalMs() == 0 ? "" :
                String.format(Locale.ROOT, "goal %,.0f ms: %s", row.goalMs(), row.isReached() ? "reached" : "MISSED");
            final String line = String.format(Locale.ROOT, ROW, row.name(), row.operationsCount(), row.elapsedMs(),
                row.operationsCount() * MS_PER_S / row.elapsedMs(), row.configurationsCount(), row.verdict(), goal);
            out.println(line.stripTrailing());
            out.flush();
        }

        private static String json(final List<BenchmarkRow> rows)
        {
            final Runtime runtime = Runtime.getRuntime();
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("benchmark", "check");
            fields.put("jvm", Runtime.version().toString());
            fields.put("processors_count", (long)runtime.availableProcessors());
            fields.put("max_heap_bytes", runtime.maxMemory());
            fields.put("rows", rows.stream().map(BenchmarkRow::fields).toList());
            final StringBuilder text = new StringBuilder();
            JsonWriter.appendValue(text, fields);
            return text.append('\n').toString();
        }
    }
}
