package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.elle.history.JsonWriter;
import io.verbena.load.verbs.SimBenchmark;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench sim}: how many small simulated scenarios run in a second.
 */
@Command(
    name = "sim",
    description = "Measure the simulator: small scenarios with a memory node, three compute nodes that count with " +
        "READ and CMP_SWAP, and faults (a death, pauses, a broken connection, long delays, stalls).",
    footer = {"", "Exit status 0: all scenarios kept their counts; 70: one did not, which is an error in Verbena."})
final class BenchSimCommand implements Callable<Integer>
{
    private static final int MOST_SCENARIOS = 100_000_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--scenarios", paramLabel = "N", defaultValue = "10000",
        description = "How many, each with a seed of its own. Default: ${DEFAULT-VALUE}.")
    private int scenarios;

    @Option(names = "--threads", paramLabel = "N",
        description = "Threads, each with a scenario at a time. Default: one for each processor.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws InterruptedException
    {
        if (scenarios < 1 || scenarios > MOST_SCENARIOS)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--scenarios " + scenarios + ": must be 1 to " + MOST_SCENARIOS, null);
        }
        if (threads < 1 || threads > 1_024)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--threads " + threads + ": must be 1 to 1024", null);
        }
        final OutputFile output = OutputFile.open("--json", json);
        final SimBenchmark.Result result =
            new SimBenchmark(scenarios, threads, SystemNanoClock.INSTANCE).run();
        spec.commandLine().getOut().println(String.format(Locale.ROOT,
            "%,d scenarios in %,.1f s: %,.0f a second; %,d steps, %,d faults, %,.0f ms of virtual time; %d threads",
            result.scenarios(), result.elapsedNs() / 1e9, result.scenariosPerSecond(), result.steps(),
            result.faults(), result.virtualNs() / 1e6, result.threads()));
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "sim");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", (long)Runtime.getRuntime().availableProcessors());
        fields.putAll(result.fields());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        output.write(text.append('\n').toString());
        return ExitStatus.OK;
    }
}
