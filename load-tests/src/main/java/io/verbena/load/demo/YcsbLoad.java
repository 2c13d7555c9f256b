package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.load.LoadException;
import io.verbena.load.ycsb.VerbenaDb;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.NanoClock;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Both phases of a YCSB run, on YCSB's own workload and generators: each worker is a thread with a binding of its own.
 * Used by one thread; the counters may be read by any.
 */
final class YcsbLoad
{
    private final DemoPlan plan;
    private final KvClient client;
    private final WriteLedger ledger;
    private final NanoClock clock;
    private final CoreWorkload workload;
    private final List<MeasuredDb> runs = new ArrayList<>();

    YcsbLoad(final DemoPlan plan, final KvClient client, final WriteLedger ledger, final NanoClock clock)
    {
        this.plan = plan;
        this.client = client;
        this.ledger = ledger;
        this.clock = clock;
        final Properties properties = plan.properties();
        // Asked for by the workload's constructor.
        Measurements.setProperties(properties);
        workload = new CoreWorkload();
        try
        {
            workload.init(properties);
        }
        catch (final WorkloadException | RuntimeException ex)
        {
            throw new LoadException(LoadException.Reason.BAD_DATA,
                "YCSB refuses workload " + plan.workload() + ": " + ex.getMessage(), ex);
        }
    }

    /**
     * Starts the threads that insert all records; they end by themselves, or fail with the first insert that fails.
     */
    WorkerThreads startLoading(final RunCounters counters)
    {
        final AtomicLong left = new AtomicLong(plan.records());
        final WorkerThreads workers = new WorkerThreads();
        for (int i = 0; i < plan.threads(); i++)
        {
            final int writer = i + 1;
            final MeasuredDb db = db(writer, counters, true);
            workers.start("ycsb-load-" + writer, () ->
            {
                while (left.getAndDecrement() > 0 && !workers.hasFailed())
                {
                    db.beginTransaction(clock.nanoTime());
                    workload.doInsert(db, null);
                    counters.operations.increment();
                }
            });
        }
        return workers;
    }

    /**
     * Starts the threads that run the workload until a time, which may be put off meanwhile, or until the table's room
     * for inserts is used up.
     */
    WorkerThreads startRunning(final RunCounters counters, final long startNs, final LongSupplier endNs)
    {
        final WorkerThreads workers = new WorkerThreads();
        for (int i = 0; i < plan.threads(); i++)
        {
            final int worker = i;
            final int writer = plan.threads() + i + 1;
            final MeasuredDb db = db(writer, counters, false);
            runs.add(db);
            workers.start("ycsb-run-" + writer, () ->
            {
                if (plan.rate() > 0)
                {
                    runAtRate(db, counters, startNs, endNs, worker);
                }
                else
                {
                    runAsFastAsItGoes(db, counters, endNs);
                }
                counters.endedNs.accumulateAndGet(clock.nanoTime(), Math::max);
            });
        }
        return workers;
    }

    /**
     * All latencies of one operation, over all workers; after they have ended.
     */
    Histogram latencies(final YcsbOperation operation)
    {
        final Histogram sum = new Histogram(3);
        runs.forEach(run -> sum.add(run.latencies(operation)));
        return sum;
    }

    private MeasuredDb db(final int writer, final RunCounters counters, final boolean isLoading)
    {
        return new MeasuredDb(new VerbenaDb(client, writer, ledger.worker(writer)), clock, counters, isLoading,
            ledger::mustExist);
    }

    private void runAsFastAsItGoes(final MeasuredDb db, final RunCounters counters, final LongSupplier endNs)
    {
        long nowNs = clock.nanoTime();
        while (nowNs - endNs.getAsLong() < 0 && !counters.isFull())
        {
            db.beginTransaction(nowNs);
            workload.doTransaction(db, null);
            counters.operations.increment();
            nowNs = clock.nanoTime();
        }
    }

    // Each operation has a time at which it is meant to start, and its latency counts from there: when the store
    // stalls, operations that should have started meanwhile show it (else they were omitted, "coordinated" by it).
    private void runAtRate(
        final MeasuredDb db, final RunCounters counters, final long startNs, final LongSupplier endNs,
        final int worker)
    {
        final double intervalNs = (double)TimeUnit.SECONDS.toNanos(1) / plan.rate();
        for (long i = 0; true; i++)
        {
            final long intendedNs = startNs + (long)((i * plan.threads() + worker) * intervalNs);
            if (intendedNs - endNs.getAsLong() >= 0 || counters.isFull())
            {
                return;
            }
            Pace.until(clock, intendedNs);
            if (clock.nanoTime() - endNs.getAsLong() >= 0)
            {
                counters.notStarted.increment();
                continue;
            }
            db.beginTransaction(intendedNs);
            workload.doTransaction(db, null);
            counters.operations.increment();
        }
    }
}
