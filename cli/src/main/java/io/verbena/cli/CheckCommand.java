package io.verbena.cli;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.OutputFile;
import io.verbena.cli.console.StandardStream;
import io.verbena.elle.Validity;
import io.verbena.elle.command.CheckRequest;
import io.verbena.elle.command.HistoryCheck;
import io.verbena.elle.command.HistoryReport;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.JsonWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * {@code verbena check}: judges recorded histories, of whatever system.
 */
@Command(
    name = "check",
    description = {
        "Check histories of clients: whether they are linearizable, or which anomalies their transactions show. " +
        "Reads Jepsen's EDN, JSON lines, and recordings of elle; without --model and --workload the functions of " +
        "the history decide what it is one of."},
    footer = {"",
        "Exit status 0: all histories are valid; 1: one is not; 2: one may be, a bound was hit; 65: one is broken.", "",
        "Examples: verbena check history.edn",
        "          verbena check --model cas-register etcd.edn --json result.json",
        "          verbena check --workload list-append --consistency snapshot-isolation run.json",
        "          verbena check --html verdict.html run.json"})
final class CheckCommand implements Callable<Integer>
{
    private static final long MOST_SECONDS = TimeUnit.DAYS.toSeconds(365);

    @Spec
    private CommandSpec spec;

    @Option(names = {"-m", "--model"}, paramLabel = "M", description = "Check for linearizability against this " +
        "object: register, cas-register, versioned-register, kv-map, versioned-kv-map, set, counter, queue or mutex.")
    private String model;

    @Option(names = {"-w", "--workload"}, paramLabel = "W",
        description = "Check transactions instead: list-append or rw-register.")
    private String workload;

    @Option(names = {"-c", "--consistency"}, paramLabel = "NAME", description = "What transactions are held against, " +
        "such as read-committed, snapshot-isolation, serializable. Default: strict-serializable.")
    private String consistency;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to this file too.")
    private Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Draw the verdict as a page in this file: " +
        "a timeline, or cycles as graphs. For one history at a time.")
    private Path html;

    @Option(names = "--timeout", paramLabel = "S", defaultValue = "300",
        description = "Seconds for each history, after which it is unknown. Default: ${DEFAULT-VALUE}.")
    private long timeoutSeconds;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Histories to check; - is standard input.")
    private List<Path> files;

    @Override
    public Integer call()
    {
        final HistoryCheck check = new HistoryCheck(request());
        final OutputFile jsonFile = OutputFile.open("--json", json);
        final OutputFile htmlFile = OutputFile.open("--html", html);
        final PrintWriter out = spec.commandLine().getOut();
        final List<Object> results = new ArrayList<>();
        Validity validity = Validity.VALID;
        for (final Path file : files)
        {
            final HistoryReport report = run(check, file);
            out.print(report.text());
            out.flush();
            results.add(report.fields());
            if (html != null)
            {
                htmlFile.write(report.page().get());
            }
            validity = validity.and(report.validity());
        }
        jsonFile.write(json(validity, results));
        return exitStatus(validity);
    }

    private CheckRequest request()
    {
        if (html != null && files.size() > 1)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--html draws one history, but " + files.size() + " were given", null);
        }
        if (timeoutSeconds < 1 || timeoutSeconds > MOST_SECONDS)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, "--timeout " + timeoutSeconds + ": must be 1 to " + MOST_SECONDS, null);
        }
        try
        {
            return CheckRequest.ofWords(model, workload, consistency, TimeUnit.SECONDS.toNanos(timeoutSeconds));
        }
        catch (final IllegalArgumentException ex)
        {
            throw new CommandFailedException(ExitStatus.USAGE, ex.getMessage(), ex);
        }
    }

    private static HistoryReport run(final HistoryCheck check, final Path file)
    {
        try
        {
            return check.run(StandardStream.input(file));
        }
        catch (final HistoryException ex)
        {
            throw new CommandFailedException(ExitStatus.BAD_DATA, ex.getMessage(), ex);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.BAD_DATA, file + ": cannot be read (" + FileErrors.reason(ex) + ")", ex);
        }
    }

    private static String json(final Validity validity, final List<Object> results)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("verdict", validity.word());
        fields.put("histories", results);
        final StringBuilder text = new StringBuilder();
        JsonWriter.appendValue(text, fields);
        return text.append('\n').toString();
    }

    private static int exitStatus(final Validity validity)
    {
        return switch (validity)
        {
            case VALID -> ExitStatus.OK;
            case INVALID -> ExitStatus.FAILED;
            case UNKNOWN -> ExitStatus.UNKNOWN;
        };
    }
}
