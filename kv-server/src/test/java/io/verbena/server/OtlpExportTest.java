package io.verbena.server;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class OtlpExportTest
{
    private static final long ENDED_MS = 1_790_000_000_123L;

    private final List<Map<String, Object>> slow = new CopyOnWriteArrayList<>();
    private final List<Map<String, Object>> sampled = new CopyOnWriteArrayList<>();
    private final AtomicInteger looks = new AtomicInteger();
    private volatile long thresholdUs = 1_000;
    private OtlpReceiver receiver;
    private OtlpExport export;

    @BeforeEach
    void start() throws IOException
    {
        receiver = new OtlpReceiver();
        export = OtlpExport.open(receiver.endpoint(), this::slowlog, "node-7", 2);
    }

    @AfterEach
    void stop()
    {
        export.close();
        receiver.close();
    }

    private Map<String, Object> slowlog()
    {
        looks.incrementAndGet();
        return Map.of("threshold_us", thresholdUs, "slow", List.copyOf(slow), "sampled", List.copyOf(sampled));
    }

    private static void await(final BooleanSupplier condition) throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (!condition.getAsBoolean())
        {
            assertThat(System.nanoTime() - deadlineNs).isNegative();
            Thread.sleep(1);
        }
    }

    private void awaitLooks(final int more) throws InterruptedException
    {
        final int until = looks.get() + more;
        await(() -> looks.get() >= until);
    }

    private static Map<String, Object> operation(final long number, final String answer, final double responseUs)
    {
        final Map<String, Object> operation = new LinkedHashMap<>();
        operation.put("number", number);
        operation.put("ended_ms", ENDED_MS);
        operation.put("kind", "put");
        operation.put("answer", answer);
        operation.put("table", "users");
        operation.put("key_hash", "147370914742f6e5");
        operation.put("key_bytes", 7);
        operation.put("value_bytes", 1);
        operation.put("response_us", responseUs);
        operation.put("queued_us", 400.5);
        operation.put("retries", 3);
        operation.put("left_out", 0);
        operation.put("steps", List.of(
            Map.of("step", "look", "waits", false, "memory_node", 1, "verbs", 2, "round_trips", 1, "from_us", 0.0,
                "took_us", 120.25),
            Map.of("step", "combined", "waits", true, "memory_node", 0, "verbs", 0, "round_trips", 0, "from_us",
                120.25, "took_us", 30.0)));
        return operation;
    }

    @Test
    void shouldSendASpanOfAnOperationAndOneOfEachStep() throws InterruptedException
    {
        slow.add(operation(1, "stored", 2_000.0));
        await(() -> 4 == receiver.spans().size());
        assertThat(receiver.resource()).containsEntry("service.name", "verbena-compute-node")
            .containsEntry("service.instance.id", "node-7");
        final List<Map<?, ?>> spans = receiver.spans();
        final Map<?, ?> root = spans.getFirst();
        final long endNs = ENDED_MS * 1_000_000;
        final long arrivalNs = endNs - 2_000_000;
        shouldBe(root, "put", 2, arrivalNs, endNs);
        assertThat(root.containsKey("parentSpanId")).isFalse();
        assertThat(root.containsKey("status")).isFalse();
        assertThat(OtlpReceiver.attributes(root)).isEqualTo(Map.ofEntries(
            Map.entry("db.system.name", "verbena"), Map.entry("db.operation.name", "put"),
            Map.entry("db.collection.name", "users"), Map.entry("verbena.answer", "stored"),
            Map.entry("verbena.key_hash", "147370914742f6e5"), Map.entry("verbena.key_bytes", "7"),
            Map.entry("verbena.value_bytes", "1"), Map.entry("verbena.retries", "3"),
            Map.entry("verbena.left_out", "0"), Map.entry("verbena.queued_us", 400.5)));
        shouldBe(spans.get(1), "queued", 1, arrivalNs, arrivalNs + 400_500);
        shouldBe(spans.get(2), "look", 3, arrivalNs + 400_500, arrivalNs + 520_750);
        assertThat(OtlpReceiver.attributes(spans.get(2))).isEqualTo(Map.of("peer.service", "verbena-memory-node-1",
            "verbena.memory_node", "1", "verbena.verbs", "2", "verbena.round_trips", "1"));
        shouldBe(spans.get(3), "waited: combined", 1, arrivalNs + 520_750, arrivalNs + 550_750);
        final Set<Object> ids = new HashSet<>();
        for (final Map<?, ?> span : spans)
        {
            assertThat(span.get("traceId")).isEqualTo(root.get("traceId")).asString().matches("[0-9a-f]{32}");
            assertThat(span.get("spanId")).asString().matches("[0-9a-f]{16}");
            assertThat(ids.add(span.get("spanId"))).isTrue();
            assertThat(span == root || root.get("spanId").equals(span.get("parentSpanId"))).isTrue();
        }
    }

    private static void shouldBe(
        final Map<?, ?> span, final String name, final long kind, final long fromNs, final long toNs)
    {
        assertThat(span.get("name")).isEqualTo(name);
        assertThat(span.get("kind")).isEqualTo(kind);
        assertThat(span.get("startTimeUnixNano")).isEqualTo(Long.toString(fromNs));
        assertThat(span.get("endTimeUnixNano")).isEqualTo(Long.toString(toNs));
    }

    @Test
    void shouldMarkWhatFailed() throws InterruptedException
    {
        slow.add(operation(1, "timed_out", 2_000.0));
        await(() -> !receiver.spans().isEmpty());
        assertThat(receiver.spans().getFirst().get("status")).isEqualTo(Map.of("code", 2L, "message", "timed_out"));
    }

    @Test
    void shouldSendEachOperationOnce() throws InterruptedException
    {
        slow.add(operation(5, "stored", 2_000.0));
        sampled.add(operation(3, "stored", 900.0));
        sampled.add(operation(4, "stored", 2_000.0)); // it is the slow one
        await(() -> 8 == receiver.spans().size());
        awaitLooks(5);
        slow.addFirst(operation(6, "stored", 3_000.0));
        await(() -> 12 == receiver.spans().size());
        awaitLooks(5);
        assertThat(receiver.spans()).hasSize(12);
        assertThat(receiver.requests()).as("none without an operation").isEqualTo(2);
    }

    @Test
    void shouldSendAllSamplesWhereNothingIsSlow() throws InterruptedException
    {
        thresholdUs = -1;
        sampled.add(operation(1, "stored", 2_000_000.0));
        await(() -> 4 == receiver.spans().size());
    }

    @Test
    void shouldSendAgainWhatTheCollectorCannotTakeNow() throws InterruptedException
    {
        receiver.status(503);
        slow.add(operation(1, "stored", 2_000.0));
        await(() -> receiver.requests() >= 3);
        assertThat(export.failures()).isGreaterThanOrEqualTo(2);
        receiver.status(200);
        final int before = receiver.requests();
        await(() -> receiver.requests() > before);
        awaitLooks(5);
        final int sent = receiver.requests();
        awaitLooks(5);
        assertThat(receiver.requests()).as("taken").isEqualTo(sent);
        assertThat(export.failures()).as("the next failure is the first one again").isZero();
    }

    @Test
    void shouldNotSendAgainWhatTheCollectorRefuses() throws InterruptedException
    {
        receiver.status(400);
        slow.add(operation(1, "stored", 2_000.0));
        await(() -> receiver.requests() >= 1);
        awaitLooks(5);
        assertThat(receiver.requests()).isEqualTo(1);
        assertThat(export.failures()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"101, false", "199, false", "200, true", "202, true", "299, true", "300, false", "400, false",
        "503, false"})
    void shouldTakeOnlySuccessForIt(final int status, final boolean isTaken)
    {
        assertThat(OtlpExport.isTaken(status)).isEqualTo(isTaken);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 2", "2, 4", "4, 16", "5, 30", "6, 30", "64, 30", "2147483647, 30"})
    void shouldPauseForLongerAfterEachFailure(final int failures, final long periods)
    {
        assertThat(OtlpExport.pausePeriods(failures)).isEqualTo(periods);
    }

    @Test
    void shouldSendNoSpanOfAQueueThatItWasNotIn() throws InterruptedException
    {
        final Map<String, Object> operation = operation(1, "stored", 2_000.0);
        operation.put("queued_us", 0.0);
        slow.add(operation);
        await(() -> !receiver.spans().isEmpty());
        assertThat(receiver.spans().stream().<Object>map((span) -> span.get("name")).toList())
            .isEqualTo(List.of("put", "look", "waited: combined"));
        assertThat(receiver.spans().get(1).get("startTimeUnixNano"))
            .isEqualTo(receiver.spans().getFirst().get("startTimeUnixNano"));
    }

    @Test
    void shouldGoOnWithoutACollector() throws InterruptedException
    {
        receiver.close();
        slow.add(operation(1, "stored", 2_000.0));
        awaitLooks(6);
    }

    @Test
    void shouldReadAddresses()
    {
        assertThat(OtlpExport.endpoint("http://a:4318")).isEqualTo(URI.create("http://a:4318/v1/traces"));
        assertThat(OtlpExport.endpoint("https://a/")).isEqualTo(URI.create("https://a/v1/traces"));
        assertThat(OtlpExport.endpoint("http://a:4318/x")).isEqualTo(URI.create("http://a:4318/x"));
        final List<String> wrong = new ArrayList<>(List.of("", "a:4318", "ftp://a", "http://", "http:// a", "/v1"));
        assertThat(wrong).allSatisfy((text) -> assertThat(OtlpExport.endpoint(text)).as(text).isNull());
    }
}
