package io.verbena.load.wire;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A memory that one or more threads answer for, under load: two stores, each with a thread and a connection of its own,
 * read batches all the time. What that costs the memory's process, and how much it serves.
 */
final class MemoryLoad
{
    private static final int STORES = 2;
    private static final int RECORDS = 1_000;
    private static final int ROUNDS_OF_WARM_UP = 3;
    private static final long READY_TIMEOUT_S = 60;
    private static final double NS_PER_US = 1_000;
    private static final double NS_PER_S = 1e9;
    private static final double PERCENT = 100;

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final WireMemory memory;
    private final AtomicLong gets = new AtomicLong();
    private final CountDownLatch ready = new CountDownLatch(STORES);
    private volatile boolean isOver;

    private MemoryLoad(final WireMemory memory)
    {
        this.memory = memory;
    }

    /** Prints the figures of a memory with so many threads. */
    static void measure(final WireLink link, final WireOptions options, final int threads)
        throws IOException, InterruptedException
    {
        final String suffix = "_under_load_" + threads + (threads == 1 ? "_thread" : "_threads");
        final String[] names = {
            "memory_node_gets_per_second" + suffix, "memory_node_cpu_per_get" + suffix, "memory_node_cpu" + suffix};
        if (!options.wants(names))
        {
            return;
        }
        try (WireMemory memory = new WireMemory(link, ",threads=" + threads, STORES))
        {
            final double[] figures = new MemoryLoad(memory).run(options);
            print(names[0], "1/s", figures[0]);
            print(names[1], "us", figures[1]);
            print(names[2], "%", figures[2]);
        }
    }

    private static void print(final String name, final String unit, final double value)
    {
        System.out.println(WireFigure.value(name, unit, value, Double.NaN).line());
    }

    /** GETs per second, microseconds of the memory's processor time for each, and share of one processor. */
    private double[] run(final WireOptions options) throws IOException, InterruptedException
    {
        final ExecutorService executor = Executors.newFixedThreadPool(STORES);
        try
        {
            final Future<?>[] clients = new Future<?>[STORES];
            for (int i = 0; i < STORES; i++)
            {
                final int index = i;
                clients[i] = executor.submit(() -> work(index));
            }
            if (!ready.await(READY_TIMEOUT_S, TimeUnit.SECONDS))
            {
                throw new IOException("the stores were not filled within " + READY_TIMEOUT_S + " s");
            }
            pause(ROUNDS_OF_WARM_UP * options.roundMs());
            final long cpuNs = memory.cpuNs();
            final long startNs = clock.nanoTime();
            final long before = gets.get();
            pause(2L * options.rounds() * options.roundMs());
            final long count = gets.get() - before;
            final double elapsedNs = clock.nanoTime() - startNs;
            final double usedNs = memory.cpuNs() - cpuNs;
            isOver = true;
            for (final Future<?> client : clients)
            {
                client.get();
            }
            return new double[] {
                count * NS_PER_S / elapsedNs, usedNs / NS_PER_US / count, usedNs * PERCENT / elapsedNs};
        }
        catch (final ExecutionException ex)
        {
            throw new IOException("a store failed: " + ex.getCause(), ex);
        }
        finally
        {
            isOver = true;
            executor.shutdown();
        }
    }

    private static void pause(final long lengthMs) throws InterruptedException
    {
        TimeUnit.MILLISECONDS.sleep(lengthMs);
    }

    private void work(final int index)
    {
        try (WireStore store = memory.store(index, RECORDS))
        {
            ready.countDown();
            while (!isOver)
            {
                store.getBatch();
                gets.addAndGet(WireStore.BATCH);
            }
            // Fails when an operation has.
            store.takeRoundTrips();
        }
    }
}
