package io.verbena.server;

import io.verbena.compute.figures.OperationFigures;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What is asked of a compute node, other than what it uses: as sums since its process began, so that each reader forms
 * rates over a time of its own. Stateless.
 */
final class DemandFigures
{
    /** Name in the figures of the health endpoint. */
    static final String NAME = "demand";
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);

    private DemandFigures()
    {
    }

    /** @return the figures at a time, as {@code docs/metrics.md} describes them. */
    static Map<String, Object> of(
        final long nowNs, final OperationFigures operations, final EngineLoad load, final int slots)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("time_ns", nowNs);
        figures.put("operations", operations.answeredCount());
        figures.put("busy_ns", load.busyNs());
        figures.put("processor_ns", load.processorNs());
        figures.put("slots", slots);
        figures.put("slot_ns", operations.totalNs());
        figures.put("wait_ns", operations.totalWaitNs());
        figures.put("wait_counts", list(operations.waitCounts()));
        figures.put("response_counts", list(operations.responseCounts()));
        return figures;
    }

    private static List<Long> list(final long[] counts)
    {
        return Arrays.stream(counts).boxed().toList();
    }

    static void measure(
        final OperationFigures operations, final EngineLoad load, final int slots, final Measurements measurements)
    {
        measurements.set(Metric.ENGINE_BUSY, load.busyNs() / NS_PER_S);
        measurements.set(Metric.ENGINE_PROCESSOR, Math.max(0, load.processorNs()) / NS_PER_S);
        measurements.set(Metric.OPERATION_SLOTS, slots);
        ComputeMeasurements.measure(
            Metric.QUEUE_WAIT, operations.waitCounts(), operations.totalWaitNs(), measurements);
        ComputeMeasurements.measure(
            Metric.RESPONSE, operations.responseCounts(), operations.totalResponseNs(), measurements);
    }
}
