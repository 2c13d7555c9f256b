package io.verbena.server;

import io.verbena.server.dashboard.DashboardPages;
import io.verbena.server.dashboard.DashboardSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class DashboardPagesTest
{
    private final DashboardPages pages = new DashboardPages(() -> "{\"a\":1}");

    private static String body(final DashboardPages.Answer answer)
    {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
        /dashboard,      200, text/html; charset=utf-8,       <!doctype html>
        /dashboard/,     200, text/html; charset=utf-8,       <!doctype html>
        /dashboard.js,   200, text/javascript; charset=utf-8, 'use strict';
        /dashboard.css,  200, text/css; charset=utf-8,        :root {
        /dashboard.json, 200, application/json,               {"a":1}
        /dashboardx,     404, text/plain; charset=utf-8,      there is nothing at this path
        /dashboard/../x, 404, text/plain; charset=utf-8,      there is nothing at this path
        """, quoteCharacter = '`')
    void shouldAnswerEachPath(final String path, final int status, final String type, final String begin)
    {
        final DashboardPages.Answer answer = pages.get(path, "localhost:7");
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.contentType()).isEqualTo(type);
        assertThat(body(answer)).startsWith(begin);
    }

    /** Of a page whose name was bound to loopback after it was loaded. */
    @ParameterizedTest
    @ValueSource(strings = {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.7", "",
        "localhost:80:80", "x@localhost"})
    void shouldRefuseOtherNamesOfThisHost(final String host)
    {
        assertThat(pages.get("/dashboard.json", host).status()).isEqualTo(403);
        assertThat(pages.get("/dashboard.json", null).status()).isEqualTo(403);
        assertThat(body(pages.get("/dashboard", host))).contains("open http://localhost:PORT/dashboard");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "localhost:34699", "127.0.0.1:1", "[::1]:65535", "[::1]"})
    void shouldAnswerItsOwnNames(final String host)
    {
        assertThat(pages.get("/dashboard.json", host).status()).isEqualTo(200);
    }

    @Test
    void shouldSayWhyItKnowsNothing()
    {
        final DashboardPages.Answer answer = new DashboardPages(() ->
        {
            throw new IllegalStateException("the folder is gone");
        }).get("/dashboard.json", "localhost");
        assertThat(answer.status()).isEqualTo(500);
        assertThat(body(answer)).contains("the folder is gone").hasLineCount(1);
    }

    /** The browser would refuse it anyway, by the policy; then the page would be broken. */
    @Test
    void shouldNeedNothingFromElsewhere()
    {
        for (final String path : List.of("/dashboard", "/dashboard.js", "/dashboard.css"))
        {
            assertThat(body(pages.get(path, "localhost")).replace("http://www.w3.org/2000/svg", ""))
                .as(path).doesNotContain("http:", "https:", "src=\"//", "@import", "innerHTML", "eval(", " style=\"");
        }
        assertThat(DashboardPages.HEADERS.get("Content-Security-Policy")).startsWith("default-src 'none'")
            .doesNotContain("unsafe");
    }

    @Test
    void shouldBeServedWhereThereIsOne() throws Exception
    {
        final Role role = (Role)Proxy.newProxyInstance(DashboardPagesTest.class.getClassLoader(),
            new Class<?>[]{Role.class}, (_, method, _) -> "health".equals(method.getName()) ? Map.of() : "stub");
        final DashboardSource source = new DashboardSource()
        {
            @Override
            public Map<String, Object> status()
            {
                return Map.of("errors", List.of("a \"<b>\" b"));
            }

            @Override
            public void close()
            {
                throw new AssertionError("it is the caller's");
            }
        };
        try (HealthServer with = HealthServer.open(0, role, () -> true, source);
            HealthServer without = HealthServer.open(0, role, () -> true);
            HttpClient http = HttpClient.newHttpClient())
        {
            final HttpResponse<String> json = get(http, with, "/dashboard.json");
            assertThat(json.statusCode()).isEqualTo(200);
            assertThat(json.body()).isEqualTo("{\"errors\":[\"a \\\"<b>\\\" b\"]}");
            DashboardPages.HEADERS.forEach((name, value) -> assertThat(json.headers().allValues(name))
                .containsExactly(value));
            assertThat(get(http, with, "/dashboard").statusCode()).isEqualTo(200);
            assertThat(get(http, with, "/dashboard.png").statusCode()).isEqualTo(404);
            assertThat(get(http, without, "/dashboard").statusCode()).isEqualTo(404);
            assertThat(http.send(HttpRequest.newBuilder(at(with, "/dashboard.json"))
                .POST(HttpRequest.BodyPublishers.noBody()).build(), HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(405);
        }
    }

    private static URI at(final HealthServer server, final String path)
    {
        return URI.create("http://localhost:" + server.port() + path);
    }

    private static HttpResponse<String> get(final HttpClient http, final HealthServer server, final String path)
        throws Exception
    {
        return http.send(HttpRequest.newBuilder(at(server, path)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
