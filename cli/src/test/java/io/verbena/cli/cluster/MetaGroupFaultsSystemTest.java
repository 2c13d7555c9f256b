package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static io.verbena.cli.cluster.CalledGroup.MEMBERS;
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
    private static final int LONGEST_FAULT_MS = 3_000;

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
        private final CalledGroup group;
        private final List<String> faults = new ArrayList<>();

        private Run(final Path directory, final long seed)
        {
            this.seed = seed;
            random = new Random(seed);
            group = new CalledGroup(directory, this);
        }

        private void run() throws Exception
        {
            try (group)
            {
                group.start(Long.toString(seed));
                try
                {
                    group.beginCalls(random);
                    group.awaitMore();
                    final List<Fault> kinds = new ArrayList<>(List.of(Fault.values()));
                    Collections.shuffle(kinds, random);
                    for (int i = 0; i < FAULTS; i++)
                    {
                        disturb(kinds.get(i % kinds.size()));
                        group.awaitMore();
                    }
                }
                finally
                {
                    group.endCalls();
                }
                group.check();
            }
        }

        private void disturb(final Fault fault) throws Exception
        {
            final List<Entry> all = group.members();
            assertThat(all).as("%s", this).hasSize(MEMBERS).allMatch(Entry::isLive);
            final int leader = Math.max(0, group.leader(all));
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
                CalledGroup.signal("STOP", stopped);
            }
            for (final Entry entry : killed)
            {
                CalledGroup.signal("KILL", entry);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(lengthMs));
            if (null != stopped && random.nextBoolean())
            {
                CalledGroup.signal("CONT", stopped);
            }
            for (final Entry entry : killed)
            {
                CalledGroup.awaitEnd(entry);
                group.restart(entry);
            }
            if (null != stopped)
            {
                CalledGroup.signal("CONT", stopped);
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
            new Run(directory.resolve("run-" + i), FIRST_SEED + i).run();
        }
    }
}
