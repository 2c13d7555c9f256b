package io.verbena.cli;

import io.verbena.cli.admin.CertificateCommand;
import io.verbena.cli.admin.CheckpointCommand;
import io.verbena.cli.admin.ClusterDashboard;
import io.verbena.cli.admin.DownCommand;
import io.verbena.cli.admin.MetaCommand;
import io.verbena.cli.admin.NodeCommand;
import io.verbena.cli.admin.UserCommand;
import io.verbena.cli.admin.ScaleCommand;
import io.verbena.cli.admin.SlowlogCommand;
import io.verbena.cli.admin.StatusCommand;
import io.verbena.cli.admin.TopCommand;
import io.verbena.cli.admin.UpCommand;
import io.verbena.cli.autoscale.AutoscaleCommand;
import io.verbena.cli.autoscale.LeaderAutoscaler;
import io.verbena.cli.bench.BenchCommand;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.doctor.DoctorCommand;
import io.verbena.cli.fabric.FabricCommand;
import io.verbena.cli.record.AppendCommand;
import io.verbena.cli.record.DeleteCommand;
import io.verbena.cli.record.DumpCommand;
import io.verbena.cli.record.ExistsCommand;
import io.verbena.cli.record.GetCommand;
import io.verbena.cli.record.IncrementCommand;
import io.verbena.cli.record.LoadCommand;
import io.verbena.cli.record.PutCommand;
import io.verbena.cli.record.ReplaceCommand;
import io.verbena.cli.record.ScanCommand;
import io.verbena.cli.role.ComputeNodeCommand;
import io.verbena.cli.role.MemoryNodeCommand;
import io.verbena.cli.role.MetaServerCommand;
import io.verbena.cli.role.ProcessStart;
import io.verbena.cli.role.StartAhead;
import io.verbena.cli.shell.ShellCommand;
import io.verbena.cli.shell.ShellOwnCommand;
import io.verbena.cli.table.TableCommand;
import io.verbena.cli.training.TrainCacheCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The root of the {@code verbena} command and its {@code main}. Every error is one line on standard error and an
 * {@link ExitStatus}; a stack trace only where {@code --stacktrace} or the variable {@code VERBENA_DEBUG} asks for it.
 */
@Command(
    name = "verbena",
    description = "A disaggregated key-value store on an RDMA layer of its own.",
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = VersionProvider.class,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
        "0:done, and what was checked holds",
        "1:an operation failed or a check found a violation",
        "2:a check ended without a verdict",
        "64:unknown command or option, or an invalid value",
        "65:an input file cannot be read or has bad content",
        "69:something needed is missing (JDK, Maven, a node that answers)",
        "70:an error in Verbena itself, or the build failed",
        "71:the disk of the meta server failed; repair it, and start it again with the same folder",
        "73:memory or a file could not be made (/dev/shm full, output not writable)",
        "74:standard output could not be written; what the command did is done",
        "77:the user has no right to that",
        "130:interrupted (Ctrl-C)",
        "143:ended by SIGTERM"})
public final class VerbenaCommand implements Runnable
{
    /** In the order of the help. Names stand here too, so that a start need not ask each class for its own. */
    private static final List<Map.Entry<String, Class<?>>> COMMANDS = List.of(
        command("up", UpCommand.class),
        command("status", StatusCommand.class),
        command("top", TopCommand.class),
        command("slowlog", SlowlogCommand.class),
        command("scale", ScaleCommand.class),
        command("autoscale", AutoscaleCommand.class),
        command("down", DownCommand.class),
        command("checkpoint", CheckpointCommand.class),
        command("put", PutCommand.class),
        command("get", GetCommand.class),
        command("delete", DeleteCommand.class),
        command("exists", ExistsCommand.class),
        command("replace", ReplaceCommand.class),
        command("append", AppendCommand.class),
        command("increment", IncrementCommand.class),
        command("scan", ScanCommand.class),
        command("shell", ShellCommand.class),
        command("load", LoadCommand.class),
        command("dump", DumpCommand.class),
        command("table", TableCommand.class),
        command("node", NodeCommand.class),
        command("user", UserCommand.class),
        command("certificate", CertificateCommand.class),
        command("meta", MetaCommand.class),
        command("doctor", DoctorCommand.class),
        command("meta-server", MetaServerCommand.class),
        command("memory-node", MemoryNodeCommand.class),
        command(ComputeNodeCommand.NAME, ComputeNodeCommand.class),
        command("demo", DemoCommand.class),
        command("check", CheckCommand.class),
        command("bench", BenchCommand.class),
        command("fabric", FabricCommand.class),
        command("test", LauncherCommand.TestCommand.class),
        command("classpath", LauncherCommand.ClasspathCommand.class),
        command("java", LauncherCommand.JavaCommand.class),
        command("dev", LauncherCommand.DevCommand.class),
        command("train-cache", TrainCacheCommand.class),
        command("completion", CompletionCommand.class),
        command("version", VersionCommand.class));

    /** What a line of the shell may begin with, besides what only the shell has. */
    private static final Set<String> SHELL_COMMANDS = Set.of("put", "get", "delete", "exists", "replace", "append",
        "increment", "scan", "load", "dump", "table", "status");

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
        ProcessStart.mark();
        final String first = args.length > 0 ? args[0] : "";
        if (ComputeNodeCommand.NAME.equals(first))
        {
            StartAhead.begin();
        }
        final ComputeNodeCommand plain = ComputeNodeCommand.plain(args, System.getenv());
        final CommandOutput out = CommandOutput.standard();
        final PrintWriter err = new PrintWriter(System.err, true);
        System.exit(null == plain ?
            execute(commandLine(System.getenv("VERBENA_DEBUG") != null, first).setErr(err), args, out) :
            out.end(run(plain, out, err), err));
    }

    /**
     * Executes a command line, and sees that what it prints is written.
     *
     * @param line of the command.
     * @param args what the user typed.
     * @param out  takes what it prints.
     * @return exit status.
     */
    static int execute(final CommandLine line, final String[] args, final CommandOutput out)
    {
        return out.end(line.setOut(out).execute(args), line.getErr());
    }

    /** Runs a command whose command line was understood without the library. */
    static int run(final ComputeNodeCommand command, final PrintWriter out, final PrintWriter err)
    {
        try
        {
            return command.run(out);
        }
        catch (final RuntimeException ex)
        {
            return onFailure(ex, err, false, "verbena: ", null);
        }
    }

    /** @return names of all options whose values may come from the environment or a file of settings. */
    private static Set<String> settings()
    {
        final Set<String> names = new TreeSet<>();
        // Without settings: the library asks for values while it builds commands, and a file is read for its names.
        collectSettings(commandLine(false, "", new CommandFactory(SettingsProvider::none)), names);
        return names;
    }

    /** Makes commands as the library does, but those parts that need to know all commands. */
    private record CommandFactory(Supplier<SettingsProvider> settings) implements CommandLine.IFactory
    {
        @Override
        public <K> K create(final Class<K> type) throws Exception
        {
            if (SettingsProvider.class == type)
            {
                return type.cast(settings.get());
            }
            if (ShellCommand.class == type)
            {
                return type.cast(new ShellCommand(VerbenaCommand::shellLine, System.getenv(), System.in));
            }
            if (MetaServerCommand.class == type)
            {
                return type.cast(new MetaServerCommand(ClusterDashboard::open, LeaderAutoscaler::open));
            }
            return CompletionCommand.class == type ?
                type.cast(new CompletionCommand(() -> commandLine(false))) : CommandLine.defaultFactory().create(type);
        }
    }

    private static void collectSettings(final CommandLine line, final Set<String> names)
    {
        if (line.getDefaultValueProvider() instanceof SettingsProvider)
        {
            line.getCommandSpec().options().forEach((option) -> names.add(SettingsProvider.name(option)));
        }
        line.getSubcommands().values().forEach((subcommand) -> collectSettings(subcommand, names));
    }

    /**
     * The whole command line, ready to execute; the tests run it in their own process.
     *
     * @param debug print stack traces as if {@code --stacktrace} were given.
     * @return a command line that answers each error with one line.
     */
    static CommandLine commandLine(final boolean debug)
    {
        return commandLine(debug, "");
    }

    /**
     * As {@link #commandLine(boolean)}, but with one command only, if the first word names it: to look all of them
     * through takes a good part of the time that a node needs to start.
     *
     * @param first word that was typed; may be anything.
     */
    static CommandLine commandLine(final boolean debug, final String first)
    {
        return commandLine(debug, first,
            new CommandFactory(() -> new SettingsProvider(System.getenv(), VerbenaCommand::settings)));
    }

    private static CommandLine commandLine(
        final boolean debug, final String first, final CommandLine.IFactory factory)
    {
        return commandLine(debug, first, factory, COMMANDS, "verbena: ");
    }

    /** One line of the shell. */
    static CommandLine shellLine(
        final String first, final Map<String, String> settings, final Function<Class<?>, Object> parts,
        final String place)
    {
        final CommandLine.IFactory usual =
            new CommandFactory(() -> new SettingsProvider(settings, VerbenaCommand::settings));
        final List<Map.Entry<String, Class<?>>> commands = new ArrayList<>(COMMANDS);
        commands.removeIf((command) -> !SHELL_COMMANDS.contains(command.getKey()));
        commands.addAll(ShellOwnCommand.COMMANDS);
        return commandLine(System.getenv("VERBENA_DEBUG") != null, first, new CommandLine.IFactory()
        {
            @Override
            public <K> K create(final Class<K> type) throws Exception
            {
                final Object part = parts.apply(type);
                return null == part ? usual.create(type) : type.cast(part);
            }
        }, commands, "verbena: " + place);
    }

    private static CommandLine commandLine(
        final boolean debug, final String first, final CommandLine.IFactory factory,
        final List<Map.Entry<String, Class<?>>> commands, final String prefix)
    {
        final VerbenaCommand root = new VerbenaCommand();
        final CommandLine line = new CommandLine(root, factory);
        final boolean isOne = commands.stream().anyMatch((command) -> command.getKey().equals(first));
        for (final Map.Entry<String, Class<?>> command : commands)
        {
            if (!isOne || command.getKey().equals(first))
            {
                line.addSubcommand(command.getKey(), command.getValue());
            }
        }
        return line
            .registerConverter(Path.class, VerbenaCommand::path)
            .registerConverter(int.class, UsageText::wholeInt)
            .registerConverter(Integer.class, UsageText::wholeInt)
            .registerConverter(long.class, UsageText::wholeLong)
            .registerConverter(Long.class, UsageText::wholeLong)
            .setCaseInsensitiveEnumValuesAllowed(true)
            // A key may begin with '@', and be the name of a file.
            .setExpandAtFiles(false)
            .setUsageHelpAutoWidth(true)
            .setParameterExceptionHandler((exception, args) -> onBadUsage(exception, prefix, args))
            .setExecutionExceptionHandler((exception, commandLine, parsed) ->
                onFailure(exception, commandLine.getErr(), debug || root.stackTrace, prefix,
                    origin(exception, commandLine, parsed.originalArgs().toArray(new String[0]))));
    }

    /** Names that are no UTF-8 all look alike by the time they come here: one file would be confused with another. */
    private static Path path(final String name)
    {
        if (name.indexOf('\uFFFD') >= 0)
        {
            throw new TypeConversionException(
                "'" + name + "' stands for a file name that is not UTF-8: rename the file");
        }
        return Path.of(name);
    }

    private static Map.Entry<String, Class<?>> command(final String name, final Class<?> type)
    {
        return Map.entry(name, type);
    }

    @Override
    public void run()
    {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    /** @return where the value of an option comes from that is not among the words of the command line; else null. */
    private static String origin(final ArgSpec argument, final CommandLine commandLine, final String... args)
    {
        return argument instanceof final OptionSpec option &&
            commandLine.getDefaultValueProvider() instanceof final SettingsProvider settings &&
            Arrays.stream(args).noneMatch((word) -> Arrays.stream(option.names()).anyMatch(word::startsWith)) ?
            settings.origin(option) : null;
    }

    /** As the command's own checks of ranges report it: with the name and the value of the option first. */
    private static String origin(final Exception failure, final CommandLine commandLine, final String... args)
    {
        if (!(failure instanceof final CommandFailedException failed) || ExitStatus.USAGE != failed.exitStatus())
        {
            return null;
        }
        return commandLine.getCommandSpec().options().stream()
            .filter((option) -> failed.getMessage().startsWith(option.longestName() + ' '))
            .map((option) -> origin(option, commandLine, args)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static int onBadUsage(
        final ParameterException exception, final String prefix, final String... args)
    {
        final CommandLine commandLine = exception.getCommandLine();
        final PrintWriter err = commandLine.getErr();
        if (exception.getCause() instanceof final CommandFailedException failed)
        {
            // Where settings come from; the library would repeat all words in its message, values too.
            return onFailure(failed, err, false, prefix, null);
        }
        final String origin = origin(exception.getArgSpec(), commandLine, args);
        if (null != origin)
        {
            err.println(prefix + oneLine(UsageText.of(exception)) + " (" + origin + ")");
            return ExitStatus.USAGE;
        }
        err.println(prefix + oneLine(UsageText.of(exception)) + " (see " +
            commandLine.getCommandSpec().qualifiedName() + " --help)");
        return ExitStatus.USAGE;
    }

    private static int onFailure(
        final Exception exception, final PrintWriter err, final boolean stackTrace, final String prefix,
        final String origin)
    {
        if (stackTrace)
        {
            exception.printStackTrace(err);
        }
        if (exception instanceof final CommandFailedException failed)
        {
            err.println(prefix + oneLine(failed.getMessage()) + (null == origin ? "" : " (" + origin + ")"));
            return failed.exitStatus();
        }
        if (isProcessEnding())
        {
            // What was open is being closed by the hooks of the process: its failure is expected.
            err.println(prefix + "interrupted");
            return ExitStatus.INTERRUPTED;
        }
        err.println(prefix + "internal error: " + oneLine(exception.toString()) +
            (stackTrace ? "" : " (run again with --stacktrace for more)"));
        return ExitStatus.INTERNAL;
    }

    /** @return whether the process is ending (Ctrl-C, SIGTERM): no hook can be taken back any more. */
    private static boolean isProcessEnding()
    {
        try
        {
            Runtime.getRuntime().removeShutdownHook(new Thread());
            return false;
        }
        catch (final IllegalStateException ex)
        {
            return true;
        }
    }

    private static String oneLine(final String message)
    {
        return String.valueOf(message).strip().replaceAll("\\s*\\R\\s*", " ");
    }
}
