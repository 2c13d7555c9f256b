package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.PolicySimulation;
import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.autoscale.policy.Traces;
import io.verbena.cli.cluster.ClusterFolder;
import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.TemporaryCluster;
import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** What {@code bench autoscale} measures. Used once, by one thread. */
final class AutoscaleBenchmark
{
    private static final int KEYS = 1_000;
    private static final int VALUE_BYTES = 16 << 10;
    private static final int MEMORY_MIB = 64;
    private static final double PROCESSORS = 0.2;
    private static final long PERIOD_MS = 500;
    private static final int FACTOR = 4;
    private static final int JOINS = 5;
    /** So many that the second node is asked within 4 ms: less, and the wait for somebody who asks is measured. */
    private static final double JOIN_RATE = 500;
    private static final double LIGHT_RATE = 500;
    private static final double FIRST_RATE = 500;
    /** Until compilers have done with the paths of a GET, and before there is a quota. */
    private static final double WARM_RATE = 4_000;
    private static final long WARM_MS = 5_000;
    private static final double MOST_RATE = 100_000;
    /** Part of its time that the one node works before the load grows. */
    private static final double USE = 0.35;
    private static final long SETTLE_MS = 2_000;
    private static final long REST_MS = 8_000;
    private static final long FALL_MS = 30_000;
    /** Recovered is who stays so for that long. */
    private static final int CALM_WINDOWS = 12;
    private static final int P99_WINDOWS = 4;
    private static final double WINDOW_S = OpenLoad.WINDOW_NS / 1e9;

    /**
     * A figure with its goal.
     *
     * @param value measured; NaN where it could not be.
     * @param most  that it may be.
     */
    record Figure(String name, double value, double most, String note)
    {
        boolean isJudged()
        {
            return !Double.isNaN(value);
        }

        boolean isReached()
        {
            return !isJudged() || value <= most;
        }
    }

    /** What can be measured by itself. */
    enum Part
    {
        /** The policy alone, on loads of a day. */
        POLICY,
        /** Joining from spares. */
        JOINS,
        /** A load that becomes four times as large. */
        QUADRUPLE
    }

    private final Set<Part> parts;
    private final int spares;
    private final int seconds;
    private final Consumer<String> progress;
    private final NanoClock clock;
    private final EpochClock wallClock;
    private final List<Figure> figures = new ArrayList<>();
    private final Map<String, Object> details = new LinkedHashMap<>();
    private String plot = "";

    AutoscaleBenchmark(
        final Set<Part> parts, final int spares, final int seconds, final Consumer<String> progress,
        final NanoClock clock, final EpochClock wallClock)
    {
        this.parts = parts;
        this.spares = spares;
        this.seconds = seconds;
        this.progress = progress;
        this.clock = clock;
        this.wallClock = wallClock;
    }

    List<Figure> run() throws InterruptedException
    {
        if (parts.contains(Part.POLICY))
        {
            policy();
        }
        if (parts.equals(Set.of(Part.POLICY)))
        {
            return figures;
        }
        try (TemporaryCluster temporary = TemporaryCluster.create("verbena-bench-autoscale-"))
        {
            try (LocalCluster cluster = temporary.open())
            {
                // Without its lock: the autoscaler takes that for each change.
                cluster.up(LocalCluster.ANY_PORT, 1, MEMORY_MIB, 1, (line) -> {});
            }
            try
            {
                load(temporary.folder());
            }
            finally
            {
                temporary.end();
            }
        }
        return figures;
    }

    private void policy()
    {
        progress.accept("the policy, on loads of a day");
        final ScaleLimits limits = new ScaleLimits(1, 30, 0.6, 0, 4_000, 120_000, 4, 10_000);
        figures.add(new Figure("node-seconds / oracle, a wave a day", new PolicySimulation(limits, 1)
            .run(Traces.diurnal(12), 3 * Traces.DAY_MS).costOfOracle(), 1.2, ""));
        figures.add(new Figure("node-seconds / oracle, spikes of 15 min", new PolicySimulation(limits, 1)
            .run(Traces.spikes(0.3, 4.8, Traces.HOUR_MS, 15 * Traces.MINUTE_MS), Traces.DAY_MS).costOfOracle(), 1.2,
            ""));
        figures.add(new Figure("node-seconds / oracle, spikes of 5 min", new PolicySimulation(limits, 1)
            .run(Traces.spikes(0.3, 4.8, Traces.HOUR_MS / 2, 5 * Traces.MINUTE_MS), Traces.DAY_MS).costOfOracle(), 1.2,
            ""));
        long reverted = 0;
        final int hours = 120;
        for (int hour = 0; hour < hours; hour++)
        {
            reverted += new PolicySimulation(limits, 1 + hour % 20).run(Traces.noisy(
                Traces.constant(0.2 + 8.2 * hour / hours), hour % 2 == 0 ? 0.1 : 0.2, hour), Traces.HOUR_MS)
                .reverted(2 * Traces.MINUTE_MS);
        }
        figures.add(new Figure("decisions reverted in 2 min, 120 h of noise", reverted, 0, ""));
    }

    private void load(final ClusterFolder folder) throws InterruptedException
    {
        try (KvClient client = KvClient.connect(folder.address(), new KvClientOptions().tokenFile(folder.token())
            .timeout(Duration.ofSeconds(20)).completionExecutor(Runnable::run)))
        {
            final KvTable table = client.createTable("bench", new TableOptions(KEYS));
            for (int i = 0; i < KEYS; i++)
            {
                table.put(OpenLoad.key(i), new byte[VALUE_BYTES]);
            }
            long failed;
            try (OpenLoad load = new OpenLoad(table, KEYS, clock);
                AutoscaleRun run = new AutoscaleRun(folder, load, clock, wallClock))
            {
                if (parts.contains(Part.JOINS))
                {
                    joins(load, run);
                }
                if (parts.contains(Part.QUADRUPLE))
                {
                    quadruple(load, run);
                }
                failed = load.failures();
                figures.add(new Figure("requests that were refused and sent again", run.refused(), 0, ""));
                figures.add(new Figure("operations that failed", failed, 0, load.firstFailure()));
            }
        }
    }

    /**
     * One spare after the other joins the one node that serves, and is ended again, under a light load: more nodes that
     * serve than processors would have each step wait for a processor.
     */
    private void joins(final OpenLoad load, final AutoscaleRun run) throws InterruptedException
    {
        progress.accept("joining from spares, " + JOINS + " times, under " + (int)JOIN_RATE + " operations/s");
        // The client, and the node that serves alone, are compiled before anything is measured, as they are in use.
        load.rate(WARM_RATE);
        run.awaitSpares(JOINS);
        Thread.sleep(WARM_MS);
        load.rate(JOIN_RATE);
        awaitWarmUp(run);
        for (int i = 0; i < JOINS; i++)
        {
            Thread.sleep(SETTLE_MS);
            run.fleet().observe();
            run.resize(2, (line) -> {});
            Thread.sleep(SETTLE_MS / 2);
            run.noteJoins();
            run.resize(1, (line) -> {});
        }
        final List<Double> all = new ArrayList<>(run.joinsMs());
        Collections.sort(all);
        details.put("joins_ms", all);
        details.put("join_steps", List.copyOf(run.joinSteps()));
        run.joinSteps().forEach(progress);
        figures.add(new Figure("joining from spares, decision to first request, ms",
            all.isEmpty() ? Double.POSITIVE_INFINITY : all.get(all.size() / 2), 20,
            "median of " + all.size() + "; longest " + (all.isEmpty() ? "none" :
                String.format(Locale.ROOT, "%.1f", all.getLast()))));
        run.joinsMs().clear();
        run.joinSteps().clear();
    }

    private void awaitWarmUp(final AutoscaleRun run) throws InterruptedException
    {
        progress.accept(String.format(Locale.ROOT, "all spares are ready; their warm-up ended %.1f s later",
            run.awaitWarmUp() / 1e3));
    }

    private void quadruple(final OpenLoad load, final AutoscaleRun run) throws InterruptedException
    {
        final String goal = "p99 back to twice the one before, s";
        try (CpuQuota quota = CpuQuota.open(PROCESSORS, Files.readAllLines(Path.of("/proc/mounts"))))
        {
            load.rate(WARM_RATE);
            Thread.sleep(WARM_MS);
            run.limitBy(quota);
            quadruple(load, run, goal);
            run.stopLimits();
        }
        catch (final IOException ex)
        {
            figures.add(new Figure(goal, Double.NaN, 0, "no quota of " + PROCESSORS + " processors: " +
                ex.getMessage()));
            progress.accept("not judged: no quota of " + PROCESSORS + " processors: " + ex.getMessage());
        }
    }

    private void quadruple(final OpenLoad load, final AutoscaleRun run, final String goal) throws InterruptedException
    {
        load.rate(LIGHT_RATE);
        progress.accept("each node has " + PROCESSORS + " processors; starting " + spares + " spares");
        final double startMs = run.awaitSpares(spares) / spares;
        awaitWarmUp(run);
        final double rate = calibrate(load, run);
        final ScaleLimits limits = new ScaleLimits(1, 1 + spares + 2, 0.6, 0, 1_000, 15_000, 4, 2_000);
        progress.accept(String.format(Locale.ROOT, "a node starts in %.1f s; %,.0f operations/s for %d s, then %d " +
            "times as many for %d s, then as before", startMs / 1e3, rate, REST_MS / 1_000, FACTOR, seconds));
        final int from = load.window();
        run.nodes().clear();
        run.autoscale(limits, PERIOD_MS, spares, REST_MS, (record) -> false);
        final int step = load.window();
        load.rate(FACTOR * rate);
        run.autoscale(limits, PERIOD_MS, spares, seconds * 1_000L, (record) -> false);
        final int fall = load.window();
        load.rate(rate);
        run.autoscale(limits, PERIOD_MS, spares, FALL_MS, (record) -> 1 == record.decision().toNodes());
        Thread.sleep(SETTLE_MS);
        final int end = load.window();
        final double before = load.p99Us(from, step);
        final double recoveredS = recoveredS(load, step, fall, 2 * before);
        figures.add(new Figure(goal, recoveredS, startMs / 1e3 + PERIOD_MS / 1e3, String.format(Locale.ROOT,
            "p99 was %.1f ms; goal: a start of %.1f s and a period", before / 1e3, startMs / 1e3)));
        details.put("start_ms", startMs);
        details.put("rate", rate);
        details.put("p99_before_us", before);
        details.put("joins_under_quota_ms", List.copyOf(run.joinsMs()));
        details.put("decisions", List.copyOf(run.decisions()));
        details.put("join_steps_under_quota", List.copyOf(run.joinSteps()));
        run.decisions().forEach(progress);
        run.joinSteps().forEach(progress);
        draw(load, run, from, end, 2 * before);
    }

    /** A rate at which the one node works for {@link #USE}. */
    private double calibrate(final OpenLoad load, final AutoscaleRun run) throws InterruptedException
    {
        final DemandMeter meter = new DemandMeter();
        double rate = FIRST_RATE;
        while (true)
        {
            load.rate(rate);
            Thread.sleep(SETTLE_MS / 2);
            meter.begin(run.fleet().observe().samples());
            Thread.sleep(SETTLE_MS);
            final double use = meter.measure(run.fleet().observe().samples()).useNodes();
            if (use >= 0.8 * USE || rate >= MOST_RATE)
            {
                final double first = rate * USE / Math.max(USE / 2, use);
                load.rate(first);
                Thread.sleep(SETTLE_MS);
                return first;
            }
            rate *= Math.clamp(USE / Math.max(0.05, use), 1.2, 2);
        }
    }

    /** Seconds from the step until the 99th percentile of a second is below the limit and stays there. */
    private static double recoveredS(final OpenLoad load, final int step, final int fall, final double mostUs)
    {
        int calm = 0;
        for (int window = step + P99_WINDOWS; window < fall; window++)
        {
            final double p99Us = load.p99Us(window - P99_WINDOWS, window);
            calm = p99Us > 0 && p99Us <= mostUs ? calm + 1 : 0;
            if (CALM_WINDOWS == calm)
            {
                return (window - calm + 1 - step) * WINDOW_S;
            }
        }
        return Double.POSITIVE_INFINITY;
    }

    private void draw(
        final OpenLoad load, final AutoscaleRun run, final int from, final int end, final double goalUs)
    {
        final List<Double> rates = IntStream.range(from, end).mapToObj(load::askedPerSecond).toList();
        final List<Double> p99s = IntStream.range(from, end).mapToObj(
            (window) -> load.p99Us(Math.max(from, window - 1), window + 1) / 1e3).toList();
        final List<Double> nodes = new ArrayList<>();
        double count = 1;
        for (int window = from; window < end; window++)
        {
            for (final AutoscaleRun.Nodes each : run.nodes())
            {
                count = each.window() <= window ? each.count() : count;
            }
            nodes.add(count);
        }
        details.put("window_s", WINDOW_S);
        details.put("operations_per_second", rates);
        details.put("p99_ms", p99s);
        details.put("nodes", nodes);
        plot = AutoscalePlot.of("A load becomes four times as large; each compute node has a fifth of a processor",
            WINDOW_S, rates, nodes, p99s, goalUs / 1e3);
    }

    Map<String, Object> details()
    {
        return details;
    }

    /** @return the run as SVG; empty when it was not judged. */
    String plot()
    {
        return plot;
    }
}
