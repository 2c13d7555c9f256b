package io.verbena.cli.bench;

import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.HealthProbe;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.TableOptions;

import org.agrona.concurrent.NanoClock;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * How long control calls take when the leader of a group of meta servers is killed or stopped, while threads read and
 * update records, half and half as YCSB's workload A. Used once, by one thread.
 */
final class FailoverBenchmark implements AutoCloseable
{
    private static final String META = "meta-server";
    private static final int THREADS = 2;
    private static final int RECORDS = 1_000;
    private static final int VALUE_BYTES = 1_000;
    private static final long GIVE_UP_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    /** From the death or stop of the leader until a node was registered, and until a table was created. */
    record Took(double joinMs, double createMs)
    {
        double longestMs()
        {
            return Math.max(joinMs, createMs);
        }
    }

    private final LocalCluster cluster;
    private final ClusterFolder folder;
    private final KvClient client;
    private final NanoClock clock;
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicLong operations = new AtomicLong();
    private final Map<String, Integer> failures = new ConcurrentSkipListMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private int tables;

    /** The workload begins at once. */
    FailoverBenchmark(
        final LocalCluster cluster, final ClusterFolder folder, final KvClient client, final NanoClock clock)
    {
        this.cluster = cluster;
        this.folder = folder;
        this.client = client;
        this.clock = clock;
        final KvTable table = client.createTable("workload", new TableOptions(RECORDS));
        for (int i = 0; i < RECORDS; i++)
        {
            table.put(key(i), new byte[VALUE_BYTES]);
        }
        for (int i = 0; i < THREADS; i++)
        {
            final SplittableRandom random = new SplittableRandom(i);
            threads.add(Thread.ofPlatform().name("verbena-bench-meta-" + i).start(() -> work(table, random)));
        }
    }

    private void work(final KvTable table, final SplittableRandom random)
    {
        while (!isOver.get())
        {
            final byte[] key = key(random.nextInt(RECORDS));
            try
            {
                if (random.nextBoolean())
                {
                    table.get(key);
                }
                else
                {
                    table.put(key, new byte[VALUE_BYTES]);
                }
                operations.incrementAndGet();
            }
            catch (final KvException ex)
            {
                failures.merge(String.valueOf(ex.getMessage()), 1, Integer::sum);
            }
            // The processors are the meta servers', too.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    private static byte[] key(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    /**
     * Kills or stops the leader, and creates a table and registers a node at once.
     *
     * @param isKill SIGKILL, else SIGSTOP until both were answered.
     * @return how long each took.
     */
    Took run(final boolean isKill) throws InterruptedException
    {
        final Entry leader = awaitGroup();
        try (MetaJoiners joiner = new MetaJoiners(folder, 1))
        {
            final String table = "table-" + tables++;
            final ProcessHandle process = leader.process().orElseThrow();
            leader.signal(isKill ? "KILL" : "STOP");
            final long startNs = clock.nanoTime();
            final CompletableFuture<Double> created = CompletableFuture.supplyAsync(() ->
            {
                create(table);
                return (clock.nanoTime() - startNs) / NS_PER_MS;
            });
            joiner.joinNs();
            final double joinMs = (clock.nanoTime() - startNs) / NS_PER_MS;
            final Took took = new Took(joinMs, ended(created));
            if (isKill)
            {
                process.onExit().join();
                cluster.up(LocalCluster.ANY_PORT, 1, null, null, (line) -> {});
            }
            else
            {
                leader.signal("CONT");
            }
            joiner.leave();
            client.dropTable(table);
            return took;
        }
    }

    private static double ended(final CompletableFuture<Double> created)
    {
        try
        {
            return created.join();
        }
        catch (final CompletionException ex)
        {
            throw ex.getCause() instanceof final KvException cause ? cause : ex;
        }
    }

    /** The leader may end between the change and its answer: then the caller asks until it knows. */
    private void create(final String table)
    {
        final long endNs = clock.nanoTime() + GIVE_UP_NS;
        boolean isUnknown = false;
        while (true)
        {
            try
            {
                client.createTable(table, new TableOptions(RECORDS));
                return;
            }
            catch (final KvOutcomeUnknownException ex)
            {
                if (clock.nanoTime() - endNs > 0)
                {
                    throw ex;
                }
                isUnknown = true;
            }
            catch (final KvTableExistsException ex)
            {
                if (!isUnknown)
                {
                    throw ex;
                }
                return;
            }
        }
    }

    /** Until one leads, and all others have all that it has: another death before that would stop the group. */
    private Entry awaitGroup()
    {
        final long endNs = clock.nanoTime() + GIVE_UP_NS;
        while (clock.nanoTime() - endNs < 0)
        {
            final Entry leader = leaderOfAll();
            if (null != leader)
            {
                return leader;
            }
            LockSupport.parkNanos(POLL_NS);
        }
        throw new CommandFailedException(ExitStatus.UNAVAILABLE, "the group of meta servers is not complete after " +
            TimeUnit.NANOSECONDS.toSeconds(GIVE_UP_NS) + " s", null);
    }

    private Entry leaderOfAll()
    {
        Entry leader = null;
        long leastApplied = Long.MAX_VALUE;
        long committed = 0;
        for (final Entry entry : cluster.entries())
        {
            if (!entry.name().startsWith(META))
            {
                continue;
            }
            final Map<String, Object> figures = entry.isLive() ? HealthProbe.figures(entry) : null;
            if (null == figures)
            {
                return null;
            }
            if (number(figures, "group_lease_left_ms") > 0)
            {
                leader = "".equals(figures.get("group_unreachable")) ? entry : null;
                committed = number(figures, "group_commit_index");
            }
            leastApplied = Math.min(leastApplied, number(figures, "group_applied_index"));
        }
        return leastApplied >= committed ? leader : null;
    }

    private static long number(final Map<String, Object> figures, final String name)
    {
        return figures.get(name) instanceof final Number number ? number.longValue() : -1;
    }

    /** @return reads and updates that were answered. */
    long operations()
    {
        return operations.get();
    }

    /** @return those that failed, by what the client said of them. */
    Map<String, Integer> failures()
    {
        return failures;
    }

    @Override
    public void close()
    {
        isOver.set(true);
        try
        {
            for (final Thread thread : threads)
            {
                thread.join();
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
