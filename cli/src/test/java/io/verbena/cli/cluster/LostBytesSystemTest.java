package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes are killed, stopped beyond their leases, and ended in order, at random, while clients append: no append is
 * lost or done twice, and after one sweep no byte is lost. Each kind of fault once, or as many as
 * {@code -Dverbena.faults.seconds=N} leaves time for; {@code -Dverbena.faults.seed=N} chooses another run.
 */
@Timeout(3_600)
class LostBytesSystemTest
{
    private static final long FAULTS_NS = TimeUnit.SECONDS.toNanos(Long.getLong("verbena.faults.seconds", 0));
    /** Ends a compute node twice; others write its keys in between, so that without a sweep bytes are lost. */
    private static final long DEFAULT_SEED = 5;
    private static final long SEED = Long.getLong("verbena.faults.seed", DEFAULT_SEED);
    private static final int LEASE_SECONDS = 5;
    private static final long STOP_NS = TimeUnit.SECONDS.toNanos(LEASE_SECONDS + 1);
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(150);
    private static final Duration STEP = Duration.ofNanos(STEP_NS);
    private static final Duration APPEND = Duration.ofSeconds(2);
    private static final long MEMBERS_NS = TimeUnit.SECONDS.toNanos(60);
    private static final List<String> KINDS = List.of("kill", "pause", "end");
    private static final int MEMORY_NODES = 2;
    private static final int COMPUTE_NODES = 3;
    private static final int APPENDERS = 4;
    /** Of 8 bytes each. */
    private static final int APPENDS_PER_KEY = 200;
    private static final int APPENDS_AFTER_A_FAULT = 200;

    @TempDir
    private Path directory;
    private final List<Appender> appenders = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private volatile boolean isStopped;

    /** Appends its numbers one after the other to keys of its own, and knows which were acknowledged. */
    private final class Appender extends Thread
    {
        private final KvTable table;
        private final int id;
        private final BitSet acknowledged = new BitSet();
        private final BitSet unknown = new BitSet();
        private volatile int acknowledgedCount;
        private volatile int attempted;
        private volatile Throwable failure;

        private Appender(final KvTable table, final int id)
        {
            this.table = table;
            this.id = id;
        }

        @Override
        public void run()
        {
            for (int i = 0; !isStopped && null == failure; i++)
            {
                attempted = i + 1;
                try
                {
                    final byte[] suffix = ByteBuffer.allocate(Long.BYTES).putLong(i).array();
                    table.withTimeout(APPEND).append(key(i / APPENDS_PER_KEY), suffix);
                    acknowledged.set(i);
                    acknowledgedCount++;
                }
                catch (final KvOutcomeUnknownException ex)
                {
                    unknown.set(i);
                }
                catch (final KvException ex)
                {
                    LockSupport.parkNanos(1_000_000); // not done
                }
                catch (final RuntimeException | Error ex)
                {
                    failure = ex;
                }
            }
        }

        private byte[] key(final int number)
        {
            return ByteBuffer.allocate(2 * Integer.BYTES).putInt(id).putInt(number).array();
        }

        private void check()
        {
            assertThat(failure).isNull();
            final BitSet found = new BitSet();
            for (int number = 0; number * APPENDS_PER_KEY < attempted; number++)
            {
                final byte[] value = table.withTimeout(STEP).get(key(number)).map(KvEntry::value).orElse(new byte[0]);
                for (final ByteBuffer buffer = ByteBuffer.wrap(value); buffer.hasRemaining();)
                {
                    final int append = (int)buffer.getLong();
                    assertThat(found.get(append)).as("%s: append %d of %d is doubled", faults, append, id).isFalse();
                    found.set(append);
                }
            }
            final BitSet lost = (BitSet)acknowledged.clone();
            lost.andNot(found);
            assertThat(lost.stream()).as("%s: acknowledged appends of %d that are lost", faults, id).isEmpty();
            found.andNot(acknowledged);
            found.andNot(unknown);
            assertThat(found.stream()).as("%s: appends of %d that failed and are there", faults, id).isEmpty();
        }
    }

    private ClusterFolder folder()
    {
        return ClusterFolder.of(directory.resolve("cluster"));
    }

    @AfterEach
    void leaveNothingBehind() throws InterruptedException
    {
        stopAppends();
        CommandLines.run(List.of("down", "--discard", "--data", folder().path().toString()));
        assertThat(new ProcessTable(folder().processes()).entries()).isEmpty();
    }

    private void stopAppends() throws InterruptedException
    {
        isStopped = true;
        for (final Appender appender : appenders)
        {
            appender.join();
        }
    }

    @Test
    void shouldLoseNoAppendAndAfterASweepNoByteWhenNodesFail() throws Exception
    {
        try (LocalCluster cluster = LocalCluster.open(folder()))
        {
            cluster.metaOptions(List.of("--lease-seconds", Integer.toString(LEASE_SECONDS)));
            cluster.up(LocalCluster.ANY_PORT, MEMORY_NODES, 64, COMPUTE_NODES, (line) -> {});
            try (KvClient client = KvClient.connect(
                folder().address(), new KvClientOptions().tokenFile(folder().token()).timeout(STEP)))
            {
                final KvTable table = client.createTable("t", new TableOptions(2_000));
                for (int i = 0; i < APPENDERS; i++)
                {
                    appenders.add(new Appender(table, i));
                }
                appenders.forEach(Thread::start);
                awaitProgress();
                failAtRandom(cluster, new Random(SEED));
                stopAppends();
                appenders.forEach(Appender::check);
            }
            awaitMembers(cluster);
        }
        checkMemory();
        System.out.printf("seed=%d appends=%d faults=%s%n", SEED,
            appenders.stream().mapToInt((appender) -> appender.acknowledgedCount).sum(), faults);
    }

    private void failAtRandom(final LocalCluster cluster, final Random random) throws Exception
    {
        final long beganNs = System.nanoTime();
        final List<String> kinds = new ArrayList<>(KINDS);
        Collections.shuffle(kinds, random);
        for (final String kind : kinds)
        {
            fail(cluster, kind, random);
        }
        while (System.nanoTime() - beganNs < FAULTS_NS)
        {
            fail(cluster, KINDS.get(random.nextInt(KINDS.size())), random);
        }
    }

    /** One fault of one process, and its end: all run again afterwards, and appends go on. */
    private void fail(final LocalCluster cluster, final String kind, final Random random) throws Exception
    {
        final List<Entry> entries = cluster.entries();
        final Entry node = entries.get(random.nextInt(entries.size()));
        final ProcessHandle process = node.process().orElseThrow();
        faults.add(kind + ' ' + node.name());
        switch (kind)
        {
            case "kill" -> process.destroyForcibly();
            case "pause" -> pause(node);
            default -> process.destroy();
        }
        if (!"pause".equals(kind))
        {
            process.onExit().get(STEP_NS, TimeUnit.NANOSECONDS);
            LockSupport.parkNanos(random.nextLong(2 * STOP_NS / 3));
        }
        if (cluster.live().size() < entries.size())
        {
            cluster.up(LocalCluster.ANY_PORT, MEMORY_NODES, 64, COMPUTE_NODES, (line) -> {});
        }
        LockSupport.parkNanos(random.nextLong(STOP_NS / 3));
        awaitProgress();
    }

    private static void pause(final Entry node) throws IOException, InterruptedException
    {
        signal("-STOP", node);
        LockSupport.parkNanos(STOP_NS);
        signal("-CONT", node);
    }

    private static void signal(final String signal, final Entry node) throws IOException, InterruptedException
    {
        new ProcessBuilder("kill", signal, Long.toString(node.pid())).start().waitFor();
    }

    private void awaitProgress()
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        for (final Appender appender : appenders)
        {
            final int before = appender.acknowledgedCount;
            while (appender.acknowledgedCount < before + APPENDS_AFTER_A_FAULT)
            {
                assertThat(appender.failure).isNull();
                assertThat(System.nanoTime() - deadlineNs).as("%s: appends go on", faults).isNegative();
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** The meta server has declared the dead dead, and all of those that were started again are members. */
    private static void awaitMembers(final LocalCluster cluster)
    {
        final long deadlineNs = System.nanoTime() + MEMBERS_NS;
        Map<String, Object> figures = null;
        do
        {
            assertThat(System.nanoTime() - deadlineNs).as("members: %s", figures).isNegative();
            LockSupport.parkNanos(10_000_000);
            figures = HealthProbe.figures(cluster.entry("meta-server"));
        }
        while (null == figures || (long)figures.get("compute_nodes") != COMPUTE_NODES ||
            (long)figures.get("memory_nodes") != MEMORY_NODES || (long)figures.get("fencing_nodes") > 0);
    }

    private void checkMemory() throws Exception
    {
        final CommandLines.Result check = CommandLines.run(
            List.of("table", "check", "--all", "--sweep", "--json", "--data", folder().path().toString()));
        assertThat(check.status()).as("%s: %s%s", faults, check.out(), check.err()).isZero();
        final Map<String, Object> figures = JsonReader.object(check.out());
        assertThat(figures).as("%s", faults).containsEntry("sound", true).containsEntry("not_swept", List.of())
            .containsEntry("lost_bytes", 0L);
    }
}
