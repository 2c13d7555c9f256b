package io.verbena.cli.autoscale;

import io.verbena.cli.CommandLines;
import io.verbena.cli.autoscale.policy.Decision.Rule;
import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.ProcessTable;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;

import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** Processes that follow a load from one node to three and back, while each increment is counted. */
@Timeout(600)
class AutoscaleSystemTest
{
    private static final long PERIOD_MS = 200;
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(200);
    private static final int LAUNCH_TIMEOUT_S = 150;
    /** So little that a node which always has requests works more than that on any machine. */
    private static final double TARGET_SHARE = 0.03;
    private static final int THREADS = 4;
    private static final int TOGETHER = 32;

    @TempDir
    private Path directory;
    private volatile boolean isOver;

    /**
     * The processes of a fleet, which report no more work from a time on. How much of its time a node works that has
     * little to do depends on who else uses the processors, and so would the time at which nodes are ended.
     */
    private static final class Quieted implements Fleet
    {
        private final Fleet fleet;
        private boolean isQuiet;

        private Quieted(final Fleet fleet)
        {
            this.fleet = fleet;
        }

        @Override
        public State observe()
        {
            final State state = fleet.observe();
            return isQuiet ? new State(state.live(), state.spares(), state.dead(),
                state.samples().stream().map(Quieted::withoutWork).toList(), state.obstacle()) : state;
        }

        private static DemandSample withoutWork(final DemandSample sample)
        {
            return new DemandSample(sample.node(), sample.timeNs(), sample.operations(), 0, sample.processorNs(),
                sample.slots(), 0, sample.waitCounts(), sample.responseCounts());
        }

        @Override
        public void resize(final int nodes, final Consumer<String> progress)
        {
            fleet.resize(nodes, progress);
        }

        @Override
        public String keepSpares(final int spares)
        {
            return fleet.keepSpares(spares);
        }
    }

    private CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.resolve("cluster").toString()));
        return CommandLines.run(all);
    }

    private void succeed(final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        assertThat(result.status()).as("%s: %s%s", List.of(arguments), result.out(), result.err()).isZero();
    }

    @AfterEach
    void leaveNothingBehind()
    {
        isOver = true;
        run("down", "--discard");
        assertThat(processes().entries()).isEmpty();
    }

    private ProcessTable processes()
    {
        return new ProcessTable(directory.resolve("cluster/processes"));
    }

    private static byte[] key(final int thread)
    {
        return new byte[]{(byte)thread};
    }

    /** Increments the counter of the thread; returns how often. Any failure ends it. */
    private long increment(final KvTable table, final int thread)
    {
        long count = 0;
        while (!isOver)
        {
            final List<CompletableFuture<Long>> calls = new ArrayList<>();
            for (int i = 0; i < TOGETHER; i++)
            {
                calls.add(table.incrementAsync(key(thread), 1));
            }
            for (final CompletableFuture<Long> call : calls)
            {
                call.join();
                count++;
            }
        }
        return count;
    }

    private static DecisionRecord stepUntil(final Autoscaler autoscaler, final Predicate<DecisionRecord> wanted)
        throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        final List<String> all = new ArrayList<>();
        while (true)
        {
            final DecisionRecord record = autoscaler.step();
            all.add(DecisionRecord.line(record.json()));
            assertThat(record.outcome()).as("%s", all).isNotEqualTo(DecisionRecord.FAILED);
            if (wanted.test(record))
            {
                return record;
            }
            assertThat(System.nanoTime() - deadlineNs).as("%s", all).isNegative();
            Thread.sleep(PERIOD_MS);
        }
    }

    @Test
    void shouldFollowALoadAndLoseAndRepeatNothing() throws Exception
    {
        succeed("up", "--memory", "64", "--compute-nodes", "1");
        final ClusterFolder folder = ClusterFolder.of(directory.resolve("cluster"));
        final Quieted fleet = new Quieted(new LocalFleet(folder, LAUNCH_TIMEOUT_S));
        final Autoscaler autoscaler = new Autoscaler(fleet, new ScaleLimits(1, 3, TARGET_SHARE, 0, 0, 1_000, 2, 500),
            PERIOD_MS, 0, false, SystemNanoClock.INSTANCE, SystemEpochClock.INSTANCE);
        try (KvClient client = KvClient.connect(folder.address(), new KvClientOptions().tokenFile(folder.token()));
            ExecutorService threads = Executors.newFixedThreadPool(THREADS))
        {
            final KvTable table = client.table("default").withTimeout(Duration.ofSeconds(150));
            final List<Future<Long>> counts = new ArrayList<>();
            for (int i = 0; i < THREADS; i++)
            {
                final int thread = i;
                counts.add(threads.submit(() -> increment(table, thread)));
            }
            try
            {
                stepUntil(autoscaler, (record) -> 3 == record.decision().toNodes() &&
                    DecisionRecord.DONE.equals(record.outcome()));
                assertThat(fleet.observe().live()).isEqualTo(3);
                fleet.isQuiet = true;
                stepUntil(autoscaler, (record) -> 1 == record.decision().toNodes() &&
                    Rule.LESS_USE == record.decision().rule() && DecisionRecord.DONE.equals(record.outcome()));
                assertThat(fleet.observe().live()).isEqualTo(1);
            }
            finally
            {
                isOver = true;
            }
            for (int i = 0; i < THREADS; i++)
            {
                final long count = counts.get(i).get();
                assertThat(count).isPositive();
                assertThat(table.increment(key(i), 0)).as("counter %d", i).isEqualTo(count);
            }
        }
        replace(autoscaler, fleet);
        endNodesThatHang(folder, fleet);
        withoutMetaServer(fleet);
    }

    /** Killed under the autoscaler: there is another one after one period. */
    private void replace(final Autoscaler autoscaler, final Fleet fleet) throws InterruptedException
    {
        kill("compute-");
        final DecisionRecord record =
            stepUntil(autoscaler, (each) -> DecisionRecord.DONE.equals(each.outcome()));
        assertThat(record.decision().rule()).isIn(Rule.REPLACE, Rule.LIMITS);
        assertThat(fleet.observe().live()).isEqualTo(1);
        succeed("put", "hello", "world");
        succeed("autoscale", "--rounds", "2", "--period", "200", "--max", "1", "--all");
        assertThat(run("autoscale", "explain", "--all").out()).hasLineCount(2).containsPattern("use of \\d\\.\\d\\d");
    }

    /** A program that never serves. */
    static final class HangingNode
    {
        private HangingNode()
        {
        }

        public static void main(final String[] arguments) throws InterruptedException
        {
            Thread.sleep(Duration.ofMinutes(10));
        }
    }

    private void endNodesThatHang(final ClusterFolder folder, final Fleet fleet)
    {
        final Autoscaler hanging = new Autoscaler(
            new LocalFleet(folder, 2, (cluster) -> cluster.mainClass(HangingNode.class.getName())),
            new ScaleLimits(2, 3, 0.3, 0, 0, 0, 2, 0), TimeUnit.MINUTES.toMillis(1), 0, false, SystemNanoClock.INSTANCE,
            SystemEpochClock.INSTANCE);
        final DecisionRecord record = hanging.step();
        assertThat(record.outcome()).isEqualTo(DecisionRecord.FAILED);
        assertThat(record.detail()).contains("compute-2 is not ready after 2 s");
        assertThat(hanging.step().outcome()).as("a period later").isEqualTo(DecisionRecord.DELAYED);
        assertThat(fleet.observe().live()).isEqualTo(1);
        assertThat(processes().entries()).extracting(ProcessTable.Entry::name)
            .containsExactly("meta-server", "memory-1", "compute-1");
    }

    private void withoutMetaServer(final Fleet fleet) throws InterruptedException
    {
        kill("meta-server");
        assertThat(fleet.observe().obstacle()).contains("meta server is dead", "'./verbena up'");
        assertThat(run("autoscale", "--rounds", "1", "--min", "2", "--all").out()).contains("1 -> 2", "; delayed: ");
        assertThat(fleet.observe().live()).isEqualTo(1);
        run("down", "--discard");
        assertThat(run("autoscale", "--rounds", "1").err()).hasLineCount(1).contains("no cluster is up");
    }

    private void kill(final String name) throws InterruptedException
    {
        final ProcessTable.Entry entry = processes().entries().stream()
            .filter((each) -> each.name().startsWith(name)).findFirst().orElseThrow();
        entry.process().orElseThrow().destroyForcibly();
        while (entry.isLive())
        {
            Thread.sleep(10);
        }
    }
}
