package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.meta.raft.MemberRemains;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.server.MetaGroupRole;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three meta servers as processes, to which {@link ControlCaller}s make calls until {@link #endCalls}; what was
 * acknowledged is compared with the log of each member by {@link #check}. One thread.
 */
final class CalledGroup implements AutoCloseable
{
    static final int MEMBERS = 3;
    private static final int CALLERS = 2;
    private static final int LOG_LINES = 200;
    private static final int CALLS = 20;
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(150);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ClusterFolder folder;
    private final ProcessTable processes;
    private final MetaServers servers;
    private final ControlRecord record = new ControlRecord();
    private final List<ControlCaller> callers = new ArrayList<>();
    private final Set<String> leftOut = new HashSet<>();
    private final Object context;
    private boolean isSound;

    /**
     * @param directory of the cluster.
     * @param context   what is done to the group, for messages.
     */
    CalledGroup(final Path directory, final Object context)
    {
        this.context = context;
        folder = ClusterFolder.of(directory);
        processes = new ProcessTable(folder.processes());
        servers = new MetaServers(folder, new NodeLauncher(processes, folder.logs()));
        servers.count(MEMBERS);
    }

    /** Starts a new group; with {@code name} in that of a fabric which nobody else has. */
    void start(final String name) throws IOException
    {
        OwnerOnly.createFolder(folder.path());
        servers.start(MetaServers.ANY_PORT, "soft:/dev/shm/verbena-group-" + ProcessHandle.current().pid() + '-' +
            name, false, (_) -> {});
    }

    /** From now on, until {@link #endCalls}. */
    void beginCalls(final Random random)
    {
        for (int i = 1; i <= CALLERS; i++)
        {
            callers.add(new ControlCaller(i, folder, record, random.nextLong()));
        }
        callers.forEach(Thread::start);
    }

    /** Calls are acknowledged that begin now. */
    void awaitMore()
    {
        final long before = record.acknowledgedCount();
        final long sinceNs = System.nanoTime();
        while (record.acknowledgedCount() < before + CALLS)
        {
            callers.forEach(ControlCaller::requireWell);
            assertThat(System.nanoTime() - sinceNs).as("time until calls are answered: %s; %s", context, record)
                .isLessThan(STEP_NS);
            LockSupport.parkNanos(POLL_NS);
        }
    }

    /** Whatever happened before. */
    void endCalls() throws InterruptedException
    {
        callers.forEach(ControlCaller::end);
        for (final ControlCaller caller : callers)
        {
            caller.join();
        }
    }

    ClusterFolder folder()
    {
        return folder;
    }

    /** All members, those that have ended, too, in the order of their numbers. */
    List<Entry> members()
    {
        return processes.entries();
    }

    /** Place of the one that leads at this moment; -1: none. */
    int leader(final List<Entry> members)
    {
        return IntStream.range(0, MEMBERS).filter((place) -> isLeader(members.get(place))).findFirst().orElse(-1);
    }

    /** As the other one; waits until there is one. */
    Entry awaitLeader()
    {
        final long sinceNs = System.nanoTime();
        while (true)
        {
            final List<Entry> members = members();
            final int leader = leader(members);
            if (leader >= 0)
            {
                return members.get(leader);
            }
            assertThat(System.nanoTime() - sinceNs).as("time until one leads: %s; %s", context, record)
                .isLessThan(STEP_NS);
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private static boolean isLeader(final Entry entry)
    {
        return HealthProbe.figures(entry) instanceof final Map<?, ?> figures &&
            figures.get("group_lease_left_ms") instanceof final Number leaseMs && leaseMs.longValue() > 0;
    }

    static void signal(final String signal, final Entry entry) throws IOException, InterruptedException
    {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(entry.pid())).start().waitFor()).isZero();
    }

    static void awaitEnd(final Entry entry)
    {
        entry.process().ifPresent((process) -> process.onExit().orTimeout(STEP_NS, TimeUnit.NANOSECONDS).join());
    }

    /** Starts a member again that has ended, on what it had. */
    void restart(final Entry entry)
    {
        servers.restart(entry.name());
    }

    /** A member that does not come back: the others are compared, and no other one may be missing. */
    void leaveOut(final Entry entry)
    {
        leftOut.add(entry.name());
    }

    /**
     * Compares what was acknowledged with the log and snapshot of each member that is not left out, once all of these
     * have the same; ends them.
     */
    void check() throws Exception
    {
        callers.forEach(ControlCaller::requireWell);
        awaitSame();
        final List<Entry> compared = compared();
        for (final Entry entry : compared)
        {
            signal("KILL", entry);
            awaitEnd(entry);
        }
        for (final Entry entry : compared)
        {
            final int member = entry.name().charAt(entry.name().length() - 1) - '0';
            final MemberRemains remains = MemberRemains.read(folder.metaServer(member).resolve(MetaGroupRole.FOLDER));
            assertThat(remains.damage()).isEmpty();
            record.check("meta-" + member + ", " + context, remains.state());
        }
        System.out.println(context + "; " + record);
        isSound = true;
    }

    private List<Entry> compared()
    {
        return members().stream().filter((entry) -> !leftOut.contains(entry.name())).toList();
    }

    /** No calls are under way. */
    void awaitSame()
    {
        final long sinceNs = System.nanoTime();
        while (1 != compared().stream().map((entry) ->
            HealthProbe.figures(entry) instanceof final Map<?, ?> figures ?
            figures.get("group_applied_index") : entry.name()).distinct().count())
        {
            assertThat(System.nanoTime() - sinceNs).as("time until all know the same: %s", context)
                .isLessThan(STEP_NS);
            LockSupport.parkNanos(POLL_NS);
        }
    }

    /** Ends all processes and removes what they had, after what their logs say of a run that was not sound. */
    @Override
    public void close()
    {
        if (!isSound)
        {
            printLogs();
        }
        CommandLines.run(List.of("down", "--discard", "--data", folder.path().toString()));
        assertThat(members()).isEmpty();
    }

    private void printLogs()
    {
        System.out.println(context + "; " + record + "; " + members());
        try (Stream<Path> files = Files.list(folder.logs()))
        {
            for (final Path file : files.sorted().toList())
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
