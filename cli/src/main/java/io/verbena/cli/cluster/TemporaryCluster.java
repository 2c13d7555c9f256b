package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A temporary folder for clusters, one after the other, that are ended without checkpoints, and removed with it: when
 * the run ends, or at SIGTERM or Ctrl-C, also while one is only being started. Its monitor
 * is held by who begins or ends something, so that it is not begun behind the back of the end.
 */
public final class TemporaryCluster implements AutoCloseable
{
    private static final long CHILD_END_MS = 2_000;
    private static final long POLL_MS = 20;

    private final Thread hook = new Thread(this::onProcessEnd, "verbena-interrupted");
    private final Path path;
    private volatile boolean isEnding;
    private LocalCluster cluster;

    private TemporaryCluster(final Path path)
    {
        this.path = path;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Makes the folder. */
    public static TemporaryCluster create(final String prefix)
    {
        try
        {
            return new TemporaryCluster(Files.createTempDirectory(prefix));
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE, "no folder for the cluster: " + ex, ex);
        }
    }

    public ClusterFolder folder()
    {
        return ClusterFolder.of(path);
    }

    /** The next cluster, not up yet; the one before was ended. */
    public synchronized LocalCluster open()
    {
        throwIfEnding(null);
        cluster = LocalCluster.open(folder());
        return cluster;
    }

    /** Ends the cluster, unless the end of the process does. */
    public synchronized void end()
    {
        if (!isEnding && null != cluster)
        {
            try (LocalCluster ended = cluster)
            {
                cluster = null;
                ended.down((line) -> {});
            }
        }
    }

    /**
     * Copies the logs of all processes that were started here to a folder that stays, for who wants to know why a run
     * failed.
     *
     * @return the failure, which names that folder where it could be made.
     */
    public CommandFailedException withLogs(final RuntimeException ex)
    {
        String where;
        try (Stream<Path> logs = Files.list(folder().logs()))
        {
            final Path kept = Files.createTempDirectory(path.getFileName() + "-logs-");
            for (final Path log : logs.toList())
            {
                Files.copy(log, kept.resolve(log.getFileName()));
            }
            where = "; logs of its processes: " + kept;
        }
        catch (final IOException none)
        {
            where = "; its logs could not be copied: " + FileErrors.reason(none);
        }
        return new CommandFailedException(ExitStatus.UNAVAILABLE, ex.getMessage() + where, ex);
    }

    /** When the process is ending, failures are its consequence, and not reported. */
    public void throwIfEnding(final RuntimeException ex)
    {
        if (isEnding)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    @Override
    public synchronized void close()
    {
        if (!isEnding)
        {
            try
            {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
            catch (final IllegalStateException ex)
            {
                return; // the process began to end between the two lines above; the hook does it
            }
            end();
            ProcessDemoCluster.delete(path);
        }
    }

    private void onProcessEnd()
    {
        isEnding = true;
        synchronized (this)
        {
            try (LocalCluster ended = cluster)
            {
                if (null != ended)
                {
                    ended.startNoMore();
                    ended.down((line) -> {});
                }
            }
            finally
            {
                endChildren();
                deleteFolder();
            }
        }
    }

    /** What else this process started. */
    private static void endChildren()
    {
        final List<ProcessHandle> children = ProcessHandle.current().children().toList();
        children.forEach(ProcessHandle::destroy);
        for (long waitedMs = 0; waitedMs < CHILD_END_MS && isAnyAlive(children); waitedMs += POLL_MS)
        {
            try
            {
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
            }
            catch (final InterruptedException ex)
            {
                Thread.currentThread().interrupt();
                break;
            }
        }
        children.forEach(ProcessHandle::destroyForcibly);
    }

    private static boolean isAnyAlive(final List<ProcessHandle> processes)
    {
        return processes.stream().anyMatch(ProcessHandle::isAlive);
    }

    /** The thread of the run goes on meanwhile, and may write one more file. */
    private void deleteFolder()
    {
        try
        {
            ProcessDemoCluster.delete(path);
        }
        catch (final UncheckedIOException ex)
        {
            ProcessDemoCluster.delete(path);
        }
    }
}
