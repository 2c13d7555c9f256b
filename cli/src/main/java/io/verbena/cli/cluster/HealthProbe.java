package io.verbena.cli.cluster;

import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.cli.cluster.ProcessTable.Entry;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Asks the health endpoint of a process, on the host of that process. Stateless. */
public final class HealthProbe
{
    private static final String HEALTH = "/health";
    private static final int TIMEOUT_MS = 2_000;
    /** Health endpoints answer on loopback alone, which is another one on another host. */
    private static final String ASK =
        "exec 3<> /dev/tcp/127.0.0.1/$0 && printf 'GET %s HTTP/1.0\r\n\r\n' \"$1\" >&3 && cat <&3";

    private HealthProbe()
    {
    }

    /**
     * Asks.
     *
     * @param entry of the process.
     * @return its figures by their names, or null when it does not answer within 2 s.
     */
    public static Map<String, Object> figures(final Entry entry)
    {
        return ask(entry, HEALTH);
    }

    /**
     * Asks for a path of the endpoint.
     *
     * @param entry of the process.
     * @param path  such as {@code /health}, which answers also where the status is an error.
     * @return the object there, or null when there is none or the process does not answer within 2 s.
     */
    public static Map<String, Object> ask(final Entry entry, final String path)
    {
        if (0 == entry.healthPort())
        {
            return null;
        }
        try
        {
            final String body = null == entry.place() ? answer(entry.healthPort(), path) :
                answer(entry.place(), entry.healthPort(), path);
            return null == body ? null : JsonReader.object(body);
        }
        catch (final IOException | MalformedJsonException ex)
        {
            return null; // it is starting, ending or stuck: the caller shows that it did not answer
        }
    }

    private static String answer(final int port, final String path) throws IOException
    {
        final HttpURLConnection connection =
            (HttpURLConnection)URI.create("http://localhost:" + port + path).toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        try (InputStream body = connection.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST ?
            connection.getInputStream() : connection.getErrorStream())
        {
            return null == body ? null : new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String answer(final String place, final int port, final String path) throws IOException
    {
        final Process process = new ProcessBuilder(place, "bash", "-c", ASK, Integer.toString(port), path)
            .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        // It ends at the latest when the connection does, or is killed.
        CompletableFuture.delayedExecutor(TIMEOUT_MS, TimeUnit.MILLISECONDS).execute(process::destroyForcibly);
        try (InputStream out = process.getInputStream())
        {
            final String answer = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            final int body = answer.indexOf("\r\n\r\n");
            return body < 0 ? null : answer.substring(body);
        }
    }
}
