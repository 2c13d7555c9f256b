package io.verbena.server;

import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Sends slow and sampled operations to a collector of OpenTelemetry, by its protocol over HTTP in JSON, on a thread of
 * its own: the node waits for nothing. What the collector cannot take now is sent again, as long as the slow log keeps
 * it.
 */
public final class OtlpExport implements AutoCloseable
{
    private static final String PATH = "/v1/traces";
    private static final long PERIOD_MS = 1_000;
    private static final int LONGEST_PAUSE_PERIODS = 30;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long END_MS = 1_000;
    private static final int OK = 200;
    private static final int FIRST_FAILURE = 300;
    /** What a collector answers that asks for another attempt. */
    private static final Set<Integer> LATER = Set.of(429, 502, 503, 504);

    private final URI endpoint;
    private final Supplier<Map<String, Object>> slowlog;
    private final OtlpTraces traces;
    private final HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
    private final Thread thread;
    private long lastSlow;
    private long lastSampled;
    /** Since the last request that was taken; written by the thread. */
    private volatile int failures;
    private volatile boolean isOver;

    private OtlpExport(
        final URI endpoint, final Supplier<Map<String, Object>> slowlog, final OtlpTraces traces, final long periodMs)
    {
        this.endpoint = endpoint;
        this.slowlog = slowlog;
        this.traces = traces;
        thread = Thread.ofPlatform().daemon().name("verbena-otlp").start(() -> run(periodMs));
    }

    /**
     * Begins to send.
     *
     * @param endpoint of the collector, as {@link #endpoint(String)} made it.
     * @param slowlog  what there is to send, as {@code docs/slowlog.md} describes it; asked once a second.
     * @param instance which node it is, for people.
     * @return what sends until it is closed.
     */
    public static OtlpExport open(
        final URI endpoint, final Supplier<Map<String, Object>> slowlog, final String instance)
    {
        return open(endpoint, slowlog, instance, PERIOD_MS);
    }

    static OtlpExport open(
        final URI endpoint, final Supplier<Map<String, Object>> slowlog, final String instance, final long periodMs)
    {
        return new OtlpExport(endpoint, slowlog, new OtlpTraces(instance, new SplittableRandom()), periodMs);
    }

    /**
     * Reads the address of a collector.
     *
     * @param text {@code http://host:4318}, or with the path at which it takes traces.
     * @return the address with a path; null when it is none.
     */
    public static URI endpoint(final String text)
    {
        final URI uri;
        try
        {
            uri = URI.create(text);
        }
        catch (final IllegalArgumentException ex)
        {
            return null;
        }
        if (!"http".equals(uri.getScheme()) && !"https".equals(uri.getScheme()) || null == uri.getHost())
        {
            return null;
        }
        return null == uri.getPath() || uri.getPath().isEmpty() || "/".equals(uri.getPath()) ? uri.resolve(PATH) : uri;
    }

    private void run(final long periodMs)
    {
        try
        {
            while (!isOver)
            {
                Thread.sleep(periodMs * pausePeriods(failures));
                export();
            }
        }
        catch (final InterruptedException ex)
        {
            return; // closed
        }
    }

    /** @return periods until the next attempt, after so many in a row that failed. */
    static long pausePeriods(final int failures)
    {
        return Math.min(LONGEST_PAUSE_PERIODS, 1L << Math.min(failures, 10));
    }

    /** @return whether the collector took what was sent, by the status that it answered. */
    static boolean isTaken(final int status)
    {
        return status >= OK && status < FIRST_FAILURE;
    }

    /** @return attempts that failed since the last one that did not. */
    int failures()
    {
        return failures;
    }

    private void export() throws InterruptedException
    {
        final Map<String, Object> figures = slowlog.get();
        final List<Map<String, Object>> operations = new ArrayList<>();
        final long slow = collect(figures, "slow", lastSlow, Double.POSITIVE_INFINITY, operations);
        final long thresholdUs = (Long)figures.get("threshold_us");
        final long sampled = collect(figures, "sampled", lastSampled,
            thresholdUs < 0 ? Double.POSITIVE_INFINITY : thresholdUs, operations);
        if (operations.isEmpty() || send(HealthServer.json(traces.request(operations)), operations.size()))
        {
            lastSlow = slow;
            lastSampled = sampled;
        }
    }

    /**
     * Takes what is new.
     *
     * @param belowUs what takes as long is left out: it is among the slow ones, too.
     * @return the latest number.
     */
    private static long collect(
        final Map<String, Object> figures, final String kind, final long last, final double belowUs,
        final List<Map<String, Object>> operations)
    {
        long latest = last;
        for (final Object each : (List<?>)figures.get(kind))
        {
            @SuppressWarnings("unchecked")
            final Map<String, Object> operation = (Map<String, Object>)each;
            final long number = (Long)operation.get("number");
            latest = Math.max(latest, number);
            if (number > last && ((Number)operation.get("response_us")).doubleValue() < belowUs)
            {
                operations.add(operation);
            }
        }
        return latest;
    }

    /** @return false when it is to be sent again. */
    private boolean send(final String body, final int count) throws InterruptedException
    {
        final HttpRequest request = HttpRequest.newBuilder(endpoint).timeout(TIMEOUT)
            .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)).build();
        try
        {
            final HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (LATER.contains(response.statusCode()))
            {
                failed("status " + response.statusCode() + "; they are sent again");
                return false;
            }
            if (!isTaken(response.statusCode()))
            {
                failed("status " + response.statusCode() + "; " + count + " operations are not sent again");
                return true;
            }
            failures = 0;
            return true;
        }
        catch (final IOException ex)
        {
            failed((null == ex.getMessage() ? ex.getClass().getSimpleName() : ex.getMessage()) +
                "; they are sent again");
            return false;
        }
    }

    /** Says so once, until it works again. */
    private void failed(final String why)
    {
        failures = failures + 1;
        if (1 == failures)
        {
            // Made now: the level is set when a process begins, and the first logger reads it.
            LoggerFactory.getLogger(OtlpExport.class).warn("traces are not taken by {}: {}", endpoint, why);
        }
    }

    /** Sends no more; does not wait for what was not sent yet. */
    @Override
    public void close()
    {
        isOver = true;
        thread.interrupt();
        try
        {
            thread.join(END_MS);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
        client.shutdownNow();
    }
}
