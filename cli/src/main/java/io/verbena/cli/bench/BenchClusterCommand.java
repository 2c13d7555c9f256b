package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.report.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench cluster}: what a cluster of processes costs.
 */
@Command(
    name = "cluster",
    description = {
        "Measure clusters of processes on this host, each started for it and gone afterwards: a remote GET beside " +
        "one of Redis, if there is a redis-server; exec of a compute node to its first GET; an idle cluster; " +
        "load and dump of a file.",
        "Measure on a machine that does nothing else: the GETs need processors of their own."},
    footer = {"", "Exit status 0: all goals that could be judged were reached; 1: one was not."})
final class BenchClusterCommand implements Callable<Integer>
{
    private static final int MOST_OPERATIONS = 100_000_000;
    private static final int MOST_RECORDS = 10_000_000;
    private static final int MOST_SECONDS = 3_600;
    private static final int MOST_STARTS = 100;

    @Spec
    private CommandSpec spec;

    @Option(names = "--operations", paramLabel = "N", defaultValue = "200000",
        description = "GETs measured of each store. Default: ${DEFAULT-VALUE}.")
    private int operations;

    @Option(names = "--records", paramLabel = "N", defaultValue = "1000000",
        description = "Records of the file that is loaded, 1 to 10000000. Default: ${DEFAULT-VALUE}.")
    private int records;

    @Option(names = "--starts", paramLabel = "N", defaultValue = "5",
        description = "Starts of a compute node, of which the median counts. Default: ${DEFAULT-VALUE}.")
    private int starts;

    @Option(names = "--idle-seconds", paramLabel = "S", defaultValue = "30",
        description = "How long the idle cluster is watched, after 20 s to settle. Default: ${DEFAULT-VALUE}.")
    private int idleSeconds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws InterruptedException
    {
        if (operations < 1 || operations > MOST_OPERATIONS || records < 1 || records > MOST_RECORDS ||
            idleSeconds < 1 || idleSeconds > MOST_SECONDS || starts < 1 || starts > MOST_STARTS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "out of range: --operations 1 to " + MOST_OPERATIONS +
                ", --records 1 to " + MOST_RECORDS + ", --starts 1 to " + MOST_STARTS +
                ", --idle-seconds 1 to " + MOST_SECONDS, null);
        }
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        final ClusterBenchmark benchmark = new ClusterBenchmark(operations, records, starts, idleSeconds, (line) ->
        {
            out.println(line);
            out.flush();
        });
        final Map<String, Object> figures = benchmark.run();
        output.write(JsonWriter.write(figures));
        return benchmark.isReached() ? ExitStatus.OK : ExitStatus.FAILED;
    }
}
