package io.verbena.load.demo;

import io.verbena.client.KvTable;
import io.verbena.client.TableStat;
import io.verbena.load.bench.GrowthSample;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How fast a table took operations over time, and how many subtables it had. To count these reads each slot of the
 * table: so samples come the more rarely the longer that takes, and the time it takes belongs to none of them. One
 * thread; operations are counted by any.
 */
final class GrowthSampler
{
    private static final long LEAST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    /** Of the time that sampling takes: so it costs a tenth of all time at most. */
    private static final int PAUSES_PER_LOOK = 9;
    private static final double NS_PER_S = 1e9;
    private static final String LINE = "cluster_beside_registers";

    private final KvTable table;
    private final NanoClock clock;
    private final long startNs;
    private final AtomicLong done = new AtomicLong();
    private final List<GrowthSample> samples = new ArrayList<>();
    private long pauseNs = LEAST_PAUSE_NS;
    private long lastNs;
    private long lastDone;

    GrowthSampler(final KvTable table, final NanoClock clock)
    {
        this.table = table;
        this.clock = clock;
        startNs = clock.nanoTime();
        lastNs = startNs;
    }

    /** An operation has ended. Any thread. */
    void onDone()
    {
        done.incrementAndGet();
    }

    boolean isDue()
    {
        return clock.nanoTime() - lastNs >= pauseNs;
    }

    /** @return the number of subtables now, noted with the rate of operations since the sample before. */
    long take()
    {
        final long nowNs = clock.nanoTime();
        final long nowDone = done.get();
        final TableStat stat = table.stat();
        samples.add(new GrowthSample(LINE, (nowNs - startNs) / NS_PER_S, stat.records(), (int)stat.subtables(),
            (nowDone - lastDone) * NS_PER_S / Math.max(1, nowNs - lastNs)));
        lastNs = clock.nanoTime();
        lastDone = done.get();
        pauseNs = Math.max(LEAST_PAUSE_NS, PAUSES_PER_LOOK * (lastNs - nowNs));
        return stat.subtables();
    }

    long pauseNs()
    {
        return pauseNs;
    }

    List<GrowthSample> samples()
    {
        return List.copyOf(samples);
    }
}
