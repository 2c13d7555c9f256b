package io.verbena.server.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The resources of the dashboard: a page, its script, its style and the JSON that the script polls. They need nothing
 * from elsewhere, and the policy that they are sent with lets a browser load nothing from elsewhere. Any thread.
 */
public final class DashboardPages
{
    /** Path of the page; that of the others begins with it. */
    public static final String PATH = "/dashboard";
    /** Headers of each answer: a browser keeps nothing, guesses no type, and runs what this server sends, only. */
    public static final Map<String, String> HEADERS = Map.of(
        "Cache-Control", "no-store",
        "X-Content-Type-Options", "nosniff",
        "Referrer-Policy", "no-referrer",
        "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");

    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int FAILED = 500;
    private static final String TEXT = "text/plain; charset=utf-8";
    /**
     * A page of another site may bind its own name to this host's loopback address, and would be of one origin with
     * the dashboard then. Its name is in the request.
     */
    private static final Pattern OWN_HOST = Pattern.compile("(localhost|127\\.0\\.0\\.1|\\[::1])(:[0-9]+)?");

    private final Supplier<String> json;

    /**
     * An answer to a request.
     *
     * @param status      of HTTP.
     * @param contentType of the body.
     * @param body        not changed by anybody.
     */
    public record Answer(int status, String contentType, byte[] body)
    {
        private static Answer text(final int status, final String text)
        {
            return new Answer(status, TEXT, (text + '\n').getBytes(StandardCharsets.UTF_8));
        }
    }

    /** @param json makes the state of the cluster; when it throws, its message is the answer. */
    public DashboardPages(final Supplier<String> json)
    {
        this.json = json;
    }

    /**
     * Answers a GET.
     *
     * @param path of the request.
     * @param host of its Host header; may be null.
     * @return the answer, also for paths that do not exist.
     */
    public Answer get(final String path, final String host)
    {
        if (null == host || !OWN_HOST.matcher(host).matches())
        {
            return Answer.text(FORBIDDEN, "the dashboard answers at localhost only, not at '" + host +
                "': open http://localhost:PORT" + PATH);
        }
        return switch (path)
        {
            case PATH, PATH + "/" -> resource("dashboard.html", "text/html; charset=utf-8");
            case PATH + ".js" -> resource("dashboard.js", "text/javascript; charset=utf-8");
            case PATH + ".css" -> resource("dashboard.css", "text/css; charset=utf-8");
            case PATH + ".json" -> status();
            default -> Answer.text(NOT_FOUND, "there is nothing at this path; the dashboard is at " + PATH);
        };
    }

    private Answer status()
    {
        try
        {
            return new Answer(OK, "application/json", json.get().getBytes(StandardCharsets.UTF_8));
        }
        catch (final RuntimeException ex)
        {
            return Answer.text(FAILED, "the state of the cluster could not be read: " + ex);
        }
    }

    private static Answer resource(final String name, final String contentType)
    {
        try (InputStream in = DashboardPages.class.getResourceAsStream(name))
        {
            if (null == in)
            {
                throw new IllegalStateException("resource " + name + " is not beside its class: build again");
            }
            return new Answer(OK, contentType, in.readAllBytes());
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
