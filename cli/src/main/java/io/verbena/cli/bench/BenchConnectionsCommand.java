package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OutputFile;
import io.verbena.load.bench.ConnectionsBenchmark;
import io.verbena.load.bench.TableFigure;
import io.verbena.load.report.JsonWriter;
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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * {@code verbena bench connections}: what many connections over few queue pairs take.
 */
@Command(
    name = "connections",
    description = "Measure what thousands of connections over one queue pair take, against a queue pair each.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not. With fewer connections than the default " +
        "nothing is judged."})
final class BenchConnectionsCommand implements Callable<Integer>
{
    private static final String ROW = "%-42s %,12.3f %-6s %12s %9.3f %s%s%n";

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--connections", paramLabel = "N", defaultValue = "" + ConnectionsBenchmark.FULL_CONNECTIONS,
        description = "Connections, " + ConnectionsBenchmark.MIN_CONNECTIONS + " to 10,000 (default).")
    private int connections;

    @Override
    public Integer call() throws IOException
    {
        if (connections < ConnectionsBenchmark.MIN_CONNECTIONS || connections > ConnectionsBenchmark.FULL_CONNECTIONS)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "--connections " + connections + ": must be " +
                ConnectionsBenchmark.MIN_CONNECTIONS + " to " + ConnectionsBenchmark.FULL_CONNECTIONS, null);
        }
        final boolean isJudged = connections == ConnectionsBenchmark.FULL_CONNECTIONS;
        final OutputFile output = OutputFile.open("--json", json);
        final PrintWriter out = spec.commandLine().getOut();
        printHead(out);
        final List<TableFigure> figures = new ConnectionsBenchmark(
            connections, SystemNanoClock.INSTANCE, figure -> print(out, figure, isJudged)).run();
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "connections");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("connections", connections);
        fields.put("judged", isJudged);
        fields.put("rows", figures.stream().map(TableFigure::fields).toList());
        output.write(JsonWriter.write(fields));
        return !isJudged || figures.stream().allMatch(TableFigure::isReached) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    static void printHead(final PrintWriter out)
    {
        out.println("figure                                            value unit      reference    judged goal");
    }

    static void print(final PrintWriter out, final TableFigure figure, final boolean isJudged)
    {
        out.printf(Locale.ROOT, ROW, figure.name(), figure.value(), figure.unit(),
            Double.isNaN(figure.bare()) ? "" : String.format(Locale.ROOT, "%,.3f", figure.bare()), figure.judged(),
            Double.isNaN(figure.goal()) ? "" :
                String.format(Locale.ROOT, "%s %.3f", figure.isAtMost() ? "<=" : ">=", figure.goal()),
            !isJudged || figure.isReached() ? "" : " MISSED");
        out.flush();
    }
}
