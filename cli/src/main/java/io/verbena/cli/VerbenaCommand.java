package io.verbena.cli;

import io.verbena.cli.cluster.CheckpointCommand;
import io.verbena.cli.cluster.ComputeNodeCommand;
import io.verbena.cli.cluster.DeleteCommand;
import io.verbena.cli.cluster.DownCommand;
import io.verbena.cli.cluster.DumpCommand;
import io.verbena.cli.cluster.ExistsCommand;
import io.verbena.cli.cluster.GetCommand;
import io.verbena.cli.cluster.LoadCommand;
import io.verbena.cli.cluster.MemoryNodeCommand;
import io.verbena.cli.cluster.MetaServerCommand;
import io.verbena.cli.cluster.PutCommand;
import io.verbena.cli.cluster.ReplaceCommand;
import io.verbena.cli.cluster.ScaleCommand;
import io.verbena.cli.cluster.ScanCommand;
import io.verbena.cli.cluster.StatusCommand;
import io.verbena.cli.cluster.TableCommand;
import io.verbena.cli.cluster.UpCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;

/**
 * The root of the {@code verbena} command and its {@code main}. Every error is one line on standard error and an
 * {@link ExitStatus}; a stack trace only where {@code --stacktrace} or the variable {@code VERBENA_DEBUG} asks for it.
 */
@Command(
    name = "verbena",
    description = "A disaggregated key-value store on an RDMA layer of its own.",
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = VersionProvider.class,
    subcommands = {
        UpCommand.class,
        StatusCommand.class,
        ScaleCommand.class,
        DownCommand.class,
        CheckpointCommand.class,
        PutCommand.class,
        GetCommand.class,
        DeleteCommand.class,
        ExistsCommand.class,
        ReplaceCommand.class,
        ScanCommand.class,
        LoadCommand.class,
        DumpCommand.class,
        TableCommand.class,
        MetaServerCommand.class,
        MemoryNodeCommand.class,
        ComputeNodeCommand.class,
        DemoCommand.class,
        CheckCommand.class,
        BenchCommand.class,
        FabricCommand.class,
        LauncherCommand.TestCommand.class,
        LauncherCommand.ClasspathCommand.class,
        LauncherCommand.JavaCommand.class,
        LauncherCommand.DevCommand.class,
        VersionCommand.class},
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
        "0:done, and what was checked holds",
        "1:an operation failed or a check found a violation",
        "2:a check ended without a verdict",
        "64:unknown command or option, or a value that cannot be",
        "65:an input file cannot be read or has bad content",
        "69:something needed is missing (JDK, Maven, a node that answers)",
        "70:an error in Verbena itself, or the build failed",
        "73:memory or a file could not be made (/dev/shm full, output not writable)",
        "130:interrupted (Ctrl-C)"})
public final class VerbenaCommand implements Runnable
{
    @Spec
    private CommandSpec spec;

    @Option(names = "--stacktrace", scope = ScopeType.INHERIT, description = "On an error, print where it came from.")
    private boolean stackTrace;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT, description = "Print help and exit.")
    private boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "Print the version and exit.")
    private boolean version;

    VerbenaCommand()
    {
    }

    /**
     * Runs the command and exits with its status.
     *
     * @param args what the user typed.
     */
    public static void main(final String[] args)
    {
        System.exit(commandLine(System.getenv("VERBENA_DEBUG") != null).execute(args));
    }

    /**
     * The whole command line, ready to execute; the tests run it in their own process.
     *
     * @param debug print stack traces as if {@code --stacktrace} were given.
     * @return a command line that answers each error with one line.
     */
    static CommandLine commandLine(final boolean debug)
    {
        final VerbenaCommand root = new VerbenaCommand();
        return new CommandLine(root)
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setUsageHelpAutoWidth(true)
            .setParameterExceptionHandler(VerbenaCommand::onBadUsage)
            .setExecutionExceptionHandler((exception, commandLine, parsed) ->
                onFailure(exception, commandLine, parsed, debug || root.stackTrace));
    }

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    private static int onBadUsage(final ParameterException exception, final String[] args)
    {
        final CommandLine commandLine = exception.getCommandLine();
        final PrintWriter err = commandLine.getErr();
        err.println("verbena: " + oneLine(exception.getMessage()) + " (see " +
            commandLine.getCommandSpec().qualifiedName() + " --help)");
        return ExitStatus.USAGE;
    }

    private static int onFailure(
        final Exception exception, final CommandLine commandLine, final ParseResult parsed, final boolean stackTrace)
    {
        final PrintWriter err = commandLine.getErr();
        if (stackTrace)
        {
            exception.printStackTrace(err);
        }
        if (exception instanceof final CommandFailedException failed)
        {
            err.println("verbena: " + oneLine(failed.getMessage()));
            return failed.exitStatus();
        }
        err.println("verbena: internal error: " + oneLine(exception.toString()) +
            (stackTrace ? "" : " (run again with --stacktrace for more)"));
        return ExitStatus.INTERNAL;
    }

    private static String oneLine(final String message)
    {
        return String.valueOf(message).strip().replaceAll("\\s*\\R\\s*", " ");
    }
}
