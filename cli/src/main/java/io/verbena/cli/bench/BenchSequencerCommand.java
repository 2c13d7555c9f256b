package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.fabric.FabricDevice;
import io.verbena.elle.history.JsonWriter;
import io.verbena.rdma.conformance.ConformancePath;
import io.verbena.rdma.conformance.VerbsRig;
import io.verbena.rdma.conformance.perf.SequencerOptions;
import io.verbena.rdma.conformance.perf.SequencerResult;
import io.verbena.rdma.conformance.perf.SequencerRun;
import io.verbena.rdma.conformance.perf.SequencerVariant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/** {@code verbena bench sequencer}: one counter for many, by atomics and by calls. */
@Command(
    name = "sequencer",
    description = {
        "Hand out the numbers of one counter to clients: by FETCH_ADD, and by calls (SEND there, SEND back), which " +
        "get one optimisation after the other: unsignaled, inline, doorbell batching, header only. One thread plays " +
        "clients and server, so a number costs the work of both. Each variant is checked: no number missing, none " +
        "twice, rising for each client. Time is that of the fabric: virtual with sim."},
    footer = {"",
        "Exit status 0: all numbers are right; 1: they are not; 64: no such device or an invalid value; " +
        "69: the device cannot do it.", "",
        "Example: verbena bench sequencer --device soft --clients 8 --json sequencer.json"})
final class BenchSequencerCommand implements Callable<Integer>
{
    private static final int MOST = 64;
    private static final int MOST_NUMBERS = 1_000_000_000;

    @Spec
    private CommandSpec spec;

    @Option(names = {"-d", "--device"}, paramLabel = "D", defaultValue = "soft",
        description = "The device: soft, soft:DIRECTORY, roce:ADDRESS, sim:SEED or ibverbs:DEVICE. " +
            "Default: ${DEFAULT-VALUE}.")
    private String device;

    @Option(names = "--clients", paramLabel = "N", defaultValue = "4",
        description = "Clients, a queue pair each, 1 to 64. Default: ${DEFAULT-VALUE}.")
    private int clients;

    @Option(names = "--window", paramLabel = "N", defaultValue = "16",
        description = "Numbers that a client waits for at once, 1 to 64. Default: ${DEFAULT-VALUE}.")
    private int window;

    @Option(names = "--numbers", paramLabel = "N", defaultValue = "500000",
        description = "Numbers of each variant, 10 to 1000000000, after a tenth to warm up. Default: ${DEFAULT-VALUE}.")
    private int numbers;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call()
    {
        check("--clients", clients, 1, MOST);
        check("--window", window, 1, MOST);
        check("--numbers", numbers, 10, MOST_NUMBERS);
        final OutputFile output = OutputFile.open("--json", json);
        final List<SequencerResult> results = new ArrayList<>();
        final PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, "sequencer on %s: %,d numbers, %d clients, window %d; both sides, for each number%n",
            device, numbers, clients, window);
        out.printf("  %-20s %12s %10s %12s %9s %9s %11s  %s%n",
            "variant", "numbers/s", "ns", "processor ns", "requests", "doorbells", "completions", "numbers");
        for (final SequencerVariant variant : SequencerVariant.values())
        {
            final SequencerResult result = FabricDevice.on(device, () -> measure(variant));
            results.add(result);
            print(out, result);
        }
        output.write(json(results));
        return results.stream().allMatch(result -> result.problem().isEmpty()) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private SequencerResult measure(final SequencerVariant variant)
    {
        try (VerbsRig rig = ConformancePath.of(device).rigs().get();
            SequencerRun run = new SequencerRun(rig, new SequencerOptions(clients, window, numbers), variant))
        {
            return run.run();
        }
    }

    private static void check(final String option, final int value, final int least, final int most)
    {
        if (value < least || value > most)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, option + " " + value + ": must be " + least + " to " + most, null);
        }
    }

    private static void print(final PrintWriter out, final SequencerResult result)
    {
        final double count = result.numbersCount();
        out.printf(Locale.ROOT, "  %-20s %,12.0f %,10.1f %,12.1f %9.2f %9.2f %11.2f  %s%n", result.variant().text(),
            result.numbersPerSecond(), result.durationNs() / count, result.processorNs() / count,
            result.requestsCount() / count, result.doorbellsCount() / count, result.completionsCount() / count,
            result.problem().isEmpty() ? "right" : "WRONG: " + result.problem());
        out.flush();
    }

    private String json(final List<SequencerResult> results)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "sequencer");
        fields.put("device", device);
        fields.put("clients", (long)clients);
        fields.put("window", (long)window);
        fields.put("numbers", (long)numbers);
        fields.put("processors", (long)Runtime.getRuntime().availableProcessors());
        fields.put("variants", results.stream().map(BenchSequencerCommand::fields).toList());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }

    private static Map<String, Object> fields(final SequencerResult result)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("variant", result.variant().text());
        fields.put("duration_ns", result.durationNs());
        fields.put("processor_ns", result.processorNs());
        fields.put("numbers_per_s", Math.round(result.numbersPerSecond()));
        fields.put("requests", result.requestsCount());
        fields.put("doorbells", result.doorbellsCount());
        fields.put("send_completions", result.completionsCount());
        fields.put("problem", result.problem());
        return fields;
    }
}
