package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.embedded.MemoryCheck;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.soak.Soak;
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
 * {@code verbena bench soak}: overwrites without end, and not one byte lost.
 */
@Command(
    name = "soak",
    description = "Fill a table to nine tenths of its slots, overwrite its records many times, read all of them " +
        "back, and account for every byte of memory.",
    footer = {"", "Exit status 0: the table was full, and no record and no byte was lost; 1: one was."})
final class BenchSoakCommand implements Callable<Integer>
{
    private static final long MOST = 1_000_000_000L;

    @Spec
    private CommandSpec spec;

    @Option(names = "--records", paramLabel = "N", defaultValue = "1000000",
        description = "Records in the filled table. Default: ${DEFAULT-VALUE}.")
    private long records;

    @Option(names = "--overwrites", paramLabel = "N", defaultValue = "10000000",
        description = "Overwrites. Default: ${DEFAULT-VALUE}.")
    private long overwrites;

    @Option(names = "--threads", paramLabel = "N", defaultValue = "4",
        description = "Threads of clients. Default: ${DEFAULT-VALUE}.")
    private int threads;

    @Option(names = "--compute-nodes", paramLabel = "N", defaultValue = "2",
        description = "Compute nodes. Default: ${DEFAULT-VALUE}.")
    private int computeNodes;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws InterruptedException
    {
        if (records < 1_000 || records > 50_000_000 || overwrites < 1 || overwrites > MOST || threads < 1 ||
            threads > 256 || computeNodes < 1 || computeNodes > 16)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "out of range: --records 1000 to 50000000, " +
                "--overwrites 1 to " + MOST + ", --threads 1 to 256, --compute-nodes 1 to 16", null);
        }
        final OutputFile output = OutputFile.open("--json", json);
        final Soak.Result result = new Soak(records, overwrites, threads, computeNodes).run();
        spec.commandLine().getOut().println(text(result));
        output.write(JsonWriter.write(figures(result)));
        return result.passed() ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static String text(final Soak.Result result)
    {
        final MemoryCheck check = result.check();
        return String.format(Locale.ROOT,
            "%,d records in %,d slots, %.4f of them; %,d overwrites in %,.1f s; %,d records wrong, %,d found%n" +
            "leased %,d bytes = records %,d + free %,d + quarantined %,d + in flight %,d + lost %,d; " +
            "not reclaimed %,d; undecided inserts %,d%n" +
            "%,d bytes were written: each leased one %.1f times%n%s%n%s",
            result.filled(), check.slots(), result.fill(), result.overwrites(), result.seconds(), result.wrong(),
            check.records(), check.leasedBytes(), check.namedBytes(), check.heldFreeBytes(),
            check.quarantinedBytes(), check.inFlightBytes(), check.lostBytes(), check.unreclaimedBytes(),
            check.tentative(), result.writtenBytes(), result.turnover(),
            check.problems().isEmpty() ? "no invariant is broken" : String.join("\n", check.problems()),
            result.passed() ? "passed: the table was full, and not one record and not one byte was lost" : "failed");
    }

    private static Map<String, Object> figures(final Soak.Result result)
    {
        final MemoryCheck check = result.check();
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("fill", result.fill());
        figures.put("filled", result.filled());
        figures.put("slots", check.slots());
        figures.put("overwrites", result.overwrites());
        figures.put("written_bytes", result.writtenBytes());
        figures.put("turnover", result.turnover());
        figures.put("seconds", result.seconds());
        figures.put("records", check.records());
        figures.put("records_wrong", result.wrong());
        figures.put("leased_bytes", check.leasedBytes());
        figures.put("named_bytes", check.namedBytes());
        figures.put("free_bytes", check.heldFreeBytes());
        figures.put("quarantined_bytes", check.quarantinedBytes());
        figures.put("in_flight_bytes", check.inFlightBytes());
        figures.put("lost_bytes", check.lostBytes());
        figures.put("unreclaimed_bytes", check.unreclaimedBytes());
        figures.put("tentative_words", check.tentative());
        figures.put("problems", check.problems());
        figures.put("passed", result.passed());
        return figures;
    }
}
