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

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * {@code verbena fabric perf --against-perftest}: READ and CMP_SWAP, one request at a time, in turns with the C
 * programs of perftest on the same device, so that both meet the same machine.
 */
final class PerftestReport
{
    private static final double GOAL = 1.2;
    private static final double NS_PER_US = 1_000;
    private static final double NS_PER_S = 1e9;
    /** The compilers of the JVM get as much time as so many turns. */
    private static final int WARM_UP_TURNS = 5;
    /** As many requests of C as take about a turn, 25 µs each. */
    private static final double ITERATIONS_PER_S = 40_000;

    private final String device;
    private final String rnic;
    private final int sizeBytes;
    private final int rounds;
    private final double seconds;

    /** The turns of one operation; C has one more, the first and the last. */
    private record Turns(
        PerfOptions options, String program, List<PerftestProgram.Figures> reference, List<PerfResult> own)
    {
        double ratio()
        {
            return (double)median(own, result -> result.latencyNsAt(50)) /
                median(reference, PerftestProgram.Figures::medianNs);
        }

        boolean allocatesNothing()
        {
            return own.stream().allMatch(PerfResult::allocatesNothing);
        }

        static <T> long median(final List<T> turns, final ToLongFunction<T> figure)
        {
            final long[] sorted = turns.stream().mapToLong(figure).sorted().toArray();
            return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
        }
    }

    PerftestReport(final String device, final int sizeBytes, final int rounds, final double seconds)
    {
        if (!device.matches("ibverbs:[^,]+.*"))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--against-perftest on " + device +
                ": perftest measures RNICs; name one, ibverbs:DEVICE", null);
        }
        if (rounds < 1 || rounds > 1_000)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--rounds " + rounds + ": must be 1 to 1000", null);
        }
        this.device = device;
        rnic = device.replaceFirst("ibverbs:([^,]+).*", "$1");
        this.sizeBytes = sizeBytes;
        this.rounds = rounds;
        this.seconds = seconds;
    }

    /** Measures and prints; the exit status, 1 when a request allocates. */
    int run(final PrintWriter out, final OutputFile output)
    {
        out.printf(Locale.ROOT, "%s against perftest, in turns of %.1f s, medians in us%n", device, seconds);
        final List<Turns> results = FabricDevice.on(device, () -> List.of(
            turns(PerfOperation.READ, sizeBytes, out), turns(PerfOperation.COMPARE_SWAP, Long.BYTES, out)));
        out.printf(Locale.ROOT, "%n  %-14s %6s %14s %10s %10s %7s   %s%n",
            "operation", "bytes", "reference", "C", "Java", "ratio", "goal " + GOAL);
        for (final Turns result : results)
        {
            out.printf(Locale.ROOT, "  %-14s %6d %14s %10.1f %10.1f %7.2f   %s, %s%n",
                result.options.operation().word(), result.options.sizeBytes(), result.program,
                Turns.median(result.reference, PerftestProgram.Figures::medianNs) / NS_PER_US,
                Turns.median(result.own, own -> own.latencyNsAt(50)) / NS_PER_US, result.ratio(),
                result.ratio() <= GOAL ? "reached" : "missed",
                result.allocatesNothing() ? "0 bytes allocated per request" : "REQUESTS ALLOCATE");
        }
        out.flush();
        output.write(json(results));
        return results.stream().allMatch(Turns::allocatesNothing) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private Turns turns(final PerfOperation operation, final int bytes, final PrintWriter out)
    {
        final PerfOptions options = new PerfOptions(operation, bytes, 1, 1, (long)(seconds * NS_PER_S));
        final int iterations = (int)Math.clamp(seconds * ITERATIONS_PER_S, 1_000, 1e8);
        try (VerbsRig rig = ConformancePath.of(device).rigs().get(); PerfRun run = new PerfRun(rig, options))
        {
            final PerftestProgram program = operation == PerfOperation.READ ?
                PerftestProgram.read(rnic, rig.requester(), bytes, iterations) :
                PerftestProgram.compareSwap(rnic, rig.requester(), iterations);
            for (int i = 0; i < WARM_UP_TURNS; i++)
            {
                run.run();
            }
            final Turns turns = new Turns(options, program.name(), new ArrayList<>(), new ArrayList<>());
            turns.reference.add(program.run());
            for (int round = 0; round < rounds; round++)
            {
                turns.own.add(run.run());
                turns.reference.add(program.run());
                out.printf(Locale.ROOT, "  %-14s C %8.1f   Java %8.1f   C %8.1f%n", operation.word(),
                    turns.reference.get(round).medianNs() / NS_PER_US,
                    turns.own.get(round).latencyNsAt(50) / NS_PER_US,
                    turns.reference.get(round + 1).medianNs() / NS_PER_US);
                out.flush();
            }
            return turns;
        }
    }

    private String json(final List<Turns> results)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "perftest");
        fields.put("device", device);
        fields.put("rounds", (long)rounds);
        fields.put("processors", (long)Runtime.getRuntime().availableProcessors());
        fields.put("goal_ratio", GOAL);
        fields.put("operations", results.stream().map(PerftestReport::fields).toList());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }

    private static Map<String, Object> fields(final Turns turns)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("operation", turns.options.operation().word());
        fields.put("size_bytes", (long)turns.options.sizeBytes());
        fields.put("reference", turns.program);
        fields.put("ratio", turns.ratio());
        fields.put("reference_median_ns", list(turns.reference, PerftestProgram.Figures::medianNs));
        fields.put("reference_least_ns", list(turns.reference, PerftestProgram.Figures::leastNs));
        fields.put("reference_mean_cycle_ns", list(turns.reference, PerftestProgram.Figures::averageNs));
        fields.put("own_median_ns", list(turns.own, own -> own.latencyNsAt(50)));
        fields.put("own_least_ns", list(turns.own, own -> own.latencyNsAt(0)));
        fields.put("own_mean_cycle_ns", list(turns.own, own -> own.durationNs() / Math.max(1, own.requestsCount())));
        fields.put("own_requests", list(turns.own, PerfResult::requestsCount));
        fields.put("own_allocated_bytes", list(turns.own, PerfResult::allocatedBytes));
        fields.put("own_least_allocated_bytes", list(turns.own, PerfResult::leastAllocatedBytes));
        return fields;
    }

    private static <T> List<Long> list(final List<T> turns, final ToLongFunction<T> figure)
    {
        return turns.stream().map(figure::applyAsLong).toList();
    }
}
