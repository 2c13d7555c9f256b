package io.verbena.server;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class HealthServerTest
{
    private final List<AutoCloseable> open = new ArrayList<>();
    private volatile boolean isReady = true;

    private HealthServer open(final Supplier<Map<String, Object>> figures)
    {
        final Role role = (Role)Proxy.newProxyInstance(HealthServerTest.class.getClassLoader(),
            new Class<?>[]{Role.class}, (_, method, _) -> switch (method.getName())
            {
                case "health" -> figures.get();
                case "slowlog" -> null;
                default -> "stub";
            });
        final HealthServer server = HealthServer.open(0, role, () -> isReady);
        open.add(server);
        return server;
    }

    @AfterEach
    void close() throws Exception
    {
        for (final AutoCloseable closeable : open.reversed())
        {
            closeable.close();
        }
    }

    private Socket send(final HealthServer server, final String text) throws IOException
    {
        final Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        open.add(socket);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static HttpResponse<String> get(final HealthServer server) throws IOException, InterruptedException
    {
        return get(server, "/health");
    }

    private static HttpResponse<String> get(final HealthServer server, final String path)
        throws IOException, InterruptedException
    {
        try (HttpClient http = HttpClient.newHttpClient())
        {
            return http.send(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
                .timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofString());
        }
    }

    @Test
    void shouldSendHeadAndBodyWithoutADelay()
    {
        open(Map::of);
        // Read by the server of the JDK when it is loaded: without it an answer takes 40 ms.
        assertThat(System.getProperty("sun.net.httpserver.nodelay")).isEqualTo("true");
    }

    @Test
    void shouldAnswerByItsStatusWhetherItIsReady() throws Exception
    {
        final HealthServer server = open(Map::of);
        final HttpResponse<String> ready = get(server);
        assertThat(ready.statusCode()).isEqualTo(200);
        assertThat(ready.body()).contains("\"ready\":true");
        isReady = false;
        final HttpResponse<String> unready = get(server);
        assertThat(unready.statusCode()).isEqualTo(503);
        assertThat(unready.body()).contains("\"ready\":false");
    }

    @Test
    void shouldSayWhichProcessesHaveASlowLog() throws Exception
    {
        final HttpResponse<String> answer = get(open(Map::of), "/slowlog");
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).isEqualTo("only compute nodes have a slow log\n");
    }

    @Test
    void shouldAnswerBesideRequestsThatAreHalfSent() throws Exception
    {
        final HealthServer server = open(() -> Map.of("figure", 1));
        final List<Socket> halfSent = new ArrayList<>();
        for (int i = 0; i < 20; i++)
        {
            halfSent.add(send(server, "GET /health HT"));
        }
        final HttpResponse<String> answer = get(server);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains("\"figure\":1");
        for (final Socket socket : halfSent)
        {
            socket.setSoTimeout(20_000);
            assertThat(socket.getInputStream().readAllBytes()).as("closed when its time is up, unanswered").isEmpty();
        }
    }

    @Test
    void shouldAnswerWhileAnotherAnswerWaits() throws Exception
    {
        final CountDownLatch first = new CountDownLatch(1);
        final CountDownLatch second = new CountDownLatch(2);
        final HealthServer server = open(() ->
        {
            second.countDown();
            if (1 == second.getCount())
            {
                await(first);
            }
            return Map.of("figure", 1);
        });
        send(server, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
        while (2 == second.getCount())
        {
            Thread.onSpinWait();
        }
        assertThat(get(server).statusCode()).isEqualTo(200);
        first.countDown();
    }

    private static void await(final CountDownLatch latch)
    {
        try
        {
            assertThat(latch.await(40, TimeUnit.SECONDS)).isTrue();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldListenOnLoopbackOnly()
    {
        final HealthServer server = open(Map::of);
        assertThatThrownBy(() -> new Socket("127.0.0.2", server.port()).close())
            .as("127.0.0.2 reaches whoever listens at every interface").isInstanceOf(ConnectException.class);
    }
}
