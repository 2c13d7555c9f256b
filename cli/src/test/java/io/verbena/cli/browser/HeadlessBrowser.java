package io.verbena.cli.browser;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.verbena.cli.cluster.JsonReader;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * One page of a Chromium without a window, driven by its DevTools protocol. For tests, which are skipped where none is
 * installed. One thread.
 */
public final class HeadlessBrowser implements AutoCloseable
{
    private static final long STEP_S = 60;
    private static final String LISTENING = "DevTools listening on ws://";

    private final Process process;
    private final Path profile;
    private final HttpClient http = HttpClient.newHttpClient();
    private final BlockingQueue<Map<String, Object>> answers = new LinkedBlockingQueue<>();
    private final WebSocket socket;
    private int calls;

    /** Collects messages, which may come in parts. */
    private final class Listener implements WebSocket.Listener
    {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(final WebSocket from, final CharSequence part, final boolean isLast)
        {
            text.append(part);
            if (isLast)
            {
                final Map<String, Object> message = JsonReader.object(text.toString());
                text.setLength(0);
                if (message.containsKey("id"))
                {
                    answers.add(message);
                }
            }
            from.request(1);
            return null;
        }
    }

    private HeadlessBrowser(final Process process, final Path profile) throws Exception
    {
        this.process = process;
        this.profile = profile;
        final String host = awaitHost(process);
        final String made = new String(URI.create("http://" + host + "/json/list").toURL().openStream().readAllBytes(),
            StandardCharsets.UTF_8);
        final String page = made.substring(made.indexOf("ws://"));
        socket = http.newWebSocketBuilder()
            .buildAsync(URI.create(page.substring(0, page.indexOf('"'))), new Listener()).get(STEP_S, TimeUnit.SECONDS);
    }

    private static String awaitHost(final Process process) throws IOException
    {
        final BufferedReader err =
            new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        for (String line = err.readLine(); null != line; line = err.readLine())
        {
            if (line.startsWith(LISTENING))
            {
                final Thread drain = new Thread(() -> err.lines().forEach((_) ->
                {
                }), "browser-log");
                drain.setDaemon(true);
                drain.start();
                return line.substring(LISTENING.length(), line.indexOf('/', LISTENING.length()));
            }
        }
        throw new IOException("the browser ended without a word about its port");
    }

    /** @return where a Chromium is installed, if one is. */
    public static Optional<Path> installed()
    {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":")).flatMap((folder) ->
            Stream.of("chromium", "chromium-browser", "google-chrome").map((name) -> Path.of(folder, name)))
            .filter(Files::isExecutable).findFirst();
    }

    /** Starts one, with an empty profile. */
    public static HeadlessBrowser start() throws Exception
    {
        final Path profile = Files.createTempDirectory("verbena-browser");
        return new HeadlessBrowser(new ProcessBuilder(List.of(installed().orElseThrow().toString(), "--headless",
            "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=" +
            "MAP * ~NOTFOUND, EXCLUDE localhost", "--remote-debugging-port=0", "--user-data-dir=" + profile,
            "about:blank")).redirectOutput(ProcessBuilder.Redirect.DISCARD).start(), profile);
    }

    private Map<?, ?> call(final String method, final String parameters)
    {
        final long id = ++calls;
        socket.sendText("{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + parameters + "}", true).join();
        try
        {
            final Map<String, Object> answer = answers.poll(STEP_S, TimeUnit.SECONDS);
            if (null == answer || !Long.valueOf(id).equals(answer.get("id")) || answer.containsKey("error"))
            {
                throw new IllegalStateException("the browser answered " + method + " with " + answer);
            }
            return (Map<?, ?>)answer.get("result");
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    /** Opens a page with this width in CSS pixels. */
    public void open(final String url, final int width, final int height, final boolean isDark)
    {
        resize(width, height, isDark);
        call("Page.navigate", "{\"url\":\"" + url + "\"}");
    }

    public void resize(final int width, final int height, final boolean isDark)
    {
        call("Emulation.setDeviceMetricsOverride", "{\"width\":" + width + ",\"height\":" + height +
            ",\"deviceScaleFactor\":1,\"mobile\":false}");
        call("Emulation.setEmulatedMedia", "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" +
            (isDark ? "dark" : "light") + "\"}]}");
    }

    /** @return value of an expression in the page, in the form of {@link JsonReader}. */
    public Object evaluate(final String expression)
    {
        final Map<?, ?> result = call("Runtime.evaluate", "{\"returnByValue\":true,\"expression\":\"" +
            String.valueOf(JsonStringEncoder.getInstance().quoteAsString(expression)) + "\"}");
        if (result.containsKey("exceptionDetails"))
        {
            throw new IllegalStateException(expression + ": " + result);
        }
        return ((Map<?, ?>)result.get("result")).get("value");
    }

    /** Waits until an expression is true. */
    public void await(final String expression) throws InterruptedException
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(STEP_S);
        while (!Boolean.TRUE.equals(evaluate(expression)))
        {
            if (System.nanoTime() - deadlineNs >= 0)
            {
                throw new IllegalStateException("not true within " + STEP_S + " s: " + expression + "; the page: " +
                    evaluate("document.body ? document.body.innerText : ''"));
            }
            Thread.sleep(100);
        }
    }

    /** Writes all of the page as PNG. */
    public void screenshot(final Path file) throws IOException
    {
        final Map<?, ?> result = call("Page.captureScreenshot", "{\"captureBeyondViewport\":true}");
        Files.write(file, Base64.getDecoder().decode(result.get("data").toString()));
    }

    @Override
    public void close()
    {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().orTimeout(STEP_S, TimeUnit.SECONDS).join();
        http.close();
        deleteTree(profile);
    }

    /** Helpers of the browser may still write for a moment. */
    private static void deleteTree(final Path folder)
    {
        for (int i = 0; i < 50 && Files.exists(folder); i++)
        {
            try (Stream<Path> files = Files.walk(folder))
            {
                for (final Path file : files.sorted((a, b) -> b.compareTo(a)).toList())
                {
                    Files.deleteIfExists(file);
                }
            }
            catch (final IOException | UncheckedIOException ex)
            {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            }
        }
    }
}
