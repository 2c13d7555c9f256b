package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.fabric.FabricDevice;
import io.verbena.elle.history.JsonWriter;
import io.verbena.load.verbs.VerbsBenchmark;
import io.verbena.load.verbs.VerbsBenchmarkRow;
import io.verbena.load.verbs.WakeUpRow;
import org.agrona.concurrent.SystemNanoClock;
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

/**
 * {@code verbena bench verbs}: what posting and polling adds to the memory access itself.
 */
@Command(
    name = "verbs",
    description = {
        "Measure verbs on the soft fabric against the same memory accesses made bare, in one run on the same lines: " +
        "READ and CMP_SWAP of random 64-byte lines in processor time, and a ping-pong by SEND and receive between " +
        "two polling processes, against one on two shared cache lines, in elapsed time. The ping-pong needs two " +
        "processors of its own. Times are medians of the rounds. Then how long a process that sleeps takes to wake, " +
        "from before the SEND is posted until its completion channel returns, against a bare futex.",
        "With less than the default bytes or operations the caches help: only the shape of the figures is meant."},
    footer = {"", "Exit status 0: all goals were reached, or the run was smaller than the default; 1: one was not; " +
        "69: not enough memory."})
final class BenchVerbsCommand implements Callable<Integer>
{
    private static final long DEFAULT_BYTES = 1 << 30;
    private static final int DEFAULT_OPERATIONS = 1_000_000;
    private static final int BATCH = 16;
    private static final long FEWEST_BYTES = 1 << 12;
    private static final long MOST_BYTES = 1L << 33;
    private static final int MOST_OPERATIONS = 100_000_000;
    private static final int MOST_ROUNDS = 1_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--bytes", paramLabel = "N", defaultValue = "" + DEFAULT_BYTES,
        description = "Target memory, a power of two, 4096 to 8589934592. Default: ${DEFAULT-VALUE}.")
    private long bytes;

    @Option(names = "--operations", paramLabel = "N", defaultValue = "" + DEFAULT_OPERATIONS,
        description = "Of each kind in a round, a multiple of 16 up to 100000000. Default: ${DEFAULT-VALUE}.")
    private int operations;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "9",
        description = "Measured rounds, 1 to 1000, after three to warm up. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call()
    {
        check();
        final OutputFile output = OutputFile.open("--json", json);
        final boolean isJudged = bytes >= DEFAULT_BYTES && operations >= DEFAULT_OPERATIONS;
        final List<VerbsBenchmarkRow> rows = new ArrayList<>();
        final List<WakeUpRow> wakeUps = new ArrayList<>();
        final PrintWriter out = spec.commandLine().getOut();
        out.println("operation                   bare ns   posted ns   ratio   goal   allocated bytes");
        FabricDevice.on("soft", () ->
        {
            new VerbsBenchmark(bytes, operations, rounds, SystemNanoClock.INSTANCE).run(row ->
            {
                rows.add(row);
                out.println(line(row, isJudged));
                out.flush();
            }, row ->
            {
                wakeUps.add(row);
                out.println(line(row));
            });
            return rows;
        });
        output.write(json(rows, wakeUps));
        return !isJudged || rows.stream().allMatch(VerbsBenchmarkRow::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private void check()
    {
        if (bytes < FEWEST_BYTES || bytes > MOST_BYTES || Long.bitCount(bytes) != 1)
        {
            throw usage("--bytes " + bytes + ": must be a power of two, " + FEWEST_BYTES + " to " + MOST_BYTES);
        }
        if (operations < BATCH || operations > MOST_OPERATIONS || operations % BATCH != 0)
        {
            throw usage("--operations " + operations + ": must be a multiple of 16 up to " + MOST_OPERATIONS);
        }
        if (rounds < 1 || rounds > MOST_ROUNDS)
        {
            throw usage("--rounds " + rounds + ": must be 1 to " + MOST_ROUNDS);
        }
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }

    private static String line(final VerbsBenchmarkRow row, final boolean isJudged)
    {
        final String verdict = !isJudged ? "" : row.isReached() ? "  reached" : "  MISSED";
        return String.format(Locale.ROOT, "%-24s %,10.1f  %,10.1f  %6.2f  %5.1f  %16.3f%s", row.operation(),
            row.bareNs(), row.postedNs(), row.ratio(), row.goalRatio(), row.allocatedBytes(), verdict);
    }

    private static String line(final WakeUpRow row)
    {
        return String.format(Locale.ROOT, "%-24s bare futex p50 %,d ns, p99 %,d ns; posted p50 %,d ns, p99 %,d ns",
            row.operation(), row.bareP50Ns(), row.bareP99Ns(), row.postedP50Ns(), row.postedP99Ns());
    }

    private String json(final List<VerbsBenchmarkRow> rows, final List<WakeUpRow> wakeUps)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "verbs");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", (long)Runtime.getRuntime().availableProcessors());
        fields.put("target_bytes", bytes);
        fields.put("operations_count", (long)operations);
        fields.put("rounds_count", (long)rounds);
        fields.put("rows", rows.stream().map(VerbsBenchmarkRow::fields).toList());
        fields.put("wake_ups", wakeUps.stream().map(WakeUpRow::fields).toList());
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }
}
