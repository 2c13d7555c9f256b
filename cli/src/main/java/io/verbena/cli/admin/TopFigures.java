package io.verbena.cli.admin;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * What the compute nodes of a cluster did between two samples of its processes: rates, and times by kind of operation.
 * Stateless.
 */
final class TopFigures
{
    /** Answers that mean that the store, not the caller, is at fault. */
    static final Set<String> FAILURES =
        Set.of("timed_out", "outcome_unknown", "unreachable", "no_memory", "table_full", "corrupt");
    /** They read many slots each: a node's times are without them, as those of the dashboard. */
    private static final Set<String> LONG_KINDS = Set.of("scan", "count");
    private static final int BUCKETS = 26;
    private static final String DEMAND = "demand";
    private static final double HALF = 0.5;
    private static final double P99 = 0.99;
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);

    /** What was counted between two samples of one kind. */
    private static final class Count
    {
        private final long[] durations = new long[BUCKETS];
        private long operations;
        private long failures;

        /** A process that has begun anew counts from 0, as one that was not in the sample before. */
        private void add(final Map<?, ?> now, final Map<?, ?> before)
        {
            addAnswers(now, before);
            addDurations(list(now.get("durations")), list(before.get("durations")));
        }

        private void addAnswers(final Map<?, ?> now, final Map<?, ?> before)
        {
            map(now.get("answers")).forEach((answer, number) ->
            {
                final long more = Math.max(0, (Long)number - number(map(before.get("answers")).get(answer)));
                operations += more;
                failures += FAILURES.contains(answer.toString()) ? more : 0;
            });
        }

        private void addDurations(final List<?> counts, final List<?> old)
        {
            for (int i = 0; i < Math.min(BUCKETS, counts.size()); i++)
            {
                durations[i] += Math.max(0, number(counts.get(i)) - (i < old.size() ? number(old.get(i)) : 0));
            }
        }
    }

    private TopFigures()
    {
    }

    /**
     * Compares two samples.
     *
     * @param before    processes, each with {@code name}, {@code pid}, {@code live} and {@code health}.
     * @param now       the same later.
     * @param elapsedNs between the two, more than 0.
     * @return figures in the order to show them: {@code operations_per_s}, {@code failed_per_s}, {@code kinds},
     * {@code nodes}, {@code errors}, {@code warnings}, and {@code seconds} between the two.
     */
    static Map<String, Object> between(
        final List<Map<String, Object>> before, final List<Map<String, Object>> now, final long elapsedNs)
    {
        final double seconds = elapsedNs / NS_PER_S;
        final Map<String, Count> kinds = new TreeMap<>();
        final List<Map<String, Object>> nodes = new ArrayList<>();
        for (final Map<String, Object> process : now)
        {
            final Map<?, ?> health = map(process.get("health"));
            if ("compute-node".equals(health.get("role")))
            {
                final Map<?, ?> old = healthBefore(before, process);
                final Count sum = new Count();
                map(health.get("kinds")).forEach((kind, figures) ->
                {
                    // A node that did not answer before has counted for nobody knows how long.
                    if (null != old)
                    {
                        final Map<?, ?> then = map(map(old.get("kinds")).get(kind));
                        kinds.computeIfAbsent(kind.toString(), (_) -> new Count()).add(map(figures), then);
                        sum.addAnswers(map(figures), then);
                        if (!LONG_KINDS.contains(kind.toString()))
                        {
                            sum.addDurations(list(map(figures).get("durations")), list(then.get("durations")));
                        }
                    }
                });
                final Map<String, Object> node = node(process, health, sum, seconds);
                putDemand(node, map(health.get(DEMAND)), map(map(old).get(DEMAND)));
                nodes.add(node);
            }
        }
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("seconds", seconds);
        figures.put("operations_per_s", kinds.values().stream().mapToLong((each) -> each.operations).sum() / seconds);
        figures.put("failed_per_s", kinds.values().stream().mapToLong((each) -> each.failures).sum() / seconds);
        figures.put("kinds", kinds.entrySet().stream().map((each) -> kind(each.getKey(), each.getValue(), seconds))
            .toList());
        figures.put("nodes", nodes);
        figures.put("errors", now.stream().flatMap((process) -> StatusFaults.of(process).stream()).toList());
        figures.put("warnings", now.stream().flatMap((process) -> StatusLimits.warnings(process).stream()).toList());
        return figures;
    }

    /** @return the figures of the same process, null when it did not answer before or is another one. */
    private static Map<?, ?> healthBefore(final List<Map<String, Object>> before, final Map<String, Object> process)
    {
        return before.stream().filter((each) -> each.get("pid").equals(process.get("pid")))
            .map((each) -> each.get("health")).filter(Map.class::isInstance).map(Map.class::cast).findFirst()
            .orElse(null);
    }

    private static Map<String, Object> node(
        final Map<String, Object> process, final Map<?, ?> health, final Count sum, final double seconds)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("name", process.get("name"));
        figures.put("operations_per_s", sum.operations / seconds);
        figures.put("failed_per_s", sum.failures / seconds);
        figures.put("median_us", percentileUs(sum.durations, HALF));
        figures.put("p99_us", percentileUs(sum.durations, P99));
        figures.put("clients", health.get("clients"));
        figures.put("held_bytes", health.get("held_bytes"));
        return figures;
    }

    /** By the node's own clock: it may have answered later than others. Null where it was not known before. */
    private static void putDemand(final Map<String, Object> figures, final Map<?, ?> now, final Map<?, ?> before)
    {
        final long elapsedNs = number(now.get("time_ns")) - number(before.get("time_ns"));
        final boolean isKnown = !before.isEmpty() && elapsedNs > 0;
        final Count waits = new Count();
        waits.addDurations(list(now.get("wait_counts")), list(before.get("wait_counts")));
        figures.put("busy_share", isKnown ? Math.clamp(
            (number(now.get("busy_ns")) - number(before.get("busy_ns"))) / (double)elapsedNs, 0.0, 1.0) : null);
        figures.put("queued_p99_us", isKnown ? percentileUs(waits.durations, P99) : null);
    }

    private static Map<String, Object> kind(final String kind, final Count count, final double seconds)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("kind", kind);
        figures.put("operations_per_s", count.operations / seconds);
        figures.put("failed_per_s", count.failures / seconds);
        figures.put("median_us", percentileUs(count.durations, HALF));
        figures.put("p99_us", percentileUs(count.durations, P99));
        return figures;
    }

    /**
     * Where a fraction of a distribution lies.
     *
     * @param counts   element i of what took at most 2^i us, and longer than the element before.
     * @param fraction of them, 0 to 1.
     * @return microseconds, interpolated in the logarithm; null when there are none.
     */
    static Double percentileUs(final long[] counts, final double fraction)
    {
        final double wanted = fraction * Arrays.stream(counts).sum();
        double below = 0;
        for (int i = 0; i < counts.length; i++)
        {
            if (counts[i] > 0 && below + counts[i] >= wanted)
            {
                return Math.pow(2, i - 1 + (wanted - below) / counts[i]);
            }
            below += counts[i];
        }
        return null;
    }

    private static Map<?, ?> map(final Object value)
    {
        return value instanceof final Map<?, ?> map ? map : Map.of();
    }

    private static List<?> list(final Object value)
    {
        return value instanceof final List<?> list ? list : List.of();
    }

    private static long number(final Object value)
    {
        return value instanceof final Long number ? number : 0;
    }
}
