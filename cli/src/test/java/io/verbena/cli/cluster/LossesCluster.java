package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.ExitStatus;
import io.verbena.memory.MemoryFolder;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Fabric;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A cluster of processes that are killed, stopped and started again one by one, with memory or without. Processes are
 * called as {@code up} calls them, so that the commands find them. Used by one thread, but {@link #start} and
 * {@link #group}, which any thread may call.
 */
final class LossesCluster implements AutoCloseable
{
    static final String META = MetaServers.NAME;
    static final String MEMORY = "memory-";
    static final String COMPUTE = "compute-";
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(Integer.getInteger("verbena.losses.step", 120));
    private static final long START_S = 120;
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int LOG_LINES = 80;
    private static final String MEMORY_MIB = "64";

    /**
     * What cluster a run has.
     *
     * @param metaServers      1 or 3.
     * @param memoryNodes      no fewer than copies.
     * @param computeNodes     1 or more.
     * @param copies           of the table, 2 or 3.
     * @param fillAfterSeconds 0: nobody comes in by itself.
     * @param fillMibPerSecond at most.
     */
    record Shape(
        int metaServers, int memoryNodes, int computeNodes, int copies, int fillAfterSeconds, int fillMibPerSecond)
    {
    }

    /**
     * The group of the table, as its meta server says.
     *
     * @param members  by their ids.
     * @param entering id of who comes in; null: nobody.
     */
    record Group(long view, String state, List<Integer> members, List<Integer> lost, Integer entering)
    {
        boolean isActive()
        {
            return "active".equals(state) || isFilling();
        }

        boolean isFilling()
        {
            return "filling".equals(state);
        }
    }

    private final Shape shape;
    private final ClusterFolder folder;
    private final ProcessTable processes;
    private final NodeLauncher launcher;
    private final MetaServers servers;
    private final Map<String, Integer> nodeIds = new ConcurrentHashMap<>();
    private final Object context;
    private boolean isSound;

    /**
     * @param directory of the cluster.
     * @param context   what is done to it, for messages.
     */
    LossesCluster(final Path directory, final Shape shape, final Object context)
    {
        this.shape = shape;
        this.context = context;
        folder = ClusterFolder.of(directory);
        processes = new ProcessTable(folder.processes());
        launcher = new NodeLauncher(processes, folder.logs());
        launcher.readyTimeoutS(START_S);
        servers = new MetaServers(folder, launcher);
        servers.count(shape.metaServers);
        servers.options(List.of("--lease-seconds", "3", "--fill-after-seconds", "" + shape.fillAfterSeconds));
    }

    ClusterFolder folder()
    {
        return folder;
    }

    /** Starts all processes; with {@code name} in that of a fabric which nobody else has. */
    void startAll(final String name) throws IOException
    {
        OwnerOnly.createFolder(folder.path());
        servers.start(MetaServers.ANY_PORT, "soft:/dev/shm/verbena-losses-" + ProcessHandle.current().pid() + '-' +
            name, false, (_) -> {});
        start(names(MEMORY, shape.memoryNodes));
        start(names(COMPUTE, shape.computeNodes));
    }

    private static List<String> names(final String prefix, final int count)
    {
        final List<String> names = new ArrayList<>();
        for (int i = 1; i <= count; i++)
        {
            names.add(prefix + i);
        }
        return names;
    }

    /** All processes of a kind, those that have ended, too. */
    List<Entry> all(final String prefix)
    {
        return processes.entries().stream().filter((entry) -> entry.name().startsWith(prefix)).toList();
    }

    Entry entry(final String name)
    {
        return processes.entries().stream().filter((entry) -> entry.name().equals(name)).findFirst().orElseThrow();
    }

    /** Id of a memory node that runs, or ran last under that name; it stands in the way of none that is stopped. */
    int nodeId(final String memoryNode)
    {
        return nodeIds.get(memoryNode);
    }

    /** Starts processes that have ended, all at the same time; meta servers first, which others cannot do without. */
    void start(final List<String> names)
    {
        names.stream().filter((name) -> name.startsWith(META)).forEach(servers::restart);
        final Executor executor = Executors.newVirtualThreadPerTaskExecutor();
        names.stream().filter((name) -> !name.startsWith(META))
            .map((name) -> CompletableFuture.runAsync(() -> startNode(name), executor)).toList()
            .forEach(CompletableFuture::join);
    }

    private void startNode(final String name)
    {
        final boolean isMemory = name.startsWith(MEMORY);
        launcher.start(name, isMemory ?
            LocalCluster.nodeArguments("memory-node", folder.address(), folder.token(), "--data",
                folder.memoryNode(name).toString(), "--memory", MEMORY_MIB, "--checkpoint-seconds", "2") :
            LocalCluster.nodeArguments("compute-node", folder.address(), folder.token(), "--fill-mib-per-second",
                "" + shape.fillMibPerSecond));
        if (isMemory)
        {
            await(name + " has an id", () ->
            {
                final Map<String, Object> figures = HealthProbe.figures(entry(name));
                final boolean hasId = null != figures && figures.get("node_id") instanceof Number;
                if (hasId)
                {
                    nodeIds.put(name, ((Number)figures.get("node_id")).intValue());
                }
                return hasId || !entry(name).isLive();
            });
        }
    }

    /** Starts all that have ended. */
    void startDead()
    {
        start(processes.entries().stream().filter((entry) -> !entry.isLive()).map(Entry::name).toList());
    }

    /** Sends a signal to a process, if it still runs. */
    void signal(final String name, final String signal)
    {
        entry(name).process().ifPresent((process) ->
        {
            try
            {
                new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
            }
            catch (final IOException | InterruptedException ex)
            {
                throw new AssertionError(ex);
            }
        });
    }

    /** Waits for the end of a process that was killed. */
    void awaitEnd(final String name)
    {
        entry(name).process().ifPresent(
            (process) -> process.onExit().orTimeout(STEP_NS, TimeUnit.NANOSECONDS).join());
    }

    /**
     * Frees the memory of a memory node that has ended; with its folder it comes back as another one, and so it does
     * when it has made no checkpoint yet, without which its folder is refused.
     */
    void loseMemory(final String name, final boolean withFolder)
    {
        assertThat(entry(name).isLive()).isFalse();
        try (Fabric fabric = Fabrics.open(folder.fabric()))
        {
            fabric.discardNamed(MemoryFolder.memoryName(folder.memoryNode(name)));
        }
        if (withFolder || !MemoryFolder.lastCheckpoint(folder.memoryNode(name)).containsKey("finished_ms"))
        {
            folder.removeMemoryNode(name);
            final String id = Integer.toString(nodeId(name));
            await(name + " is forgotten", () -> ExitStatus.OK == command("node", "forget", id, "--yes").status());
        }
    }

    CommandLines.Result command(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder.path().toString()));
        return CommandLines.run(all);
    }

    /** Place of the meta server that leads; -1: none answers that it does. */
    int leader()
    {
        final List<Entry> all = all(META);
        for (int i = 0; i < all.size(); i++)
        {
            if (all.get(i).isLive() && isLeader(HealthProbe.figures(all.get(i))))
            {
                return i;
            }
        }
        return -1;
    }

    private boolean isLeader(final Map<String, Object> figures)
    {
        return null != figures && (1 == shape.metaServers ||
            figures.get("group_lease_left_ms") instanceof final Number leaseMs && leaseMs.longValue() > 0);
    }

    /** What {@code status} says of the group of the table; null while no meta server answers that leads. */
    Group group()
    {
        for (final Entry entry : all(META))
        {
            final Map<String, Object> figures = entry.isLive() ? HealthProbe.figures(entry) : null;
            if (isLeader(figures) && figures.get("groups") instanceof final List<?> groups && !groups.isEmpty())
            {
                final Map<?, ?> group = (Map<?, ?>)groups.getFirst();
                return new Group(((Number)group.get("view")).longValue(), (String)group.get("state"),
                    ids(group.get("memory_nodes")), ids(group.get("lost")),
                    group.get("entering") instanceof final Number entering ? entering.intValue() : null);
            }
        }
        return null;
    }

    private static List<Integer> ids(final Object list)
    {
        return ((List<?>)list).stream().map((id) -> ((Number)id).intValue()).toList();
    }

    /** Waits, within a deadline. */
    void await(final String what, final BooleanSupplier isSo)
    {
        final long sinceNs = System.nanoTime();
        while (!isSo.getAsBoolean())
        {
            assertThat(System.nanoTime() - sinceNs).as("time until %s: %s; %s", what, context, group())
                .isLessThan(STEP_NS);
            LockSupport.parkNanos(POLL_NS);
        }
    }

    void onSound()
    {
        isSound = true;
    }

    /** Ends all processes and removes what they had, after what their logs say of a run that was not sound. */
    @Override
    public void close()
    {
        if (!isSound)
        {
            printLogs();
        }
        processes.entries().forEach((entry) -> signal(entry.name(), "KILL"));
        processes.entries().forEach((entry) -> awaitEnd(entry.name()));
        command("down", "--discard");
        assertThat(processes.entries()).isEmpty();
    }

    private void printLogs()
    {
        System.out.println(context + "; " + group() + "; " + nodeIds + "; " + processes.entries());
        System.out.println(command("status").out());
        try (Stream<Path> files = Files.list(folder.logs()))
        {
            for (final Path file : files.sorted(Comparator.comparing(Path::toString)).toList())
            {
                final List<String> lines = Files.readAllLines(file);
                System.out.println("the end of " + file + ":");
                lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()).forEach(System.out::println);
            }
        }
        catch (final IOException ex)
        {
            System.out.println("no logs: " + ex);
        }
    }
}
