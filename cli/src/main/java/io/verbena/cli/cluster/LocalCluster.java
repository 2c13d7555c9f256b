package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A cluster of processes on this host: started, changed and ended by one command at a time, which holds a lock. */
final class LocalCluster implements AutoCloseable
{
    private static final String META = "meta-server";
    private static final String MEMORY = "memory-";
    private static final String COMPUTE = "compute-";
    private static final long END_TIMEOUT_MS = 15_000;

    private final ClusterFolder folder;
    private final FileChannel lockFile;
    private final ProcessTable table;
    private final NodeLauncher launcher;

    private LocalCluster(final ClusterFolder folder, final FileChannel lockFile)
    {
        this.folder = folder;
        this.lockFile = lockFile;
        table = new ProcessTable(folder.processes());
        launcher = new NodeLauncher(table, folder.logs());
    }

    /** Opens the folder, and makes it when absent. */
    static LocalCluster open(final ClusterFolder folder)
    {
        try
        {
            Files.createDirectories(folder.path());
            final FileChannel channel = FileChannel.open(
                folder.path().resolve("up.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            final FileLock lock = tryLock(channel);
            if (null == lock)
            {
                channel.close();
                throw new CommandFailedException(ExitStatus.UNAVAILABLE,
                    "another command changes the cluster in " + folder.path() + " now: wait for it", null);
            }
            return new LocalCluster(folder, channel);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.CANNOT_CREATE,
                "folder of the cluster cannot be used: " + ex + "; give --data DIR that can be written", ex);
        }
    }

    private static FileLock tryLock(final FileChannel channel) throws IOException
    {
        try
        {
            return channel.tryLock();
        }
        catch (final OverlappingFileLockException ex)
        {
            return null;
        }
    }

    /** All processes that were started and not ended, dead ones too. */
    List<Entry> entries()
    {
        return table.entries();
    }

    List<Entry> live()
    {
        return table.entries().stream().filter(Entry::isLive).toList();
    }

    /**
     * Starts the cluster; when a process does not start, ends those that did. When it is up but for some processes,
     * starts those again.
     *
     * @param listen       where it is to be found.
     * @param memoryNodes  1 or more.
     * @param memoryMib    of each.
     * @param computeNodes 1 or more.
     * @param progress     hears what happened.
     */
    void up(
        final String listen, final int memoryNodes, final int memoryMib, final int computeNodes,
        final Consumer<String> progress)
    {
        if (!live().isEmpty())
        {
            restartDead(progress);
            return;
        }
        table.entries().forEach(table::forget); // died, or were killed, since
        try
        {
            final String fabric = fabricName();
            final List<String> arguments = new ArrayList<>(metaServer(listen, fabric));
            arguments.add("--fresh");
            final String ready = launcher.start(META, arguments);
            final int at = ready.indexOf("verbena://");
            folder.write(ready.substring(at, ready.indexOf(' ', at)), fabric);
            progress.accept(ready);
            for (int i = 1; i <= memoryNodes; i++)
            {
                progress.accept(launcher.start(MEMORY + i, node("memory-node", "--memory", "" + memoryMib)));
            }
            scale(computeNodes, progress);
        }
        catch (final RuntimeException ex)
        {
            down((line) -> {});
            throw ex;
        }
    }

    /** Starts again what died, where it was and on the data that it had; what lives finds it again by itself. */
    private void restartDead(final Consumer<String> progress)
    {
        final List<Entry> dead = table.entries().stream().filter((entry) -> !entry.isLive()).toList();
        if (dead.isEmpty())
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "a cluster is up already in " + folder.path() +
                ", " + live().size() + " processes: 'verbena status' shows it, 'verbena down' ends it", null);
        }
        for (final String prefix : List.of(META, MEMORY, COMPUTE))
        {
            for (final Entry entry : dead)
            {
                if (entry.name().startsWith(prefix))
                {
                    progress.accept(entry.name() + " was dead, started again: " + restart(entry, prefix));
                }
            }
        }
    }

    private String restart(final Entry entry, final String prefix)
    {
        return switch (prefix)
        {
            case META -> launcher.start(META, metaServer(folder.address(), folder.fabric()));
            case COMPUTE -> launcher.start(entry.name(), node("compute-node"));
            default -> throw new CommandFailedException(ExitStatus.UNAVAILABLE, entry.name() +
                " died, and its records with it: 'verbena down', then 'verbena up'", null);
        };
    }

    private List<String> metaServer(final String listen, final String fabric)
    {
        return List.of("meta-server", "--listen", listen, "--data", folder.path().toString(), "--token-file",
            folder.token().toString(), "--fabric", fabric);
    }

    /** Starts or ends compute nodes until there are so many. */
    void scale(final int computeNodes, final Consumer<String> progress)
    {
        table.entries().stream().filter((entry) -> !entry.isLive()).forEach(table::forget);
        final List<Entry> present =
            live().stream().filter((entry) -> entry.name().startsWith(COMPUTE)).toList();
        int next = 1;
        for (int count = present.size(); count < computeNodes; count++)
        {
            while (isTaken(COMPUTE + next))
            {
                next++;
            }
            progress.accept(launcher.start(COMPUTE + next, node("compute-node")));
        }
        for (int i = present.size() - 1; i >= computeNodes; i--)
        {
            end(present.get(i), progress);
        }
    }

    /** Ends what still runs, compute nodes first, and removes what dead processes left in shared memory. */
    void down(final Consumer<String> progress)
    {
        final List<Entry> entries = table.entries();
        for (final String prefix : List.of(COMPUTE, MEMORY, META))
        {
            entries.stream().filter((entry) -> entry.name().startsWith(prefix)).forEach((entry) ->
                end(entry, progress));
        }
        final String fabric = folder.fabric();
        if (null != fabric)
        {
            try
            {
                Fabrics.open(fabric).close();
            }
            catch (final RdmaException ex)
            {
                throw new CommandFailedException(ExitStatus.FAILED, "processes have ended, but shared memory of " +
                    fabric + " is left: " + ex.getMessage(), ex);
            }
        }
    }

    private void end(final Entry entry, final Consumer<String> progress)
    {
        final boolean wasLive = entry.isLive();
        final boolean isOrderly = table.end(entry, END_TIMEOUT_MS);
        progress.accept(entry.name() + (wasLive ? isOrderly ? " has ended" : " was killed, it did not end" :
            " was dead already"));
    }

    private boolean isTaken(final String name)
    {
        return table.entries().stream().anyMatch((entry) -> entry.name().equals(name));
    }

    private List<String> node(final String command, final String... more)
    {
        final List<String> arguments = new ArrayList<>(List.of(
            command, "--cluster", folder.address(), "--token-file", folder.token().toString()));
        arguments.addAll(List.of(more));
        return arguments;
    }

    private String fabricName()
    {
        return "soft:/dev/shm/verbena-" + System.getProperty("user.name") + '-' +
            Integer.toHexString(folder.path().toString().hashCode());
    }

    @Override
    public void close()
    {
        try
        {
            lockFile.close();
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERNAL, "lock cannot be released: " + ex, ex);
        }
    }
}
