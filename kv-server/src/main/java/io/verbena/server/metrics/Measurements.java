package io.verbena.server.metrics;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What a process measures of itself for one scrape: values of metrics of the catalogue. Used by one thread. */
public final class Measurements
{
    private static final String TOTAL = "_total";

    private record Value(Labels labels, double value, ClassicHistogramBuckets buckets)
    {
    }

    private final Map<Metric, List<Value>> values = new EnumMap<>(Metric.class);

    /**
     * Notes a value.
     *
     * @param metric      a counter or gauge, each set of label values once.
     * @param value       in the metric's unit.
     * @param labelValues in the order of {@link Metric#labels()}.
     */
    public void set(final Metric metric, final double value, final String... labelValues)
    {
        if (Metric.Kind.HISTOGRAM == metric.kind())
        {
            throw new IllegalArgumentException(metric + " is a histogram");
        }
        add(metric, value, null, labelValues);
    }

    /**
     * Notes a histogram.
     *
     * @param metric      a histogram.
     * @param bounds      upper bounds in the metric's unit, ascending, the last one positive infinity.
     * @param counts      of what is above the bound before and not above its own.
     * @param sum         of all, in the metric's unit.
     * @param labelValues in the order of {@link Metric#labels()}.
     */
    public void setHistogram(
        final Metric metric, final double[] bounds, final long[] counts, final double sum,
        final String... labelValues)
    {
        if (Metric.Kind.HISTOGRAM != metric.kind())
        {
            throw new IllegalArgumentException(metric + " is no histogram");
        }
        add(metric, sum, ClassicHistogramBuckets.of(bounds, counts), labelValues);
    }

    private void add(
        final Metric metric, final double value, final ClassicHistogramBuckets buckets, final String... labelValues)
    {
        final Labels labels = Labels.of(metric.labels(), List.of(labelValues));
        values.computeIfAbsent(metric, (_) -> new ArrayList<>()).add(new Value(labels, value, buckets));
    }

    /** @return all of them, in the order of the catalogue. */
    MetricSnapshots snapshots()
    {
        return new MetricSnapshots(values.entrySet().stream()
            .map((entry) -> snapshot(entry.getKey(), entry.getValue())).toArray(MetricSnapshot[]::new));
    }

    private static MetricSnapshot snapshot(final Metric metric, final List<Value> values)
    {
        return switch (metric.kind())
        {
            case COUNTER -> counter(metric, values);
            case GAUGE -> gauge(metric, values);
            case HISTOGRAM -> histogram(metric, values);
        };
    }

    private static MetricSnapshot counter(final Metric metric, final List<Value> values)
    {
        final String name = metric.exposedName();
        final CounterSnapshot.Builder snapshot = CounterSnapshot.builder()
            .name(name.substring(0, name.length() - TOTAL.length())).help(metric.help());
        values.forEach((each) -> snapshot.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
            .labels(each.labels()).value(each.value()).build()));
        return snapshot.build();
    }

    private static MetricSnapshot gauge(final Metric metric, final List<Value> values)
    {
        final GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder().name(metric.exposedName()).help(metric.help());
        values.forEach((each) -> snapshot.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
            .labels(each.labels()).value(each.value()).build()));
        return snapshot.build();
    }

    private static MetricSnapshot histogram(final Metric metric, final List<Value> values)
    {
        final HistogramSnapshot.Builder snapshot =
            HistogramSnapshot.builder().name(metric.exposedName()).help(metric.help());
        values.forEach((each) -> snapshot.dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
            .labels(each.labels()).classicHistogramBuckets(each.buckets()).sum(each.value()).build()));
        return snapshot.build();
    }
}
