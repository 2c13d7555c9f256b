package io.verbena.cli.fabric;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.elle.history.JsonWriter;
import io.verbena.rdma.conformance.ConformancePath;
import io.verbena.rdma.conformance.VerbsRig;
import io.verbena.rdma.conformance.perf.PerfOperation;
import io.verbena.rdma.conformance.perf.PerfOptions;
import io.verbena.rdma.conformance.perf.PerfResult;
import io.verbena.rdma.conformance.perf.PerfRun;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** {@code verbena fabric perf}: latency, message rate and bandwidth of one operation, as perftest measures them. */
@Command(
    name = "perf",
    description = {
        "Measure one operation between two nodes on a device: posted and polled by one thread, each request " +
        "signalled. With --depth 1 the latency is that of a request alone; a deeper queue shows message rate and " +
        "bandwidth. Time is that of the fabric: virtual with sim.",
        "With --setup: the way from nothing to a first READ, each step for the first time in this process, and again.",
        "With --against-perftest: READ and CMP_SWAP alone, in turns with ib_read_lat and ib_atomic_lat."},
    footer = {"",
        "Exit status 0; 1: with --against-perftest, requests allocate; 64: no such device or an invalid value; " +
        "69: the device cannot do it.", "",
        "Examples: verbena fabric perf --device soft --operation read --size 64",
        "          verbena fabric perf --device soft -o write --size 65536 --depth 16 --json perf.json",
        "          verbena fabric perf --device ibverbs:rxe0 --setup",
        "          verbena fabric perf --device ibverbs:rxe0 --against-perftest --json perftest.json"})
final class FabricPerfCommand implements Callable<Integer>
{
    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST = 1_024;
    private static final int MOST_SECONDS = 3_600;
    private static final double NS_PER_S = 1e9;
    private static final double MIB = 1 << 20;
    private static final double MAX = 100;
    private static final int SETUP_ROUNDS = 21;
    private static final int PERFTEST_ROUNDS = 7;
    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};

    @Spec
    private CommandSpec spec;

    @Option(names = {"-d", "--device"}, paramLabel = "D", required = true,
        description = "The device: soft, soft:DIRECTORY, roce:ADDRESS, sim:SEED, ibverbs:DEVICE; see fabric.")
    private String device;

    @Option(names = {"-o", "--operation"}, paramLabel = "OP", defaultValue = "read", description =
        "read, write, write-with-imm, send, compare-swap or fetch-add. Default: ${DEFAULT-VALUE}.")
    private String operation;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", defaultValue = "64",
        description = "Payload, 1 to 1048576; atomics have 8. Default: ${DEFAULT-VALUE}.")
    private int sizeBytes;

    @Option(names = "--depth", paramLabel = "N", defaultValue = "1",
        description = "Requests outstanding on each queue pair, 1 to 1024. Default: ${DEFAULT-VALUE}.")
    private int depth;

    @Option(names = {"-q", "--queue-pairs"}, paramLabel = "N", defaultValue = "1",
        description = "Queue pairs, used in turn, 1 to 1024. Default: ${DEFAULT-VALUE}.")
    private int queuePairsCount;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "2",
        description = "Duration, 0.001 to 3600, after a tenth of it to warm up. Default: ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(names = "--setup", description =
        "Measure the set-up instead: library, device, domain, queues, states, address exchange, first READ.")
    private boolean setup;

    @Option(names = "--against-perftest", description =
        "Measure READ of --size and CMP_SWAP in turns of --seconds with perftest's programs on the same RNIC, and " +
        "that a request allocates nothing.")
    private boolean againstPerftest;

    @Option(names = "--rounds", paramLabel = "N", description =
        "With --setup: how often, 2 to 10000, default 21. With --against-perftest: turns, 1 to 1000, default 7.")
    private Integer rounds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call()
    {
        if (setup)
        {
            new SetupReport(device, rounds == null ? SETUP_ROUNDS : rounds)
                .run(spec.commandLine().getOut(), OutputFile.open("--json", json));
            return ExitStatus.OK;
        }
        final PerfOptions options = options();
        if (againstPerftest)
        {
            return new PerftestReport(device, sizeBytes, rounds == null ? PERFTEST_ROUNDS : rounds, seconds)
                .run(spec.commandLine().getOut(), OutputFile.open("--json", json));
        }
        final OutputFile output = OutputFile.open("--json", json);
        final PerfResult result = FabricDevice.on(device, () ->
        {
            try (VerbsRig rig = ConformancePath.of(device).rigs().get(); PerfRun run = new PerfRun(rig, options))
            {
                return run.run();
            }
        });
        print(result);
        output.write(json(result));
        return ExitStatus.OK;
    }

    private PerfOptions options()
    {
        final PerfOperation chosen = Arrays.stream(PerfOperation.values())
            .filter(known -> known.word().equals(operation)).findFirst()
            .orElseThrow(() -> new CommandFailedException(ExitStatus.USAGE, "--operation " + operation +
                ": must be one of " + Arrays.stream(PerfOperation.values()).map(PerfOperation::word)
                .collect(Collectors.joining(", ")), null));
        check("--size", sizeBytes, MOST_BYTES);
        check("--depth", depth, MOST);
        check("--queue-pairs", queuePairsCount, MOST);
        if (!(seconds >= 0.001 && seconds <= MOST_SECONDS))
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--seconds " + seconds + ": must be 0.001 to " + MOST_SECONDS, null);
        }
        return new PerfOptions(chosen, chosen.isAtomic() ? Long.BYTES : sizeBytes, depth, queuePairsCount,
            (long)(seconds * NS_PER_S));
    }

    private static void check(final String option, final int value, final int most)
    {
        if (value < 1 || value > most)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, option + " " + value + ": must be 1 to " + most, null);
        }
    }

    private void print(final PerfResult result)
    {
        final PrintWriter out = spec.commandLine().getOut();
        final PerfOptions options = result.options();
        out.printf(Locale.ROOT, "%s on %s: %,d bytes, depth %d, queue pairs %d, %.3f s%n", options.operation().word(),
            device, options.sizeBytes(), options.depth(), options.queuePairsCount(), result.durationNs() / NS_PER_S);
        out.printf(Locale.ROOT, "  %-16s %,14.0f /s   (%,d requests)%n", "message rate", result.requestsPerSecond(),
            result.requestsCount());
        out.printf(Locale.ROOT, "  %-16s %,14.1f MiB/s%n", "bandwidth", result.bytesPerSecond() / MIB);
        out.printf(Locale.ROOT, "  %-16s %,14d ns%n", "latency min", result.latencyNsAt(0));
        for (final double percentile : PERCENTILES)
        {
            out.printf(Locale.ROOT, "  %-16s %,14d ns%n", "latency p" + number(percentile),
                result.latencyNsAt(percentile));
        }
        out.printf(Locale.ROOT, "  %-16s %,14d ns%n", "latency max", result.latencyNsAt(MAX));
        out.printf(Locale.ROOT, "  %-16s %,14d bytes in all, %,d in the 1,000 requests that took the least%n",
            "allocated", result.allocatedBytes(), result.leastAllocatedBytes());
        out.flush();
    }

    private String json(final PerfResult result)
    {
        final PerfOptions options = result.options();
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("device", device);
        fields.put("operation", options.operation().word());
        fields.put("size_bytes", (long)options.sizeBytes());
        fields.put("depth", (long)options.depth());
        fields.put("queue_pairs", (long)options.queuePairsCount());
        fields.put("duration_ns", result.durationNs());
        fields.put("requests", result.requestsCount());
        fields.put("requests_per_s", Math.round(result.requestsPerSecond()));
        fields.put("bytes_per_s", Math.round(result.bytesPerSecond()));
        fields.put("latency_min_ns", result.latencyNsAt(0));
        fields.put("latency_mean_ns", Math.round(result.meanLatencyNs()));
        for (final double percentile : PERCENTILES)
        {
            fields.put("latency_p" + number(percentile).replace(".", "") + "_ns",
                result.latencyNsAt(percentile));
        }
        fields.put("latency_max_ns", result.latencyNsAt(MAX));
        fields.put("allocated_bytes", result.allocatedBytes());
        fields.put("least_allocated_bytes", result.leastAllocatedBytes());
        fields.put("processors", (long)Runtime.getRuntime().availableProcessors());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }

    private static String number(final double percentile)
    {
        return percentile == Math.rint(percentile) ? Long.toString((long)percentile) : Double.toString(percentile);
    }
}
