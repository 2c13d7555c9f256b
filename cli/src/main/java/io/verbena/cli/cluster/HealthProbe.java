package io.verbena.cli.cluster;

import io.verbena.cli.cluster.JsonReader.MalformedJsonException;
import io.verbena.cli.cluster.ProcessTable.Entry;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Asks the health endpoint of a process of this host. Stateless. */
public final class HealthProbe
{
    private static final int TIMEOUT_MS = 2_000;

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
        if (0 == entry.healthPort())
        {
            return null;
        }
        try
        {
            final HttpURLConnection connection = (HttpURLConnection)URI.create(
                "http://localhost:" + entry.healthPort() + "/health").toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            try (InputStream body = connection.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST ?
                connection.getInputStream() : connection.getErrorStream())
            {
                return null == body ? null :
                    JsonReader.object(new String(body.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        catch (final IOException | MalformedJsonException ex)
        {
            return null; // it is starting, ending or stuck: the caller shows that it did not answer
        }
    }
}
