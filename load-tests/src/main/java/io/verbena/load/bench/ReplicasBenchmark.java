package io.verbena.load.bench;

import io.verbena.load.bench.ReplicasRig.Measured;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import org.agrona.concurrent.NanoClock;

/**
 * What operations take on tables with one, two and three copies: one engine, the soft fabric, all in one process, in
 * turn. Records have 16-byte keys and 100-byte values. Used once, by one thread.
 */
public final class ReplicasBenchmark
{
    /** Records of which the goals speak. */
    public static final int FULL_RECORDS = 50_000;
    /** Fewest records. */
    public static final int MIN_RECORDS = 100;
    private static final int MAX_COPIES = 3;
    private static final int ROUNDS = 3;
    private static final int WORKLOAD_ROUNDS = 41;
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final double MEDIAN = 0.5;
    private static final double P99 = 0.99;
    /** Of the rate with three copies to that with one. */
    private static final Map<String, Double> GOALS = Map.of("ycsb_a", 0.4, "ycsb_c", 0.95);

    private final int records;
    private final NanoClock clock;
    private final Map<String, List<List<Measured>>> measured = new LinkedHashMap<>();

    /**
     * @param records {@link #MIN_RECORDS} to {@link #FULL_RECORDS}; as many operations of a kind are measured in each
     *                round.
     * @param clock   that measures.
     */
    public ReplicasBenchmark(final int records, final NanoClock clock)
    {
        this.records = records;
        this.clock = clock;
    }

    /** @return a row for each kind of operation and each number of copies. */
    public List<ReplicasRow> run() throws IOException
    {
        final List<ReplicasRig> rigs = new ArrayList<>();
        try
        {
            for (int copies = 1; copies <= MAX_COPIES; copies++)
            {
                rigs.add(new ReplicasRig(copies, records, records, ROUNDS, clock));
            }
            for (int round = 0; round < ROUNDS; round++)
            {
                for (int rig = 0; rig < rigs.size(); rig++)
                {
                    measure(rigs.get(rig), rig);
                }
            }
            // Both are judged, and one round takes some hundredths of a second: less than others may disturb.
            for (int round = ROUNDS; round < WORKLOAD_ROUNDS; round++)
            {
                for (int rig = 0; rig < rigs.size(); rig++)
                {
                    measureWorkloads(rigs.get(rig), rig);
                }
            }
        }
        finally
        {
            rigs.forEach(ReplicasRig::close);
        }
        final List<ReplicasRow> rows = new ArrayList<>();
        measured.forEach((operation, byCopies) -> rows.addAll(rows(operation, byCopies)));
        return rows;
    }

    private void measure(final ReplicasRig rig, final int at)
    {
        add("get", at, rig.get(records));
        add("put", at, rig.put(records));
        add("update", at, rig.update(records));
        add("insert", at, rig.insert(records));
        measureWorkloads(rig, at);
    }

    private void measureWorkloads(final ReplicasRig rig, final int at)
    {
        add("ycsb_a", at, rig.workload(true, records));
        add("ycsb_c", at, rig.workload(false, records));
    }

    private void add(final String operation, final int at, final Measured one)
    {
        final List<List<Measured>> byCopies = measured.computeIfAbsent(operation, (_) -> new ArrayList<>());
        while (byCopies.size() <= at)
        {
            byCopies.add(new ArrayList<>());
        }
        byCopies.get(at).add(one);
    }

    private static List<ReplicasRow> rows(final String operation, final List<List<Measured>> byCopies)
    {
        final List<ReplicasRow> rows = new ArrayList<>();
        final double oneCopyNs = medianNs(byCopies.getFirst());
        for (int at = 0; at < byCopies.size(); at++)
        {
            final List<Measured> rounds = byCopies.get(at);
            final long[] tookNs =
                rounds.stream().flatMapToLong((one) -> Arrays.stream(one.tookNs())).sorted().toArray();
            rows.add(new ReplicasRow(operation, at + 1, NS_PER_S / medianNs(rounds), quantile(tookNs, MEDIAN),
                quantile(tookNs, P99), mean(rounds, Measured::verbs), mean(rounds, Measured::payloadBytes),
                oneCopyNs / medianNs(rounds),
                MAX_COPIES == at + 1 ? GOALS.getOrDefault(operation, Double.NaN) : Double.NaN));
        }
        return rows;
    }

    /** Of the rounds. */
    private static double medianNs(final List<Measured> rounds)
    {
        return rounds.stream().mapToDouble(Measured::elapsedNs).sorted().skip(rounds.size() / 2).findFirst()
            .orElseThrow();
    }

    private static double mean(final List<Measured> rounds, final ToDoubleFunction<Measured> figure)
    {
        return rounds.stream().mapToDouble(figure).average().orElseThrow();
    }

    private static double quantile(final long[] sorted, final double fraction)
    {
        return 0 == sorted.length ? Double.NaN : sorted[(int)Math.min(sorted.length - 1L, (long)(fraction *
            sorted.length))];
    }
}
