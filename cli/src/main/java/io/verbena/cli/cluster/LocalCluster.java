package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.role.ComputeNodeCommand;
import io.verbena.memory.MemoryFolder;
import io.verbena.memory.MemoryNodeException;
import io.verbena.memory.OfflineCheckpoint;
import io.verbena.memory.checkpoint.CheckpointException;
import io.verbena.protocol.bootstrap.NetworkFabric;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemEpochClock;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/** A cluster of processes on this host: started, changed and ended by one command at a time, which holds a lock. */
public final class LocalCluster implements AutoCloseable
{
    private static final String SOFT = "soft:";
    private static final String META = MetaServers.NAME;
    private static final String MEMORY = "memory-";
    private static final String COMPUTE = "compute-";
    private static final String SPARE = "spare-";
    private static final String SPARE_FIGURE = "spare";
    /** A memory node that finds much memory again ends by itself when that takes too long. */
    private static final long MEMORY_READY_TIMEOUT_S = 4 * 3600;
    /** What {@code up} listens at without the option. */
    public static final String ANY_PORT = MetaServers.ANY_PORT;
    private static final long END_TIMEOUT_MS = 25_000;

    private final ClusterFolder folder;
    private final FileChannel lockFile;
    private final ProcessTable table;
    private final NodeLauncher launcher;
    private final MetaServers metaServers;
    private List<String> computeOptions = List.of();
    private IntFunction<List<String>> optionsByNumber = (number) -> List.of();
    private List<String> memoryOptions = List.of();
    private final Map<String, String> failureDomains = new HashMap<>();
    private boolean waitsForCheckpoints = true;
    private long memoryReadyTimeoutS = MEMORY_READY_TIMEOUT_S;
    private volatile boolean startsNoMore;
    private NodePlaces places = NodePlaces.HERE;

    private LocalCluster(final ClusterFolder folder, final FileChannel lockFile)
    {
        this.folder = folder;
        this.lockFile = lockFile;
        table = new ProcessTable(folder.processes());
        launcher = new NodeLauncher(table, folder.logs());
        launcher.encrypted(folder::isEncrypted);
        metaServers = new MetaServers(folder, launcher);
    }

    /** Opens the folder of a cluster that is there, up or not. */
    public static LocalCluster openExisting(final ClusterFolder folder)
    {
        if (!Files.isDirectory(folder.path()))
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "no cluster in " + folder.path() + ": 'verbena up'", null);
        }
        return open(folder);
    }

    /** Opens the folder, and makes it when absent. */
    public static LocalCluster open(final ClusterFolder folder)
    {
        folder.refuseForeign();
        try
        {
            makeFolder(folder.path());
            final FileChannel channel = FileChannel.open(
                folder.lock(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
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
                "folder of the cluster " + folder.path() + " cannot be used (" +
                FileErrors.reason(ex) + "): give --data DIR that can be written", ex);
        }
    }

    private static void makeFolder(final Path path) throws IOException
    {
        if (!Files.isDirectory(path))
        {
            OwnerOnly.createFolder(path);
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
    public List<Entry> entries()
    {
        return table.entries();
    }

    /** The process of that name, dead or not. */
    public Entry entry(final String name)
    {
        return entries().stream().filter((entry) -> entry.name().equals(name)).findFirst().orElseThrow(() ->
            new CommandFailedException(ExitStatus.FAILED, "there is no process " + name, null));
    }

    /** Further options of compute nodes that are started from now on, by their numbers: 1 for compute-1. */
    public void computeOptionsByNumber(final IntFunction<List<String>> options)
    {
        optionsByNumber = options;
    }

    /** Further options of compute nodes that are started from now on. */
    public void computeOptions(final List<String> options)
    {
        computeOptions = options;
    }

    /** Further options of memory nodes that are started from now on. */
    public void memoryOptions(final List<String> options)
    {
        memoryOptions = options;
    }

    /** Labels of memory-1, memory-2 and so on when the cluster is started; of others as they were. */
    public void failureDomains(final List<String> labels)
    {
        for (int i = 0; i < labels.size(); i++)
        {
            failureDomains.put(MEMORY + (i + 1), labels.get(i));
        }
    }

    /** Further options of meta servers that are started from now on. */
    public void metaOptions(final List<String> options)
    {
        metaServers.options(options);
    }

    /** How many meta servers there are to be; null: as many as there were, or 1. */
    public void metaServers(final Integer count)
    {
        metaServers.count(count);
    }

    /** Where processes run that are started from now on. */
    public void places(final NodePlaces nodePlaces)
    {
        places = nodePlaces;
        launcher.places(nodePlaces);
    }

    /** Further flags of the JVMs that are started from now on. */
    public void jvmFlags(final List<String> flags)
    {
        launcher.jvmFlags(flags);
    }

    /** Another main class of nodes that are started from now on; it gets the arguments of the command line. */
    public void mainClass(final String name)
    {
        launcher.mainClass(name);
    }

    /** How long each process that is started from now on may take until it is ready. */
    public void readyTimeoutS(final long seconds)
    {
        launcher.readyTimeoutS(seconds);
        memoryReadyTimeoutS = seconds;
    }

    /** What is started after this fails, and ends nothing; the caller, of another thread, does. */
    void startNoMore()
    {
        launcher.startNoMore();
        startsNoMore = true;
    }

    public List<Entry> live()
    {
        return table.entries().stream().filter(Entry::isLive).toList();
    }

    /**
     * Starts the cluster; when a process does not start, ends those that did. When it is up but for some processes,
     * starts those again. When all are dead, the memory of its memory nodes is found again.
     *
     * @param listen       where it is to be found.
     * @param memoryNodes  1 or more.
     * @param memoryMib    of each; null: as it was, or the node's default.
     * @param computeNodes 0 or more; null: as many as died with the whole cluster, or 1.
     * @param progress     hears what happened.
     */
    public void up(
        final String listen, final int memoryNodes, final Integer memoryMib, final Integer computeNodes,
        final Consumer<String> progress)
    {
        if (!live().isEmpty())
        {
            restartDead(progress);
            return;
        }
        final int dead = (int)table.entries().stream().filter((entry) -> entry.name().startsWith(COMPUTE)).count();
        table.entries().forEach(table::forget); // died, or were killed, since
        if (folder.isDiscarding())
        {
            discard();
            progress.accept("removed what 'verbena down --discard' had begun to remove");
        }
        final List<String> earlier = folder.memoryNodes();
        try
        {
            metaServers.start(listen, fabricName(), !earlier.isEmpty(), progress);
            for (final String name : earlier)
            {
                progress.accept(name + ' ' + startMemoryNode(name, memoryMib));
            }
            for (int i = 1; i <= memoryNodes; i++)
            {
                if (!earlier.contains(MEMORY + i))
                {
                    progress.accept(MEMORY + i + ' ' + startMemoryNode(MEMORY + i, memoryMib));
                }
            }
            scale(null == computeNodes ? Math.max(1, dead) : computeNodes, progress);
        }
        catch (final RuntimeException ex)
        {
            if (startsNoMore)
            {
                throw ex;
            }
            end((line) -> {});
            if (earlier.isEmpty())
            {
                discard();
                folder.encryptNoMore();
            }
            throw ex;
        }
    }

    private String startMemoryNode(final String name, final Integer memoryMib)
    {
        final List<String> arguments =
            new ArrayList<>(node("memory-node", "--data", folder.memoryNode(name).toString()));
        arguments.addAll(memoryOptions);
        if (failureDomains.containsKey(name))
        {
            arguments.addAll(List.of("--failure-domain", failureDomains.get(name)));
        }
        if (null != memoryMib)
        {
            arguments.addAll(List.of("--memory", memoryMib.toString()));
        }
        return launcher.start(name, arguments, memoryReadyTimeoutS);
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
        for (final String prefix : List.of(META, MEMORY, COMPUTE, SPARE))
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
            case META -> metaServers.restart(entry.name());
            case MEMORY -> startMemoryNode(entry.name(), null);
            default -> launcher.start(entry.name(), computeNode(entry.name()));
        };
    }

    /** Starts or ends compute nodes until there are so many; spares do not count. */
    public void scale(final int computeNodes, final Consumer<String> progress)
    {
        promoteSpares((entry) -> HealthProbe.figures(entry) instanceof final Map<?, ?> figures &&
            Boolean.FALSE.equals(figures.get(SPARE_FIGURE)));
        scale(COMPUTE, computeNodes, progress);
    }

    /** Starts or ends spares until there are so many. */
    public void scaleSpares(final int spares, final Consumer<String> progress)
    {
        scale(SPARE, spares, progress);
    }

    /** Spares that were activated are called compute nodes from now on. */
    public void promoteSpares(final Predicate<Entry> isActivated)
    {
        live().stream().filter((entry) -> entry.name().startsWith(SPARE) && 0 != entry.healthPort())
            .filter(isActivated).forEach((entry) -> table.rename(entry, freeName(COMPUTE)));
    }

    private void scale(final String prefix, final int count, final Consumer<String> progress)
    {
        table.entries().stream().filter((entry) -> entry.name().startsWith(prefix) && !entry.isLive())
            .forEach(table::forget);
        endUnready(prefix, progress);
        final List<Entry> present = live().stream().filter((entry) -> entry.name().startsWith(prefix)).toList();
        for (int i = present.size(); i < count; i++)
        {
            final String name = freeName(prefix);
            progress.accept(name + ' ' + launcher.start(name, computeNode(name)));
        }
        for (int i = present.size() - 1; i >= count; i--)
        {
            end(present.get(i), progress);
        }
    }

    private String freeName(final String prefix)
    {
        int next = 1;
        while (isTaken(prefix + next))
        {
            next++;
        }
        return prefix + next;
    }

    /** Ends compute nodes that were started and never served: this command has the lock, so that nobody awaits them. */
    public void endUnready(final Consumer<String> progress)
    {
        List.of(COMPUTE, SPARE).forEach((prefix) -> endUnready(prefix, progress));
    }

    private void endUnready(final String prefix, final Consumer<String> progress)
    {
        live().stream().filter((entry) -> entry.name().startsWith(prefix) && 0 == entry.healthPort())
            .forEach((entry) -> end(entry, progress));
    }

    /** Ends what still runs, and removes all records; waits for no checkpoint of them. */
    public void down(final Consumer<String> progress)
    {
        waitsForCheckpoints = false;
        end(progress);
        discard();
        folder.encryptNoMore();
    }

    /**
     * Ends what still runs, and frees memory whose records are in a checkpoint made since.
     *
     * @return false when some could not be made; that memory stays.
     */
    public boolean downWithCheckpoint(final Consumer<String> progress)
    {
        end(SPARE, progress);
        end(COMPUTE, progress);
        final long sinceMs = SystemEpochClock.INSTANCE.time();
        end(progress);
        final String name = folder.fabric();
        if (folder.isDiscarding())
        {
            discard();
            progress.accept("removed what 'verbena down --discard' had begun to remove");
            return true;
        }
        if (null == name)
        {
            return true;
        }
        boolean areAllKept = true;
        try (Fabric fabric = Fabrics.open(name))
        {
            for (final String memoryNode : folder.memoryNodes())
            {
                areAllKept &= keep(fabric, memoryNode, sinceMs, progress);
            }
        }
        return areAllKept;
    }

    private boolean keep(
        final Fabric fabric, final String memoryNode, final long sinceMs, final Consumer<String> progress)
    {
        final Path path = folder.memoryNode(memoryNode);
        try (MemoryFolder node = MemoryFolder.open(path, 0, 0))
        {
            final boolean isFresh = number(MemoryFolder.lastCheckpoint(path), "started_ms") >= sinceMs;
            if (isFresh || OfflineCheckpoint.make(fabric, node))
            {
                progress.accept(memoryNode + ": " +
                    records(MemoryFolder.lastCheckpoint(path)) + " in its checkpoint");
            }
            if (OfflineCheckpoint.hasCopies(fabric, node))
            {
                progress.accept(memoryNode + ": its memory stays in shared memory, where its copies of tables are");
            }
            else
            {
                fabric.discardNamed(MemoryFolder.memoryName(path));
            }
            return true;
        }
        catch (final CheckpointException | MemoryNodeException | RdmaException ex)
        {
            progress.accept(memoryNode + ": its records stay in shared memory, because there is no checkpoint of " +
                "them: " + ex.getMessage());
            return false;
        }
    }

    /** How many records there are in a checkpoint, and which are not, for people. */
    public static String records(final Properties report)
    {
        final String count = report.getProperty("records", "no");
        final String leftOut = report.getProperty("groups_left_out", "");
        return count + ("1".equals(count) ? " record" : " records") +
            (leftOut.isEmpty() ? "" : " (without tables of group " + leftOut + ')');
    }

    public static long number(final Properties report, final String name)
    {
        return Long.parseLong(report.getProperty(name, "0"));
    }

    /** Ends what still runs, compute nodes first. */
    private void end(final Consumer<String> progress)
    {
        List.of(SPARE, COMPUTE, MEMORY, META).forEach((prefix) -> end(prefix, progress));
    }

    private void end(final String prefix, final Consumer<String> progress)
    {
        table.entries().stream().filter((entry) -> entry.name().startsWith(prefix)).forEach((entry) ->
            end(entry, progress));
    }

    /** Frees the memory of memory nodes, and what dead processes left in shared memory; nothing runs any more. */
    private void discard()
    {
        final String name = folder.fabric();
        if (null == name)
        {
            return;
        }
        // First: an 'up' after a kill in the middle must not restore a part of them.
        folder.beginDiscard();
        try (Fabric fabric = Fabrics.open(name))
        {
            for (final String memoryNode : folder.memoryNodes())
            {
                fabric.discardNamed(MemoryFolder.memoryName(folder.memoryNode(memoryNode)));
                folder.removeMemoryNode(memoryNode);
            }
            folder.endDiscard();
        }
        catch (final RdmaException ex)
        {
            throw new CommandFailedException(ExitStatus.FAILED, "processes have ended, but shared memory of " +
                name + " is left: " + ex.getMessage(), ex);
        }
    }

    private void end(final Entry entry, final Consumer<String> progress)
    {
        final boolean wasLive = entry.isLive();
        final boolean isOrderly = table.end(entry, END_TIMEOUT_MS + checkpointMs(entry));
        progress.accept(entry.name() + (wasLive ? isOrderly ? " has ended" : " was killed, it did not end" :
            " was dead already"));
    }

    private long checkpointMs(final Entry entry)
    {
        return waitsForCheckpoints ?
            TimeUnit.NANOSECONDS.toMillis(MemoryFolder.walkTimeoutNs(folder.memoryLengthBytes(entry.name()))) : 0;
    }

    private boolean isTaken(final String name)
    {
        return table.entries().stream().anyMatch((entry) -> entry.name().equals(name));
    }

    private List<String> computeNode(final String name)
    {
        final List<String> options = new ArrayList<>(computeOptions);
        options.addAll(optionsByNumber.apply(Integer.parseInt(name.substring(name.indexOf('-') + 1))));
        if (name.startsWith(SPARE))
        {
            options.add(ComputeNodeCommand.SPARE);
        }
        return node(ComputeNodeCommand.NAME, options.toArray(String[]::new));
    }

    private List<String> node(final String command, final String... more)
    {
        return nodeArguments(command, folder.address(), folder.token(), more);
    }

    /** The command line of a role's process. */
    static List<String> nodeArguments(
        final String command, final String address, final Path token, final String... more)
    {
        final List<String> arguments = new ArrayList<>(List.of(
            command, "--cluster", address, "--token-file", token.toString()));
        arguments.addAll(List.of(more));
        return arguments;
    }

    /**
     * The fabric of the cluster that was up last, as long as anything of it is there, whatever this folder was called
     * then: memory, or what killed processes left, which goes with the next orderly end. Else one that nobody else
     * has: by the folder's name, an older copy of it, or one made there since, would be met again.
     */
    private String fabricName()
    {
        if (null != places.fabric())
        {
            return places.fabric();
        }
        final String last = folder.fabric();
        if (null != last && (!last.startsWith(SOFT) || NetworkFabric.isNetwork(last)))
        {
            return last;
        }
        if (null != last && Files.isDirectory(Path.of(last.substring(SOFT.length()))))
        {
            return last;
        }
        return SOFT + "/dev/shm/verbena-" + System.getProperty("user.name") + '-' +
            HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
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
