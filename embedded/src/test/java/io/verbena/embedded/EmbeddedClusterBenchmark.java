package io.verbena.embedded;

import com.sun.management.OperatingSystemMXBean;

import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Figures of an embedded cluster on this machine: latency of a synchronous GET, throughput by threads, time to join,
 * and what an idle cluster costs. Run by hand: {@code main}, with the flags of config/jvm.args.
 */
final class EmbeddedClusterBenchmark
{
    private static final int RECORDS = 100_000;
    private static final int VALUE_BYTES = 100;
    private static final long MEASURE_NS = 3_000_000_000L;

    private EmbeddedClusterBenchmark()
    {
    }

    public static void main(final String[] args) throws InterruptedException
    {
        if (args.length > 0 && "idle".equals(args[0]))
        {
            try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions()))
            {
                cluster.client().createTable("bench", new TableOptions(RECORDS));
                idle();
            }
            return;
        }
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions()))
        {
            final KvTable table = cluster.client().createTable("bench", new TableOptions(RECORDS));
            load(table);
            for (int round = 0; round < 3; round++)
            {
                latency(table);
            }
            for (final int threads : new int[] {1, 4, 8})
            {
                throughput(table, threads, 0);
                throughput(table, threads, 50);
            }
            idle();
            for (int i = 0; i < 5; i++)
            {
                join(cluster, table);
            }
        }
    }

    private static void load(final KvTable table)
    {
        final long beganNs = System.nanoTime();
        for (int i = 0; i < RECORDS; i++)
        {
            table.put(key(i), new byte[VALUE_BYTES]);
        }
        System.out.printf("load: %,d records in %d ms%n", RECORDS, (System.nanoTime() - beganNs) / 1_000_000);
    }

    private static void latency(final KvTable table)
    {
        final SplittableRandom random = new SplittableRandom(1);
        final long[] samples = new long[200_000];
        for (int i = 0; i < samples.length; i++)
        {
            final byte[] key = key(random.nextInt(RECORDS));
            final long beganNs = System.nanoTime();
            table.get(key).orElseThrow();
            samples[i] = System.nanoTime() - beganNs;
        }
        print("get, 1 thread", samples);
    }

    private static void print(final String what, final long[] samples)
    {
        Arrays.sort(samples);
        System.out.printf("%s: p50=%d ns p99=%d ns p99.9=%d ns%n", what, samples[samples.length / 2],
            samples[samples.length * 99 / 100], samples[(int)(samples.length * 0.999)]);
    }

    private static void throughput(final KvTable table, final int threadCount, final int writePercent)
        throws InterruptedException
    {
        final AtomicLong operations = new AtomicLong();
        final List<Thread> threads = new ArrayList<>();
        final long endNs = System.nanoTime() + MEASURE_NS;
        for (int i = 0; i < threadCount; i++)
        {
            final SplittableRandom random = new SplittableRandom(i);
            final Thread thread = new Thread(() ->
            {
                long count = 0;
                while (System.nanoTime() - endNs < 0)
                {
                    final byte[] key = key(random.nextInt(RECORDS));
                    if (random.nextInt(100) < writePercent)
                    {
                        table.put(key, new byte[VALUE_BYTES]);
                    }
                    else
                    {
                        table.get(key).orElseThrow();
                    }
                    count++;
                }
                operations.addAndGet(count);
            }, "bench-" + i);
            thread.start();
            threads.add(thread);
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        System.out.printf("%d threads, %d%% writes: %,d operations/s%n", threadCount, writePercent,
            operations.get() * 1_000_000_000L / MEASURE_NS);
    }

    private static void idle() throws InterruptedException
    {
        Thread.sleep(10_000);
        final Map<String, Long> before = cpuNsByThread();
        final long processNs = processCpuNs();
        final long beganNs = System.nanoTime();
        Thread.sleep(5000);
        final long tookNs = System.nanoTime() - beganNs;
        System.out.printf("idle cluster: %.2f %% of a core%n", 100.0 * (processCpuNs() - processNs) / tookNs);
        cpuNsByThread().forEach((name, cpuNs) ->
            System.out.printf("  %s %.2f %%%n", name, 100.0 * (cpuNs - before.getOrDefault(name, 0L)) / tookNs));
    }

    private static long processCpuNs()
    {
        return ((OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static Map<String, Long> cpuNsByThread()
    {
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        final Map<String, Long> cpuNs = new TreeMap<>();
        for (final ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds()))
        {
            if (null != thread && thread.getThreadName().startsWith("verbena-"))
            {
                cpuNs.merge(thread.getThreadName(), threads.getThreadCpuTime(thread.getThreadId()), Long::sum);
            }
        }
        return cpuNs;
    }

    private static void join(final EmbeddedCluster cluster, final KvTable table)
    {
        final ComputeNodeHandle node = cluster.addComputeNode();
        for (int i = 0; i < 100 && node.joinToFirstRequestNs() < 0; i++)
        {
            table.get(key(i));
        }
        System.out.printf("join: ready=%d us first=%d us %s%n", node.joinToReadyNs() / 1000,
            node.joinToFirstRequestNs() / 1000, node.joinBreakdown());
        cluster.removeComputeNode(node.nodeId());
    }

    private static byte[] key(final int number)
    {
        return ("user" + number).getBytes();
    }
}
