package io.verbena.cli.bench;

import io.verbena.client.KvTable;
import io.verbena.load.bench.RedisServer;

import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * GETs of this store and of a Redis on the same host, in turns, so that both meet the same machine, and placed in the
 * same ways: what a GET of Redis takes depends on whether both ends are on one processor, where the kernel only
 * switches between them, or on two, where it has to wake one that sleeps. While Redis is asked, the compute node, which
 * would keep a processor busy, is paused. Used once, by one thread.
 */
final class GetComparison
{
    private static final int ROUNDS = 10;
    private static final long MAX_ROUND_NS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final int ANY = -1;

    /** One GET. */
    private interface Get
    {
        Object run() throws IOException;
    }

    /** One store in one placement, with what each round took. */
    private static final class Series
    {
        final String name;
        final Get get;
        final boolean isRedis;
        final boolean polls;
        final int own;
        final int theirs;
        final List<Long> medians = new ArrayList<>();
        final List<Long> tails = new ArrayList<>();

        Series(
            final String name, final Get get, final boolean isRedis, final boolean polls, final int own,
            final int theirs)
        {
            this.name = name;
            this.get = get;
            this.isRedis = isRedis;
            this.polls = polls;
            this.own = own;
            this.theirs = theirs;
        }

        long median()
        {
            return medians.stream().sorted().skip((medians.size() - 1) / 2).findFirst().orElseThrow();
        }

        void addTo(final Map<String, Object> row)
        {
            row.put(name + "_p50_ns", median());
            row.put(name + "_p99_ns", tails.stream().sorted().skip((tails.size() - 1) / 2).findFirst().orElseThrow());
            row.put(name + "_rounds_p50_ns", List.copyOf(medians));
        }
    }

    private final int operationsPerRound;
    private final NanoClock clock;
    private final ProcessorPlaces places;
    private final long computeProcess;
    private final RedisServer redis;
    private final long[] elapsedNs;
    private final List<Series> all = new ArrayList<>();

    /**
     * @param operations     of each series, in all rounds; fewer where a round would take too long.
     * @param computeProcess of the only compute node.
     * @param redis          to compare with, has the key; or null.
     */
    GetComparison(
        final int operations, final KvTable table, final byte[] key, final long computeProcess,
        final RedisServer redis, final ProcessorPlaces places, final NanoClock clock)
    {
        operationsPerRound = Math.max(1, operations / ROUNDS);
        elapsedNs = new long[operationsPerRound];
        this.clock = clock;
        this.places = places;
        this.computeProcess = computeProcess;
        this.redis = redis;
        final Get own = () -> table.get(key).orElseThrow();
        all.add(new Series("get", own, false, true, ANY, ANY));
        if (places.hasChoice())
        {
            all.add(new Series("get_two_processors", own, false, true, 0, 1));
        }
        if (null != redis)
        {
            addRedis(() -> redis.get(key));
        }
    }

    private void addRedis(final Get get)
    {
        all.add(new Series("redis_get", get, true, false, ANY, ANY));
        if (places.hasChoice())
        {
            all.add(new Series("redis_get_one_processor", get, true, false, 0, 0));
            all.add(new Series("redis_get_two_processors", get, true, false, 0, 1));
            all.add(new Series("redis_get_two_processors_polling", get, true, true, 0, 1));
        }
    }

    /** Measures; what it finds is added to a row of figures. */
    void run(final Map<String, Object> row) throws InterruptedException, IOException
    {
        for (final Series series : all)
        {
            round(series); // compiles
            series.medians.clear();
            series.tails.clear();
        }
        for (int i = 0; i < ROUNDS; i++)
        {
            for (final Series series : all)
            {
                round(series);
            }
        }
        row.put("rounds_count", ROUNDS);
        all.forEach((series) -> series.addTo(row));
    }

    /** Least median of any placement; of Redis, or of this store. */
    long quickestNs(final boolean isRedis)
    {
        return all.stream().filter((series) -> isRedis == series.isRedis).mapToLong(Series::median).min().orElseThrow();
    }

    /** Median of each series in microseconds. */
    Map<String, Double> mediansUs()
    {
        final Map<String, Double> medians = new LinkedHashMap<>();
        all.forEach((series) -> medians.put(series.name, series.median() / 1_000.0));
        return medians;
    }

    private void round(final Series series) throws InterruptedException, IOException
    {
        final List<Long> others = series.isRedis ? ProcessorPlaces.threads(redis.process(), "") :
            ProcessorPlaces.threads(computeProcess, "verbena-compute");
        places.place(others, series.own, series.theirs);
        try
        {
            if (series.isRedis)
            {
                roundOfRedis(series);
            }
            else
            {
                measure(series);
            }
        }
        finally
        {
            places.place(others, ANY, ANY);
        }
    }

    private void roundOfRedis(final Series series) throws InterruptedException, IOException
    {
        ProcessorPlaces.pause(computeProcess, true);
        redis.polls(series.polls);
        try
        {
            measure(series);
        }
        finally
        {
            redis.polls(false);
            ProcessorPlaces.pause(computeProcess, false);
        }
    }

    private void measure(final Series series) throws IOException
    {
        final long untilNs = clock.nanoTime() + MAX_ROUND_NS;
        series.get.run(); // the first one after a pause, or on another processor
        int count = 0;
        long nowNs = clock.nanoTime();
        while (count < operationsPerRound && nowNs - untilNs < 0)
        {
            series.get.run();
            final long endNs = clock.nanoTime();
            elapsedNs[count++] = endNs - nowNs;
            nowNs = endNs;
        }
        final int measured = Math.max(1, count);
        Arrays.sort(elapsedNs, 0, measured);
        series.medians.add(elapsedNs[(measured - 1) / 2]);
        series.tails.add(elapsedNs[(int)((measured - 1L) * 99 / 100)]);
    }
}
