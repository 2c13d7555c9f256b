package io.verbena.server;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Operations of the slow log as OpenTelemetry's trace data, in the JSON of its protocol: a span of the operation, and
 * below it one of the time in the queue and one of each step. Used by one thread.
 */
final class OtlpTraces
{
    private static final int INTERNAL = 1;
    private static final int SERVER = 2;
    private static final int CLIENT = 3;
    private static final int ERROR = 2;
    private static final double NS_PER_US = TimeUnit.MICROSECONDS.toNanos(1);
    /** What an operation answers that did not do what it was to do. */
    private static final List<String> FAILURES = List.of(
        "timed_out", "outcome_unknown", "unreachable", "no_memory", "table_full", "corrupt");

    private final String instance;
    private final RandomGenerator random;

    /**
     * @param instance which node it is.
     * @param random   for identifiers.
     */
    OtlpTraces(final String instance, final RandomGenerator random)
    {
        this.instance = instance;
        this.random = random;
    }

    /**
     * Makes the body of a request.
     *
     * @param operations of the slow log, as {@code docs/slowlog.md} describes them.
     * @return what is to be sent as JSON.
     */
    Map<String, Object> request(final List<Map<String, Object>> operations)
    {
        final List<Map<String, Object>> spans = new ArrayList<>();
        operations.forEach((operation) -> add(operation, spans));
        final List<Map<String, Object>> resource = new ArrayList<>();
        text(resource, "service.name", "verbena-compute-node");
        text(resource, "service.instance.id", instance);
        return Map.of("resourceSpans", List.of(Map.of(
            "resource", Map.of("attributes", resource),
            "scopeSpans", List.of(Map.of("scope", Map.of("name", "io.verbena.compute"), "spans", spans)))));
    }

    private void add(final Map<String, Object> operation, final List<Map<String, Object>> spans)
    {
        final String trace = id() + id();
        final long responseNs = ns(operation, "response_us");
        final long queuedNs = ns(operation, "queued_us");
        final long endNs = TimeUnit.MILLISECONDS.toNanos((Long)operation.get("ended_ms"));
        final long arrivalNs = endNs - responseNs;
        final String kind = (String)operation.get("kind");
        final String answer = (String)operation.get("answer");
        final Map<String, Object> root = span(trace, kind, SERVER, arrivalNs, endNs);
        final List<Map<String, Object>> attributes = attributes(root);
        text(attributes, "db.system.name", "verbena");
        text(attributes, "db.operation.name", kind);
        text(attributes, "db.collection.name", (String)operation.get("table"));
        text(attributes, "verbena.answer", answer);
        text(attributes, "verbena.key_hash", (String)operation.get("key_hash"));
        for (final String name : List.of("key_bytes", "value_bytes", "retries", "left_out"))
        {
            number(attributes, "verbena." + name, operation.get(name));
        }
        attributes.add(Map.of("key", "verbena.queued_us", "value", Map.of("doubleValue", queuedNs / NS_PER_US)));
        if (FAILURES.contains(answer))
        {
            root.put("status", Map.of("code", ERROR, "message", answer));
        }
        spans.add(root);
        final Object parent = root.get("spanId");
        if (queuedNs > 0)
        {
            spans.add(child(parent, span(trace, "queued", INTERNAL, arrivalNs, arrivalNs + queuedNs)));
        }
        for (final Object step : (List<?>)operation.get("steps"))
        {
            spans.add(child(parent, step(trace, (Map<?, ?>)step, arrivalNs + queuedNs)));
        }
    }

    private Map<String, Object> step(final String trace, final Map<?, ?> step, final long beganNs)
    {
        final long fromNs = beganNs + ns(step, "from_us");
        final boolean isWait = Boolean.TRUE.equals(step.get("waits"));
        final String name = (String)step.get("step");
        final Map<String, Object> span = span(trace, isWait ? "waited: " + name : name,
            isWait ? INTERNAL : CLIENT, fromNs, fromNs + ns(step, "took_us"));
        if (!isWait)
        {
            final List<Map<String, Object>> attributes = attributes(span);
            text(attributes, "peer.service", "verbena-memory-node-" + step.get("memory_node"));
            for (final String count : List.of("memory_node", "verbs", "round_trips"))
            {
                number(attributes, "verbena." + count, step.get(count));
            }
        }
        return span;
    }

    private Map<String, Object> span(
        final String trace, final String name, final int kind, final long fromNs, final long toNs)
    {
        final Map<String, Object> span = new LinkedHashMap<>();
        span.put("traceId", trace);
        span.put("spanId", id());
        span.put("name", name);
        span.put("kind", kind);
        // 64-bit numbers are text in the JSON of protocol buffers.
        span.put("startTimeUnixNano", Long.toString(fromNs));
        span.put("endTimeUnixNano", Long.toString(toNs));
        return span;
    }

    private static Map<String, Object> child(final Object parent, final Map<String, Object> span)
    {
        span.put("parentSpanId", parent);
        return span;
    }

    private static List<Map<String, Object>> attributes(final Map<String, Object> span)
    {
        final List<Map<String, Object>> attributes = new ArrayList<>();
        span.put("attributes", attributes);
        return attributes;
    }

    private static void text(final List<Map<String, Object>> attributes, final String key, final String value)
    {
        attributes.add(Map.of("key", key, "value", Map.of("stringValue", value)));
    }

    private static void number(final List<Map<String, Object>> attributes, final String key, final Object value)
    {
        attributes.add(Map.of("key", key, "value", Map.of("intValue", value.toString())));
    }

    private static long ns(final Map<?, ?> figures, final String name)
    {
        return Math.round(((Number)figures.get(name)).doubleValue() * NS_PER_US);
    }

    /** 16 digits of an identifier, which must not be 0 alone. */
    private String id()
    {
        long id;
        do
        {
            id = random.nextLong();
        }
        while (0 == id);
        return String.format(Locale.ROOT, "%016x", id);
    }
}
