package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.cli.console.WatchedProgress;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;

import org.agrona.concurrent.SystemEpochClock;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** {@code verbena checkpoint}. */
@Command(
    name = "checkpoint",
    description = "Make a checkpoint of every memory node of the cluster on this host now, while it is used.",
    footer = {"", "Each record is written as it was at some moment after the command began. Memory nodes also make " +
        "one by themselves, every minute and at 'verbena down'."},
    defaultValueProvider = SettingsProvider.class)
public final class CheckpointCommand implements Callable<Integer>
{
    private static final long POLL_MS = 20;
    private static final int LOOKS_PER_PROBE = 10;

    @Spec
    private CommandSpec spec;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder of the cluster. Default: ~/.verbena/cluster.")
    private Path data;

    @Option(names = "--timeout-s", paramLabel = "S", defaultValue = "600",
        description = "Longest wait. Default: ${DEFAULT-VALUE}.")
    private int timeoutS;

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--timeout-s", timeoutS, 1, Integer.MAX_VALUE);
        final PrintWriter out = spec.commandLine().getOut();
        final ClusterFolder folder = ClusterFolder.of(data);
        final ProcessTable table = new ProcessTable(folder.processes());
        final List<String> names = folder.memoryNodes();
        if (names.isEmpty())
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster in " + folder.path() + ": 'verbena up'", null);
        }
        final long beganMs = SystemEpochClock.INSTANCE.time();
        try
        {
            names.forEach((name) -> MemoryFolder.requestCheckpoint(folder.memoryNode(name)));
            for (final String name : names)
            {
                out.println(await(table, name, folder.memoryNode(name), beganMs));
            }
        }
        catch (final MemoryNodeException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, ex.getMessage(), ex);
        }
        return ExitStatus.OK;
    }

    private String await(final ProcessTable table, final String name, final Path path, final long beganMs)
        throws InterruptedException
    {
        try (WatchedProgress progress = WatchedProgress.begin(name, "records"))
        {
            return await(table, name, path, beganMs, progress);
        }
    }

    private String await(
        final ProcessTable table, final String name, final Path path, final long beganMs,
        final WatchedProgress progress) throws InterruptedException
    {
        int looks = 0;
        while (SystemEpochClock.INSTANCE.time() - beganMs < TimeUnit.SECONDS.toMillis(timeoutS))
        {
            final Properties report = MemoryFolder.lastCheckpoint(path);
            // First: where that of a group failed, the others of the memory node are complete.
            if (LocalCluster.number(report, "failed_ms") >= beganMs)
            {
                throw new CommandFailedException(
                    ExitStatus.CANNOT_CREATE, name + ": " + report.getProperty("failure"), null);
            }
            if (LocalCluster.number(report, "started_ms") >= beganMs && report.containsKey("finished_ms"))
            {
                return name + ": " + LocalCluster.records(report) + ", " +
                    report.getProperty("changed_records") + " changed, " + report.getProperty("written_bytes") +
                    " bytes written in " + (LocalCluster.number(report, "finished_ms") -
                    LocalCluster.number(report, "started_ms")) + " ms";
            }
            final Entry node = table.entries().stream().filter((entry) -> entry.name().equals(name) && entry.isLive())
                .findFirst().orElseThrow(() -> new CommandFailedException(
                    ExitStatus.UNAVAILABLE, name + " is dead: 'verbena up' starts it again", null));
            if (++looks % LOOKS_PER_PROBE == 0)
            {
                final Map<String, Object> figures = HealthProbe.figures(node);
                failIfItSaysSo(name, figures, beganMs);
                show(figures, progress);
            }
            Thread.sleep(POLL_MS);
        }
        throw new CommandFailedException(
            ExitStatus.UNAVAILABLE, name + " made no checkpoint within " + timeoutS + " s", null);
    }

    static void show(final Map<String, Object> figures, final WatchedProgress progress)
    {
        if (null != figures && figures.get("checkpoint_started_ms") instanceof final Long startedMs && startedMs > 0)
        {
            progress.update(((Number)figures.get("checkpoint_fraction")).doubleValue(),
                ((Number)figures.get("checkpoint_records_read")).longValue());
        }
    }

    /** Where the disk is full, the node cannot write down that it failed either. */
    private static void failIfItSaysSo(final String name, final Map<String, Object> figures, final long beganMs)
    {
        if (null != figures && figures.get("checkpoint_failed_ms") instanceof final Long failedMs &&
            failedMs >= beganMs)
        {
            throw new CommandFailedException(
                ExitStatus.CANNOT_CREATE, name + ": " + figures.get("checkpoint_failure"), null);
        }
    }
}
