package io.verbena.load.verbs;

import io.verbena.rdma.sim.SimHunt;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SeededDecisions;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.agrona.concurrent.NanoClock;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How many small simulated scenarios run in a second: a memory node and three compute nodes, with faults on
 * ({@link SharedCounter}), one world per seed, each world in one thread.
 */
public final class SimBenchmark
{
    private static final double NS_PER_S = 1e9;

    private final int scenarios;
    private final int threads;
    private final NanoClock clock;
    private final AtomicLong next = new AtomicLong(1);
    private final AtomicLong steps = new AtomicLong();
    private final AtomicLong faults = new AtomicLong();
    private final AtomicLong virtualNs = new AtomicLong();
    private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

    /**
     * Figures of one benchmark.
     *
     * @param scenarios run, each with its own seed, from 1.
     * @param threads   that ran them.
     * @param elapsedNs wall-clock time.
     * @param steps     of all worlds.
     * @param faults    that happened: kills, pauses, breaks, long delays, stalls.
     * @param virtualNs time in all worlds.
     */
    public record Result(int scenarios, int threads, long elapsedNs, long steps, long faults, long virtualNs)
    {
        /** @return scenarios per second of wall-clock time. */
        public double scenariosPerSecond()
        {
            return scenarios * NS_PER_S / elapsedNs;
        }

        /** @return what is written as JSON, in order. */
        public Map<String, Object> fields()
        {
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("scenarios_count", (long)scenarios);
            fields.put("threads_count", (long)threads);
            fields.put("elapsed_ms", elapsedNs / 1e6);
            fields.put("scenarios_per_second", scenariosPerSecond());
            fields.put("steps_count", steps);
            fields.put("steps_per_second", steps * NS_PER_S / elapsedNs);
            fields.put("faults_count", faults);
            fields.put("virtual_ms", virtualNs / 1e6);
            return fields;
        }
    }

    /**
     * @param scenarios how many, 1 or more.
     * @param threads   that run them, 1 or more.
     * @param clock     wall-clock time.
     */
    public SimBenchmark(final int scenarios, final int threads, final NanoClock clock)
    {
        this.scenarios = scenarios;
        this.threads = threads;
        this.clock = clock;
    }

    /**
     * Runs it.
     *
     * @return the figures.
     * @throws InterruptedException when interrupted.
     * @throws RuntimeException     when a scenario fails: the simulator or the verbs are wrong. With the smallest fault
     *                              schedule.
     */
    public Result run() throws InterruptedException
    {
        final long startNs = clock.nanoTime();
        final Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            workers[i] = Thread.ofPlatform().daemon().name("sim-benchmark-" + i).start(this::work);
        }
        for (final Thread worker : workers)
        {
            worker.join();
        }
        final long elapsedNs = clock.nanoTime() - startNs;
        if (failure.get() != null)
        {
            throw failure.get();
        }
        return new Result(scenarios, threads, elapsedNs, steps.get(), faults.get(), virtualNs.get());
    }

    private void work()
    {
        try
        {
            for (long seed = next.getAndIncrement(); seed <= scenarios; seed = next.getAndIncrement())
            {
                runOne(seed);
            }
        }
        catch (final RuntimeException ex)
        {
            next.set(scenarios + 1L);
            failure.compareAndSet(null, ex);
        }
    }

    private void runOne(final long seed)
    {
        try (SimWorld world = new SimWorld(new SeededDecisions(seed), new SimFabricOptions(), null))
        {
            SharedCounter.run(world);
            steps.addAndGet(world.steps());
            faults.addAndGet(world.faults().size());
            virtualNs.addAndGet(world.clock().nanoTime());
        }
        catch (final RuntimeException ex)
        {
            new SimHunt(SimFabricOptions::new, SharedCounter::run).run(seed, 1);
            throw ex;
        }
    }
}
