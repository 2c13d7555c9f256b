package io.verbena.cli.bench;

import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.TableOptions;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** How long {@code verbena load} and {@code dump} take, as processes of their own, JVM start included. Used once. */
final class LoadBenchmark
{
    private static final String TABLE = "loaded";
    private static final double GOAL_SECONDS = 20;
    private static final int GOAL_RECORDS = 1_000_000;
    private static final int TIMEOUT_S = 300;
    private static final String VALUE = "v".repeat(100);

    private final Path folder;
    private final int records;
    private final NanoClock clock = SystemNanoClock.INSTANCE;

    /**
     * @param folder  of the cluster.
     * @param records to load; the goal is judged for a million or more.
     */
    LoadBenchmark(final Path folder, final int records)
    {
        this.folder = folder;
        this.records = records;
    }

    /** Memory that the cluster needs for it. */
    static int memoryMib(final int records)
    {
        return 64 + (int)(400L * records / GOAL_RECORDS);
    }

    Map<String, Object> run(final KvClient client)
    {
        final Path file = folder.resolve("records.jsonl");
        final Path copy = folder.resolve("copy.jsonl");
        try
        {
            write(file);
            client.createTable(TABLE, new TableOptions(records));
            final double loadSeconds = seconds("load", file);
            final double dumpSeconds = seconds("dump", copy);
            if (Files.size(file) != Files.size(copy))
            {
                throw new CommandFailedException(ExitStatus.FAILED, "dumped " + Files.size(copy) + " bytes, loaded " +
                    Files.size(file), null);
            }
            final Map<String, Object> row = new LinkedHashMap<>();
            row.put("records", records);
            row.put("file_bytes", Files.size(file));
            row.put("load_seconds", loadSeconds);
            row.put("dump_seconds", dumpSeconds);
            row.put("goal_seconds", GOAL_SECONDS);
            row.put("reached", records < GOAL_RECORDS ? null : loadSeconds < GOAL_SECONDS);
            return row;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "no file with records: " + ex, ex);
        }
    }

    private void write(final Path file) throws IOException
    {
        try (BufferedWriter out = Files.newBufferedWriter(file))
        {
            for (int i = 0; i < records; i++)
            {
                out.write(String.format("{\"key\":\"key-%012d\",\"value\":\"%s\"}%n", i, VALUE));
            }
        }
    }

    private double seconds(final String command, final Path file) throws IOException
    {
        final long startNs = clock.nanoTime();
        final Process process = new ProcessBuilder(NodeLauncher.commandLine(List.of(),
            List.of(command, file.toString(), "--table", TABLE, "--data", folder.toString(), "--timeout-ms", "30000")))
            .redirectErrorStream(true).redirectOutput(folder.resolve(command + ".log").toFile())
            .redirectInput(new File("/dev/null")).start();
        try
        {
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || 0 != process.exitValue())
            {
                throw new CommandFailedException(ExitStatus.FAILED, "verbena " + command + " failed: " +
                    Files.readString(folder.resolve(command + ".log")).strip(), null);
            }
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
        finally
        {
            process.destroyForcibly();
        }
        return (clock.nanoTime() - startNs) / (double)TimeUnit.SECONDS.toNanos(1);
    }
}
