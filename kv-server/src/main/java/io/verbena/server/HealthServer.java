package io.verbena.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.OutputStream;
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

/**
 * The health endpoint of a process, on loopback only: {@code GET /health} is 200 while the role is ready and 503
 * otherwise, with its figures as JSON. It serves 64 connections at once, each on a thread of its own, and closes one
 * whose request has not arrived, or whose answer has not left, after 5 s. Closed by its opener.
 */
public final class HealthServer implements AutoCloseable
{
    private static final int OK = 200;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;

    /** Longest time for a request to arrive, and for its answer to leave: seconds, of the server of the JDK. */
    private static final String TIMEOUT_S = "5";
    private static final String MAX_CONNECTIONS = "64";

    static
    {
        // The server of the JDK reads these when it is loaded; whoever starts the process may set others.
        setUnlessSet("sun.net.httpserver.maxReqTime", TIMEOUT_S);
        setUnlessSet("sun.net.httpserver.maxRspTime", TIMEOUT_S);
        setUnlessSet("jdk.httpserver.maxConnections", MAX_CONNECTIONS);
    }

    private final HttpServer http;
    private final ExecutorService threads;

    private HealthServer(final HttpServer http, final ExecutorService threads)
    {
        this.http = http;
        this.threads = threads;
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
        try
        {
            final HttpServer http =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            http.createContext("/health", (exchange) -> answer(exchange, role, isReady));
            // A thread for each request: one that arrives slowly, or not to its end, delays no other.
            final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
            http.setExecutor(threads);
            http.start();
            return new HealthServer(http, threads);
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

    private static void answer(final HttpExchange exchange, final Role role, final BooleanSupplier isReady)
        throws IOException
    {
        try (exchange)
        {
            if (!"GET".equals(exchange.getRequestMethod()))
            {
                exchange.sendResponseHeaders(METHOD_NOT_ALLOWED, -1);
                return;
            }
            final boolean ready = isReady.getAsBoolean();
            final byte[] body = (json(role, ready) + '\n').getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(ready ? OK : UNAVAILABLE, body.length);
            try (OutputStream out = exchange.getResponseBody())
            {
                out.write(body);
            }
        }
    }

    static String json(final Role role, final boolean ready)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("role", role.name());
        figures.put("ready", ready);
        figures.put("pid", ProcessHandle.current().pid());
        figures.putAll(role.health());
        return HealthServer.json(figures);
    }

    /**
     * Writes JSON on one line.
     *
     * @param value maps, lists, numbers, booleans, null; anything else by its text.
     * @return the text.
     */
    public static String json(final Object value)
    {
        final StringBuilder text = new StringBuilder();
        append(text, value);
        return text.toString();
    }

    private static void append(final StringBuilder text, final Object value)
    {
        switch (value)
        {
            case null -> text.append("null");
            case final Map<?, ?> map ->
            {
                String separator = "{";
                for (final Map.Entry<?, ?> entry : map.entrySet())
                {
                    text.append(separator);
                    quote(text, String.valueOf(entry.getKey()));
                    append(text.append(':'), entry.getValue());
                    separator = ",";
                }
                text.append(map.isEmpty() ? "{}" : "}");
            }
            case final List<?> list ->
            {
                String separator = "[";
                for (final Object element : list)
                {
                    append(text.append(separator), element);
                    separator = ",";
                }
                text.append(list.isEmpty() ? "[]" : "]");
            }
            case final Number number -> text.append(number);
            case final Boolean flag -> text.append(flag);
            default -> quote(text, value.toString());
        }
    }

    private static void quote(final StringBuilder text, final String value)
    {
        text.append('"');
        for (int i = 0; i < value.length(); i++)
        {
            final char c = value.charAt(i);
            if (c < ' ')
            {
                text.append(String.format("\\u%04x", (int)c));
            }
            else
            {
                text.append('"' == c || '\\' == c ? "\\" : "").append(c);
            }
        }
        text.append('"');
    }

    /** Answers nothing any more. */
    @Override
    public void close()
    {
        http.stop(0);
        threads.shutdownNow();
    }
}
