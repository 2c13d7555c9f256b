package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.meta.raft.MemberRemains;
import io.verbena.protocol.bootstrap.OwnerOnly;
import io.verbena.server.MetaGroupRole;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three meta servers as processes are killed and stopped at random, one, two or all, and started again, while nodes
 * register and tables are created and dropped: what was acknowledged is there in the end, and no number was given
 * twice. One run of two faults; {@code -Dverbena.meta.runs=50 -Dverbena.meta.faults=4} for more and longer ones,
 * {@code -Dverbena.meta.seed=N} for the first one's seed.
 */
@Timeout(7_200)
class MetaGroupFaultsSystemTest
{
    private static final int RUNS = Integer.getInteger("verbena.meta.runs", 1);
    /** Its first faults are those that take most members away. */
    private static final long DEFAULT_SEED = 1;
    private static final long FIRST_SEED = Long.getLong("verbena.meta.seed", DEFAULT_SEED);
    private static final int FAULTS = Integer.getInteger("verbena.meta.faults", 2);
    private static final int MEMBERS = 3;
    private static final int CALLERS = 2;
    private static final int LONGEST_FAULT_MS = 3_000;
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(150);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private enum Fault
    {
        KILL, STOP, KILL_ONE_AND_STOP_ANOTHER, KILL_ALL
    }

    @TempDir
    private Path directory;

    /** One run, with a group of its own. */
    private static final class Run
    {
        private final long seed;
        private final Random random;
        private final ClusterFolder folder;
        private final ProcessTable processes;
        private final MetaServers servers;
        private final ControlRecord record = new ControlRecord();
        private final List<ControlCaller> callers = new ArrayList<>();
        private final List<String> faults = new ArrayList<>();

        private Run(final Path directory, final long seed)
        {
            this.seed = seed;
            random = new Random(seed);
            folder = ClusterFolder.of(directory);
            processes = new ProcessTable(folder.processes());
            servers = new MetaServers(folder, new NodeLauncher(processes, folder.logs()));
            servers.count(MEMBERS);
        }

        private void run() throws Exception
        {
            OwnerOnly.createFolder(folder.path());
            // The folder of a fabric that nobody else has.
            servers.start(MetaServers.ANY_PORT, "soft:/dev/shm/verbena-faults-" + ProcessHandle.current().pid() + '-' +
                seed, false, (_) -> {});
            try
            {
                for (int i = 1; i <= CALLERS; i++)
                {
                    callers.add(new ControlCaller(i, folder, record, random.nextLong()));
                }
                callers.forEach(Thread::start);
                awaitMore();
                final List<Fault> kinds = new ArrayList<>(List.of(Fault.values()));
                Collections.shuffle(kinds, random);
                for (int i = 0; i < FAULTS; i++)
                {
                    disturb(kinds.get(i % kinds.size()));
                    awaitMore();
                }
            }
            finally
            {
                callers.forEach(ControlCaller::end);
                for (final ControlCaller caller : callers)
                {
                    caller.join();
                }
            }
            callers.forEach(ControlCaller::requireWell);
            check();
        }

        /** Calls are acknowledged that begin now. */
        private void awaitMore()
        {
            final long before = record.acknowledgedCount();
            final long sinceNs = System.nanoTime();
            while (record.acknowledgedCount() < before + 20)
            {
                callers.forEach(ControlCaller::requireWell);
                assertThat(System.nanoTime() - sinceNs).as("time until calls are answered: %s; %s", this, record)
                    .isLessThan(STEP_NS);
                LockSupport.parkNanos(POLL_NS);
            }
        }

        private void disturb(final Fault fault) throws Exception
        {
            final List<Entry> all = processes.entries();
            assertThat(all).as("%s", this).hasSize(MEMBERS).allMatch(Entry::isLive);
            final int leader = IntStream.range(0, MEMBERS).filter((place) -> isLeader(all.get(place))).findFirst()
                .orElse(0);
            // The leader as often as both others together.
            final int first = random.nextBoolean() ? leader : (leader + 1 + random.nextInt(MEMBERS - 1)) % MEMBERS;
            final int second = (first + 1 + random.nextInt(MEMBERS - 1)) % MEMBERS;
            final int lengthMs = random.nextInt(LONGEST_FAULT_MS);
            final List<Entry> killed = switch (fault)
            {
                case STOP -> List.of();
                case KILL, KILL_ONE_AND_STOP_ANOTHER -> List.of(all.get(first));
                case KILL_ALL -> all;
            };
            final Entry stopped = switch (fault)
            {
                case STOP -> all.get(first);
                case KILL_ONE_AND_STOP_ANOTHER -> all.get(second);
                case KILL, KILL_ALL -> null;
            };
            faults.add(fault + " for " + lengthMs + " ms, killed " + killed.stream().map(Entry::name).toList() +
                (null == stopped ? "" : ", stopped " + stopped.name()) + ", leader " + all.get(leader).name());
            if (null != stopped)
            {
                signal("STOP", stopped);
            }
            for (final Entry entry : killed)
            {
                signal("KILL", entry);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(lengthMs));
            if (null != stopped && random.nextBoolean())
            {
                signal("CONT", stopped);
            }
            for (final Entry entry : killed)
            {
                entry.process().ifPresent((process) -> process.onExit().join());
                servers.restart(entry.name());
            }
            if (null != stopped)
            {
                signal("CONT", stopped);
            }
        }

        private static boolean isLeader(final Entry entry)
        {
            return HealthProbe.figures(entry) instanceof final Map<?, ?> figures &&
                figures.get("group_lease_left_ms") instanceof final Number leaseMs && leaseMs.longValue() > 0;
        }

        private static void signal(final String signal, final Entry entry) throws IOException, InterruptedException
        {
            assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(entry.pid())).start().waitFor())
                .isZero();
        }

        /** In the log and snapshot of whoever has most, and of each once it has caught up. */
        private void check() throws Exception
        {
            awaitSame();
            for (final Entry entry : processes.entries())
            {
                signal("KILL", entry);
                entry.process().ifPresent((process) -> process.onExit().join());
            }
            for (int member = 1; member <= MEMBERS; member++)
            {
                final MemberRemains remains =
                    MemberRemains.read(folder.metaServer(member).resolve(MetaGroupRole.FOLDER));
                assertThat(remains.damage()).isEmpty();
                record.check("meta-" + member + ", " + this, remains.state());
            }
            System.out.println(this + "; " + record);
        }

        private void awaitSame()
        {
            final long sinceNs = System.nanoTime();
            while (1 != processes.entries().stream().map((entry) ->
                HealthProbe.figures(entry) instanceof final Map<?, ?> figures ?
                    figures.get("group_applied_index") : entry.name()).distinct().count())
            {
                assertThat(System.nanoTime() - sinceNs).as("time until all know the same: %s", this)
                    .isLessThan(STEP_NS);
                LockSupport.parkNanos(POLL_NS);
            }
        }

        @Override
        public String toString()
        {
            return "seed " + seed + ": " + faults;
        }
    }

    @Test
    void shouldKeepWhatWasAcknowledgedAndGiveNoNumberTwice() throws Exception
    {
        for (int i = 0; i < RUNS; i++)
        {
            final Path folder = directory.resolve("run-" + i);
            try
            {
                new Run(folder, FIRST_SEED + i).run();
            }
            finally
            {
                CommandLines.run(List.of("down", "--discard", "--data", folder.toString()));
            }
            assertThat(new ProcessTable(ClusterFolder.of(folder).processes()).entries()).isEmpty();
        }
    }
}
