package io.verbena.server;

import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

/** A collector of OpenTelemetry on loopback that keeps what it takes, and answers with a status that is set. */
final class OtlpReceiver implements AutoCloseable
{
    private final HttpServer http;
    private final List<Map<?, ?>> requests = Collections.synchronizedList(new ArrayList<>());
    private volatile int status = 200;

    OtlpReceiver() throws IOException
    {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/v1/traces", (exchange) ->
        {
            try (exchange)
            {
                final String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                if ("application/json".equals(exchange.getRequestHeaders().getFirst("Content-Type")))
                {
                    requests.add((Map<?, ?>)read(body));
                }
                exchange.sendResponseHeaders(status, -1);
            }
        });
        http.start();
    }

    URI endpoint()
    {
        return OtlpExport.endpoint("http://localhost:" + http.getAddress().getPort());
    }

    void status(final int newStatus)
    {
        status = newStatus;
    }

    /** @return how many requests have come. */
    int requests()
    {
        return requests.size();
    }

    /** @return the spans of all requests. */
    List<Map<?, ?>> spans()
    {
        final List<Map<?, ?>> spans = new ArrayList<>();
        for (final Map<?, ?> request : List.copyOf(requests))
        {
            final Map<?, ?> scope = first(first(request, "resourceSpans"), "scopeSpans");
            ((List<?>)scope.get("spans")).forEach((span) -> spans.add((Map<?, ?>)span));
        }
        return spans;
    }

    /** @return attributes of the resource of the first request. */
    Map<String, Object> resource()
    {
        return attributes((Map<?, ?>)first(requests.getFirst(), "resourceSpans").get("resource"));
    }

    private static Map<?, ?> first(final Map<?, ?> parent, final String name)
    {
        return (Map<?, ?>)((List<?>)parent.get(name)).getFirst();
    }

    static Map<String, Object> attributes(final Map<?, ?> span)
    {
        final Map<String, Object> all = new TreeMap<>();
        for (final Object each : (List<?>)span.get("attributes"))
        {
            final Map<?, ?> attribute = (Map<?, ?>)each;
            all.put((String)attribute.get("key"), ((Map<?, ?>)attribute.get("value")).values().iterator().next());
        }
        return all;
    }

    private static Object read(final String text) throws IOException
    {
        try (JsonParser parser = new JsonFactory().createParser(text))
        {
            parser.nextToken();
            return read(parser);
        }
    }

    private static Object read(final JsonParser parser) throws IOException
    {
        if (JsonToken.START_OBJECT == parser.currentToken())
        {
            final Map<String, Object> object = new LinkedHashMap<>();
            while (JsonToken.END_OBJECT != parser.nextToken())
            {
                final String name = parser.currentName();
                parser.nextToken();
                object.put(name, read(parser));
            }
            return object;
        }
        if (JsonToken.START_ARRAY == parser.currentToken())
        {
            final List<Object> array = new ArrayList<>();
            while (JsonToken.END_ARRAY != parser.nextToken())
            {
                array.add(read(parser));
            }
            return array;
        }
        return JsonToken.VALUE_NUMBER_INT == parser.currentToken() ? (Object)parser.getLongValue() :
            JsonToken.VALUE_NUMBER_FLOAT == parser.currentToken() ? (Object)parser.getDoubleValue() : parser.getText();
    }

    @Override
    public void close()
    {
        http.stop(0);
    }
}
