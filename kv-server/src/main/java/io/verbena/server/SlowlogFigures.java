package io.verbena.server;

import io.verbena.compute.figures.OperationTraces;
import io.verbena.compute.figures.TracedOperation;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The slow operations of a compute node, as {@code GET /slowlog} answers. Stateless. */
final class SlowlogFigures
{
    private static final double NS_PER_US = TimeUnit.MICROSECONDS.toNanos(1);

    private SlowlogFigures()
    {
    }

    /** @return the figures, as {@code docs/slowlog.md} describes them. */
    static Map<String, Object> of(final OperationTraces traces)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("threshold_us",
            OperationTraces.NEVER == traces.thresholdNs() ? -1L : TimeUnit.NANOSECONDS.toMicros(traces.thresholdNs()));
        figures.put("sample_one_in", OperationTraces.NEVER == traces.oneIn() ? 0L : traces.oneIn());
        figures.put("slow_operations", traces.slowCount());
        figures.put("slow", slow(traces));
        figures.put("sampled", list(traces.sampled()));
        return figures;
    }

    /** @return the slow operations, the latest first. */
    static List<Map<String, Object>> slow(final OperationTraces traces)
    {
        return list(traces.slow());
    }

    private static List<Map<String, Object>> list(final List<TracedOperation> operations)
    {
        return operations.stream().map(SlowlogFigures::of).toList();
    }

    private static Map<String, Object> of(final TracedOperation operation)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("number", operation.number());
        figures.put("ended_ms", operation.endedMs());
        figures.put("kind", operation.kind().name().toLowerCase(Locale.ROOT));
        figures.put("answer", operation.answer().name().toLowerCase(Locale.ROOT));
        figures.put("table", operation.table());
        figures.put("key_hash", String.format(Locale.ROOT, "%016x", operation.keyHash()));
        figures.put("key_bytes", operation.keyBytes());
        figures.put("value_bytes", operation.valueBytes());
        figures.put("response_us", operation.responseNs() / NS_PER_US);
        figures.put("queued_us", operation.waitedNs() / NS_PER_US);
        figures.put("retries", operation.retries());
        figures.put("left_out", operation.leftOut());
        figures.put("steps", operation.entries().stream().map(SlowlogFigures::of).toList());
        return figures;
    }

    private static Map<String, Object> of(final TracedOperation.Entry entry)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("step", entry.step());
        figures.put("waits", entry.isWait());
        figures.put("memory_node", entry.memoryNodeId());
        figures.put("verbs", entry.verbs());
        figures.put("round_trips", entry.roundTrips());
        figures.put("from_us", entry.fromNs() / NS_PER_US);
        figures.put("took_us", entry.durationNs() / NS_PER_US);
        return figures;
    }
}
