package io.verbena.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.verbena.server.dashboard.DashboardPages;
import io.verbena.server.dashboard.DashboardSource;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;
import io.verbena.server.metrics.MetricsPage;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The health endpoint of a process, on loopback only: {@code GET /health} is 200 while the role is ready and 503
 * otherwise, with its figures as JSON; {@code GET /metrics} is what Prometheus scrapes; {@code GET
 * /slowlog}, of a compute node, its slow operations; {@code GET /dashboard}, where
 * there is one, is for browsers. It serves 64 connections at once, each on a thread of its own, and closes one whose
 * request has not arrived, or whose answer has not left, after 5 s. Closed by its opener.
 */
public final class HealthServer implements AutoCloseable
{
    private static final JsonFactory JSON = new JsonFactory();
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;

    /** Longest time for a request to arrive, and for its answer to leave: seconds, of the server of the JDK. */
    private static final String TIMEOUT_S = "5";
    private static final String MAX_CONNECTIONS = "64";

    static
    {
        setLimits();
    }

    private record Page(int status, String contentType, byte[] body)
    {
    }

    private final HttpServer http;
    private final ExecutorService threads;
    private final Role role;
    private final BooleanSupplier isReady;
    /** Made by the first scrape: a process that nobody scrapes does not load what it takes. */
    private MetricsPage metrics;

    private HealthServer(
        final HttpServer http, final ExecutorService threads, final Role role, final BooleanSupplier isReady,
        final DashboardSource dashboard)
    {
        this.http = http;
        this.threads = threads;
        this.role = role;
        this.isReady = isReady;
        http.createContext("/health", (exchange) -> answer(exchange, this::health));
        http.createContext("/slowlog", (exchange) -> answer(exchange, this::slowlog));
        http.createContext("/metrics", (exchange) -> answer(exchange, this::metrics));
        if (null != dashboard)
        {
            serve(http, dashboard);
        }
        http.setExecutor(threads);
        http.start();
    }

    /** The server of the JDK reads these when it is loaded; whoever starts the process may set others. */
    static void setLimits()
    {
        // Head and body leave apart: the second would wait for the acknowledgement of the first, 40 ms on Linux.
        setUnlessSet("sun.net.httpserver.nodelay", "true");
        setUnlessSet("sun.net.httpserver.maxReqTime", TIMEOUT_S);
        setUnlessSet("sun.net.httpserver.maxRspTime", TIMEOUT_S);
        setUnlessSet("jdk.httpserver.maxConnections", MAX_CONNECTIONS);
    }

    /** Serves the pages of a dashboard. */
    static void serve(final HttpServer http, final DashboardSource dashboard)
    {
        final DashboardPages pages = new DashboardPages(() -> json(dashboard.status()));
        http.createContext(DashboardPages.PATH, (exchange) -> answer(exchange, () -> dashboard(exchange, pages)));
    }

    private static void setUnlessSet(final String property, final String value)
    {
        if (null == System.getProperty(property))
        {
            System.setProperty(property, value);
        }
    }

    /**
     * Listens on loopback.
     *
     * @param port    0 lets the system choose.
     * @param role    whose figures to show.
     * @param isReady whether it is.
     * @return the server.
     * @throws UncheckedIOException when the port is busy; one line that says so.
     */
    public static HealthServer open(final int port, final Role role, final BooleanSupplier isReady)
    {
        return open(port, role, isReady, null);
    }

    /**
     * As the other one, with a dashboard.
     *
     * @param dashboard what it shows; null: there is none. Closed by the caller after the server.
     * @return the server.
     */
    public static HealthServer open(
        final int port, final Role role, final BooleanSupplier isReady, final DashboardSource dashboard)
    {
        try
        {
            final HttpServer http =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            // A thread for each request: one that arrives slowly, or not to its end, delays no other.
            return new HealthServer(http, Executors.newVirtualThreadPerTaskExecutor(), role, isReady, dashboard);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("cannot listen for health checks at port " + port + ": " + ex.getMessage() +
                "; choose another port, or 0 for any", ex);
        }
    }

    /** @return where it listens. */
    public int port()
    {
        return http.getAddress().getPort();
    }

    private static void answer(final HttpExchange exchange, final Supplier<Page> page) throws IOException
    {
        try (exchange)
        {
            if (!"GET".equals(exchange.getRequestMethod()))
            {
                exchange.sendResponseHeaders(METHOD_NOT_ALLOWED, -1);
                return;
            }
            final Page made = page.get();
            exchange.getResponseHeaders().set("Content-Type", made.contentType());
            exchange.sendResponseHeaders(made.status(), made.body().length);
            try (OutputStream out = exchange.getResponseBody())
            {
                out.write(made.body());
            }
        }
    }

    private static Page dashboard(final HttpExchange exchange, final DashboardPages pages)
    {
        DashboardPages.HEADERS.forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
        final DashboardPages.Answer answer =
            pages.get(exchange.getRequestURI().getPath(), exchange.getRequestHeaders().getFirst("Host"));
        return new Page(answer.status(), answer.contentType(), answer.body());
    }

    private Page health()
    {
        final boolean ready = isReady.getAsBoolean();
        return new Page(ready ? OK : UNAVAILABLE, "application/json",
            (json(role, ready) + '\n').getBytes(StandardCharsets.UTF_8));
    }

    private Page slowlog()
    {
        final Map<String, Object> operations = role.slowlog();
        return null == operations ?
            new Page(NOT_FOUND, "text/plain", "only compute nodes have a slow log\n".getBytes(StandardCharsets.UTF_8)) :
            new Page(OK, "application/json", (json(operations) + '\n').getBytes(StandardCharsets.UTF_8));
    }

    private Page metrics()
    {
        return new Page(OK, MetricsPage.CONTENT_TYPE, metricsPage().scrape());
    }

    private synchronized MetricsPage metricsPage()
    {
        if (null == metrics)
        {
            metrics = new MetricsPage(this::measure);
        }
        return metrics;
    }

    private void measure(final Measurements measurements)
    {
        measurements.set(Metric.READY, isReady.getAsBoolean() ? 1 : 0, role.name());
        ProcessMeasurements.measure(role.device(), measurements);
        role.measure(measurements);
    }

    static String json(final Role role, final boolean ready)
    {
        return HealthServer.json(figures(role, ready));
    }

    /**
     * What {@code GET /health} answers.
     *
     * @param role  whose figures.
     * @param ready whether it is.
     * @return its figures by their names.
     */
    public static Map<String, Object> figures(final Role role, final boolean ready)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("role", role.name());
        figures.put("ready", ready);
        figures.put("pid", ProcessHandle.current().pid());
        figures.putAll(role.health());
        return figures;
    }

    /**
     * Writes JSON on one line.
     *
     * @param value maps, lists, numbers, booleans, null; anything else by its text.
     * @return the text.
     */
    public static String json(final Object value)
    {
        final StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text))
        {
            write(value, json);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
        return text.toString();
    }

    private static void write(final Object value, final JsonGenerator json) throws IOException
    {
        switch (value)
        {
            case null -> json.writeNull();
            case final Map<?, ?> map ->
            {
                json.writeStartObject();
                for (final Map.Entry<?, ?> entry : map.entrySet())
                {
                    json.writeFieldName(String.valueOf(entry.getKey()));
                    write(entry.getValue(), json);
                }
                json.writeEndObject();
            }
            case final List<?> list ->
            {
                json.writeStartArray();
                for (final Object element : list)
                {
                    write(element, json);
                }
                json.writeEndArray();
            }
            case final Number number -> json.writeNumber(number.toString());
            case final Boolean flag -> json.writeBoolean(flag);
            default -> json.writeString(value.toString());
        }
    }

    /** Answers nothing any more. */
    @Override
    public void close()
    {
        http.stop(0);
        threads.shutdownNow();
        synchronized (this)
        {
            CloseHelper.quietClose(metrics);
        }
    }
}
