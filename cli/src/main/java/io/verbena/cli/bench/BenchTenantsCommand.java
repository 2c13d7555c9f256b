package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.bench.TableFigure;
import io.verbena.load.bench.TenantsBenchmark;
import io.verbena.load.report.JsonWriter;
import io.verbena.raas.TenantOptions;
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
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench tenants}: how much tenants of one queue pair are in each other's way.
 */
@Command(
    name = "tenants",
    description = "Measure how much tenants that share a queue pair are in each other's way.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not. With fewer slices than the default, or " +
        "another weight or quota, nothing is judged."})
final class BenchTenantsCommand implements Callable<Integer>
{
    private static final int WEIGHT = 1;
    private static final int QUEUE_SLOTS = 256;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--slices", paramLabel = "N", defaultValue = "" + TenantsBenchmark.FULL_SLICES,
        description = "Tenths of a second measured on the soft fabric, 1 to 60 (default), and as much of the rest.")
    private int slices;

    @Option(names = "--weight", paramLabel = "N", defaultValue = "" + WEIGHT,
        description = "Weight of the quiet tenant beside the greedy one's 1, 1 (default) to 1,000.")
    private int weight;

    @Option(names = "--queue-slots", paramLabel = "N", defaultValue = "" + QUEUE_SLOTS,
        description = "Requests that the greedy tenant may have on the queue pair, 4 to 256 (default).")
    private int queueSlots;

    @Override
    public Integer call() throws IOException
    {
        require("--slices", slices, 1, TenantsBenchmark.FULL_SLICES);
        require("--weight", weight, 1, TenantOptions.MAX_WEIGHT);
        require("--queue-slots", queueSlots, 4, QUEUE_SLOTS);
        final boolean isJudged =
            slices == TenantsBenchmark.FULL_SLICES && weight == WEIGHT && queueSlots == QUEUE_SLOTS;
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        BenchConnectionsCommand.printHead(out);
        final List<TableFigure> figures = new TenantsBenchmark(slices, weight, queueSlots, SystemNanoClock.INSTANCE,
            figure -> BenchConnectionsCommand.print(out, figure, isJudged)).run();
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "tenants");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("slices", slices);
        fields.put("weight", weight);
        fields.put("queue_slots", queueSlots);
        fields.put("judged", isJudged);
        fields.put("rows", figures.stream().map(TableFigure::fields).toList());
        output.write(JsonWriter.write(fields));
        return !isJudged || figures.stream().allMatch(TableFigure::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static void require(final String option, final int value, final int least, final int most)
    {
        if (value < least || value > most)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, option + " " + value + ": must be " + least + " to " + most, null);
        }
    }
}
