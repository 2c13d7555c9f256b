package io.verbena.load.demo;

import org.HdrHistogram.Histogram;

import java.util.Map;

/**
 * Latency of one kind of operation, in nanoseconds.
 */
record LatencyFigures(YcsbOperation operation, long count, long p50Ns, long p99Ns, long p999Ns, long maxNs)
{
    static LatencyFigures of(final YcsbOperation operation, final Histogram histogram)
    {
        return new LatencyFigures(
            operation,
            histogram.getTotalCount(),
            histogram.getValueAtPercentile(50),
            histogram.getValueAtPercentile(99),
            histogram.getValueAtPercentile(99.9),
            histogram.getMaxValue());
    }

    void addTo(final Map<String, Object> figures)
    {
        final String name = operation.figureName();
        figures.put(name + "_count", count);
        figures.put(name + "_p50_ns", p50Ns);
        figures.put(name + "_p99_ns", p99Ns);
        figures.put(name + "_p999_ns", p999Ns);
        figures.put(name + "_max_ns", maxNs);
    }
}
