package io.verbena.load.bench;

import io.verbena.load.LoadException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@link ChronicleMapMain} in a process of its own. Its libraries are on the class path of that process only: the
 * build writes it beside this module's classes. Its analytics are left out of that class path, and turned off as well.
 */
final class ChronicleMapProcess
{
    private static final String CLASS_PATH_FILE = "peer-classpath";
    private static final long TIMEOUT_SECONDS = 300;
    private static final List<String> FLAGS = List.of(
        "-Dchronicle.analytics.disable=true",
        "-Dchronicle.announcer.disable=true",
        "--sun-misc-unsafe-memory-access=allow",
        "--enable-native-access=ALL-UNNAMED",
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
        "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
        "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
        "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
        "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/java.util=ALL-UNNAMED",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");

    /**
     * What the process measured.
     *
     * @param dependentGetNs nanoseconds of a GET whose key the one before decides, least of the rounds.
     * @param getNs          nanoseconds of a GET where none waits for another, least of the rounds.
     * @param updateNs       nanoseconds of an update, least of the rounds.
     * @param openSockets    that it had when it ended; 0, unless it tried to reach somebody.
     */
    record Figures(double dependentGetNs, double getNs, double updateNs, int openSockets)
    {
    }

    private ChronicleMapProcess()
    {
    }

    /**
     * Measures.
     *
     * @return the figures.
     * @throws LoadException with what the process said, when it did not end well.
     */
    static Figures run(final int records, final int operations, final int rounds) throws IOException
    {
        final Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "verbena-bench-");
        final Path file = directory.resolve("chronicle-map");
        final Path output = directory.resolve("output");
        try
        {
            final Process process = new ProcessBuilder(command(file, records, operations, rounds))
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
            final boolean isOver = awaitEnd(process);
            return figures(Files.readAllLines(output), isOver && process.exitValue() == 0);
        }
        finally
        {
            Files.deleteIfExists(file);
            Files.deleteIfExists(output);
            Files.deleteIfExists(directory);
        }
    }

    private static boolean awaitEnd(final Process process)
    {
        try
        {
            return process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            return false;
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    private static List<String> command(
        final Path file, final int records, final int operations, final int rounds) throws IOException
    {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        final Path classes = classes();
        final Path classPath = classes.resolveSibling(CLASS_PATH_FILE);
        if (!Files.isReadable(classPath))
        {
            throw new LoadException(LoadException.Reason.UNAVAILABLE,
                "no class path for Chronicle Map at " + classPath + ": build load-tests with Maven");
        }
        command.addAll(List.of("-cp", classes + ":" + Files.readString(classPath).strip(),
            ChronicleMapMain.class.getName(), file.toString(), Integer.toString(records),
            Integer.toString(operations), Integer.toString(rounds)));
        return command;
    }

    private static Path classes()
    {
        try
        {
            return Path.of(ChronicleMapProcess.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        }
        catch (final URISyntaxException ex)
        {
            throw new IllegalStateException("a class path entry has no path", ex);
        }
    }

    private static Figures figures(final List<String> output, final boolean isWell)
    {
        for (final String line : output)
        {
            if (isWell && line.startsWith(ChronicleMapMain.ANSWER))
            {
                final String[] numbers = line.substring(ChronicleMapMain.ANSWER.length()).split(" ");
                return new Figures(Double.parseDouble(numbers[0]), Double.parseDouble(numbers[1]),
                    Double.parseDouble(numbers[2]), Integer.parseInt(numbers[3]));
            }
        }
        throw new LoadException(
            LoadException.Reason.FAILED, "Chronicle Map was not measured: " + String.join(" | ", output));
    }
}
