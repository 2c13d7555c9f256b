package io.verbena.cli.bench;

import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.report.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/** {@code verbena bench resp}: a compute node and Redis under the same clients. */
@Command(
    name = "resp",
    description = {
        "Measure a compute node that serves Redis' protocol against Redis, in turn: memory of a record of 16 + 100 " +
        "bytes, without and with expiry; GET and SET of redis-benchmark, 50 connections, pipelines of 64 and of 1, " +
        "with the processor time of the servers; p99.9 at half of the lower rate without pipelines; then what the " +
        "node's threads allocate for each command. Medians.",
        "Without redis-server or redis-benchmark the rows that need them are not judged."},
    footer = {"", "Exit status 0: no goal that was judged was missed; 1: one was."})
final class BenchRespCommand implements Callable<Integer>
{
    private static final int MOST_RECORDS = 2_000_000;
    private static final int MOST_REQUESTS = 100_000_000;
    private static final int MOST_ROUNDS = 99;
    private static final int MOST_SECONDS = 600;

    @Spec
    private CommandSpec spec;

    @Option(names = "--records", paramLabel = "N", defaultValue = "1000000",
        description = "Records, all of which are there before, 1 to 2000000; their memory is judged from 100000 on. " +
            "Default: ${DEFAULT-VALUE}.")
    private int records;

    @Option(names = "--requests", paramLabel = "N", defaultValue = "1000000",
        description = "Commands of each round, 1000 to 100000000; a tenth without a pipeline. " +
            "Default: ${DEFAULT-VALUE}.")
    private int requests;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "Rounds of each figure, 1 to 99. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(names = "--latency-seconds", paramLabel = "S", defaultValue = "5",
        description = "Length of each round of latencies, 1 to 600. Default: ${DEFAULT-VALUE}.")
    private int latencySeconds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws IOException, InterruptedException
    {
        OptionRange.check("--records", records, 1, MOST_RECORDS);
        OptionRange.check("--requests", requests, 1_000, MOST_REQUESTS);
        OptionRange.check("--rounds", rounds, 1, MOST_ROUNDS);
        OptionRange.check("--latency-seconds", latencySeconds, 1, MOST_SECONDS);
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        final RedisPrograms programs = RedisPrograms.find(System.getenv().getOrDefault("PATH", ""));
        if (null != programs.missing())
        {
            out.println(programs.missing());
        }
        final RespFigures figures = new RespFigures(out);
        new RespBenchmark(programs, records, requests, rounds, latencySeconds, figures).run();
        output.write(JsonWriter.write(document(figures)));
        return figures.isReached() ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private Map<String, Object> document(final RespFigures figures)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "resp");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("records_count", records);
        fields.put("requests_count", requests);
        fields.put("rounds_count", rounds);
        fields.put("latency_seconds", latencySeconds);
        fields.put("rows", figures.rows());
        return fields;
    }
}
