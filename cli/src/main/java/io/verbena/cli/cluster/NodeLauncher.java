package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.WatchedProgress;
import io.verbena.cli.role.LaunchGate;
import io.verbena.cli.role.RoleProcess;
import io.verbena.client.KvClientOptions;
import io.verbena.protocol.bootstrap.OwnerOnly;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Starts this program again with another command, in the background, and waits until it says that it is ready. It does
 * nothing before it is in the table ({@link LaunchGate}). The new process has the flags and class path of this one, and
 * writes to a log file; the log of the one before is kept as NAME.log.1.
 */
public final class NodeLauncher
{
    /** Of the JVM of each node. */
    public static final List<String> NODE_FLAGS = List.of("-XX:+UseSerialGC", "-Xmx512m");
    /** Has a JVM record what it loads, for a cache that shortens starts. */
    public static final String RECORD_FLAG = "-XX:AOTMode=record";
    private static final String MAIN_CLASS = "io.verbena.cli.VerbenaCommand";
    private static final int READY_TIMEOUT_S = 60;
    private static final long POLL_MS = 20;
    private static final String HEALTH_PORT = "--health-port";
    private static final String ERROR = "verbena: ";
    /** In the log of a memory node whose checkpoint is restored. */
    private static final Pattern RESTORED = Pattern.compile("restoring: (\\d+) of (\\d+) records$");
    private static final Pattern HEALTH = Pattern.compile("health=http://localhost:(\\d+)/");

    private final ProcessTable table;
    private final Path logs;
    private List<String> jvmFlags = List.of();
    private String mainClass = MAIN_CLASS;
    private long readyTimeoutS = READY_TIMEOUT_S;
    private NodePlaces places = NodePlaces.HERE;
    /** Guarded by the table: a process is in it, or is never started. */
    private boolean startsNoMore;
    private BooleanSupplier isEncrypted = () -> false;

    NodeLauncher(final ProcessTable table, final Path logs)
    {
        this.table = table;
        this.logs = logs;
    }

    /** Further flags of the JVMs that are started from now on. */
    void jvmFlags(final List<String> flags)
    {
        jvmFlags = flags;
    }

    /** What runs in the JVMs that are started from now on, instead of the command line. */
    void mainClass(final String name)
    {
        mainClass = name;
    }

    /** How long a process that is started from now on may take, where the caller has no deadline for it. */
    void readyTimeoutS(final long seconds)
    {
        readyTimeoutS = seconds;
    }

    /** Whether clients have to encrypt, asked for each process. */
    void encrypted(final BooleanSupplier isOn)
    {
        isEncrypted = isOn;
    }

    /** Where processes run that are started from now on. */
    void places(final NodePlaces nodePlaces)
    {
        places = nodePlaces;
    }

    /** What is started after this fails; by any thread. */
    void startNoMore()
    {
        synchronized (table)
        {
            startsNoMore = true;
        }
    }

    /**
     * Starts a process, adds it to the table, and waits until it is ready.
     *
     * @param name      within the cluster.
     * @param arguments command and options.
     * @return the line that it is ready with.
     */
    String start(final String name, final List<String> arguments)
    {
        return start(name, arguments, readyTimeoutS);
    }

    /** As the other one, for a process that may take longer, and has a deadline of its own before this one. */
    String start(final String name, final List<String> arguments, final long timeoutS)
    {
        final Path log = logs.resolve(name + ".log");
        final String place = places.command().apply(name);
        try
        {
            OwnerOnly.createFolder(logs);
            if (Files.exists(log))
            {
                Files.move(log, logs.resolve(name + ".log.1"), StandardCopyOption.REPLACE_EXISTING);
            }
            final Process process;
            final long startMs;
            synchronized (table)
            {
                if (startsNoMore)
                {
                    throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", null);
                }
                process = start(place, arguments, log);
                startMs = ProcessTable.start(process.toHandle());
                table.add(new ProcessTable.Entry(name, process.pid(), startMs, 0, place));
                LaunchGate.open(process);
            }
            final String ready = awaitReady(name, process, log, timeoutS);
            final Matcher health = HEALTH.matcher(ready);
            table.add(new ProcessTable.Entry(name, process.pid(), startMs,
                health.find() ? Integer.parseInt(health.group(1)) : 0, place));
            return ready;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, name + " cannot be started: " + FileErrors.reason(ex), ex);
        }
    }

    private Process start(final String place, final List<String> arguments, final Path log) throws IOException
    {
        final List<String> all = new ArrayList<>(arguments);
        all.addAll(places.options());
        if (!all.contains(HEALTH_PORT))
        {
            // One that the user's environment or settings name is for one process, and here are many.
            all.addAll(List.of(HEALTH_PORT, "0"));
        }
        final List<String> command = new ArrayList<>(null == place ? List.of() : List.of(place));
        command.addAll(commandLine(all));
        final ProcessBuilder builder = new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
        builder.environment().remove("VERBENA_HEALTH_PORT");
        builder.environment().remove("VERBENA_RESP_PORT");
        if (isEncrypted.getAsBoolean())
        {
            // Nodes demand it of clients, and clients in the processes do it.
            builder.environment().put(KvClientOptions.ENCRYPT_VARIABLE, "true");
        }
        return builder.start();
    }

    private List<String> commandLine(final List<String> arguments)
    {
        final List<String> command = new ArrayList<>();
        if (Files.isExecutable(Path.of("/usr/bin/setsid")))
        {
            // Its own session: Ctrl-C at this terminal, and its end, are not for the cluster.
            command.add("/usr/bin/setsid");
        }
        final List<String> flags = new ArrayList<>(jvmFlags);
        flags.addAll(NODE_FLAGS);
        flags.add(LaunchGate.flag());
        command.addAll(commandLine(flags, mainClass, arguments));
        return command;
    }

    /** This program with another command, and with the flags and class path of this process. */
    public static List<String> commandLine(final List<String> moreFlags, final List<String> arguments)
    {
        return commandLine(moreFlags, MAIN_CLASS, arguments);
    }

    /** The same with another class whose {@code main} is called. */
    public static List<String> commandLine(
        final List<String> moreFlags, final String mainClass, final List<String> arguments)
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // A JVM that records for a cache takes none.
        final boolean isRecording = moreFlags.contains(RECORD_FLAG);
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter((argument) -> !argument.startsWith("-agentlib") && !argument.startsWith("-javaagent") &&
                !(isRecording && argument.startsWith("-XX:AOTCache=")))
            .forEach(command::add);
        command.addAll(moreFlags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
        command.addAll(arguments);
        return command;
    }

    /** Why it ended: what it said as a command, or else the last line of its log. */
    static String lastWords(final List<String> log)
    {
        return log.reversed().stream().filter((line) -> line.startsWith(ERROR)).findFirst()
            .map((line) -> line.substring(ERROR.length()))
            .orElse(log.isEmpty() ? "it said nothing" : log.getLast());
    }

    /** Shows how far the restore of a checkpoint is, by the last line that says so. */
    static void showRestored(final List<String> log, final WatchedProgress progress)
    {
        for (final String line : log.reversed())
        {
            final Matcher restored = RESTORED.matcher(line);
            if (restored.find())
            {
                final long done = Long.parseLong(restored.group(1));
                progress.update((double)done / Math.max(1, Long.parseLong(restored.group(2))), done);
                return;
            }
        }
    }

    private static String awaitReady(
        final String name, final Process process, final Path log, final long timeoutS) throws IOException
    {
        try (WatchedProgress progress = WatchedProgress.begin(name, "records"))
        {
            for (long waitedMs = 0; waitedMs < TimeUnit.SECONDS.toMillis(timeoutS); waitedMs += POLL_MS)
            {
                final List<String> lines = Files.readAllLines(log);
                for (final String line : lines)
                {
                    if (line.startsWith(RoleProcess.READY))
                    {
                        return line;
                    }
                }
                showRestored(lines, progress);
                try
                {
                    if (process.waitFor(POLL_MS, TimeUnit.MILLISECONDS))
                    {
                        throw new CommandFailedException(ExitStatus.UNAVAILABLE, name + " ended at once with status " +
                            process.exitValue() + ": " + lastWords(Files.readAllLines(log)) + " (log: " + log + ")",
                            null);
                    }
                }
                catch (final InterruptedException ex)
                {
                    throw new CommandFailedException(
                        ExitStatus.INTERRUPTED, "interrupted while " + name + " starts", ex);
                }
            }
        }
        throw new CommandFailedException(ExitStatus.UNAVAILABLE,
            name + " is not ready after " + timeoutS + " s (log: " + log + ")", null);
    }
}
