package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.wire.WireBenchmark;
import io.verbena.load.wire.WireFigure;
import io.verbena.load.wire.WireOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench wire}: how fast the network transport is.
 */
@Command(
    name = "wire",
    description = "Measure RoCEv2 in user space against plain UDP, and GETs against those of a Redis, if there is a " +
        "redis-server, between two network namespaces.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not. Needs the right to make network " +
        "namespaces, and 'ip', 'unshare' and 'nsenter'; for the shared link 'tc' besides."})
final class BenchWireCommand implements Callable<Integer>
{
    private static final String ROW = "%-34s %,12.3f %-7s %12s  %8.3f %s%s%s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--mtu", paramLabel = "BYTES", defaultValue = "" + WireOptions.MTU_BYTES,
        description = "MTU of the link, 1280 to 9000 (default ${DEFAULT-VALUE}).")
    private int mtuBytes;

    @Option(names = "--window", paramLabel = "PACKETS", defaultValue = "" + WireOptions.WINDOW_PACKETS,
        description = "Packets of a queue pair in flight, 1 to 4096 (default ${DEFAULT-VALUE}, as the provider has).")
    private int windowPackets;

    @Option(names = "--only", paramLabel = "TEXT", defaultValue = "",
        description = "Measure only figures whose names begin with it, and what is measured together with them.")
    private String only;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "" + WireOptions.ROUNDS, hidden = true,
        description = "Rounds of each measurement.")
    private int rounds;

    @Option(names = "--round-ms", paramLabel = "MS", defaultValue = "" + WireOptions.ROUND_MS, hidden = true,
        description = "Milliseconds of a round.")
    private int roundMs;

    @Override
    public Integer call() throws IOException
    {
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        final WireOptions options = new WireOptions(
            mtuBytes, windowPackets, Math.max(1, rounds), Math.max(1, roundMs), only);
        out.println("figure                                     RoCEv2 unit      UDP or Redis    judged goal");
        out.flush();
        final List<WireFigure> figures = new WireBenchmark(options, figure -> print(out, figure),
            note -> out.println(note)).run();
        if (figures.isEmpty())
        {
            throw new CommandFailedException(ExitStatus.USAGE,
                "--only " + only + ": no figure's name begins with it; without --only all are listed", null);
        }
        output.write(json(figures));
        return figures.stream().allMatch(WireFigure::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private static void print(final PrintWriter out, final WireFigure figure)
    {
        out.printf(Locale.ROOT, ROW, figure.name(), figure.value(), figure.unit(),
            Double.isNaN(figure.reference()) ? "" : String.format(Locale.ROOT, "%,.3f", figure.reference()),
            figure.judged(), goal(figure), figure.isReached() ? "" : " MISSED", floor(figure));
        out.flush();
    }

    private static String goal(final WireFigure figure)
    {
        return Double.isNaN(figure.goal()) ? "" :
            String.format(Locale.ROOT, "%s %.3f", figure.isAtMost() ? "<=" : ">=", figure.goal());
    }

    /** What plain UDP would be judged in its place. */
    private static String floor(final WireFigure figure)
    {
        return Double.isNaN(figure.floor()) ? "" :
            String.format(Locale.ROOT, ", floor %.3f%s", figure.floor(), figure.isReachable() ? "" : ": out of reach");
    }

    private String json(final List<WireFigure> figures)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "wire");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("mtu_bytes", mtuBytes);
        fields.put("window_packets", windowPackets);
        fields.put("rows", figures.stream().map(WireFigure::fields).toList());
        return JsonWriter.write(fields);
    }
}
