package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.browser.HeadlessBrowser;
import io.verbena.cli.cluster.ProcessTable.Entry;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dashboard of a cluster of processes: its JSON, and where a Chromium is installed the page. The property {@code
 * verbena.screenshots} names a folder for pictures of it.
 */
@Timeout(300)
class DashboardSystemTest
{
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    private CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.toString()));
        return CommandLines.run(all);
    }

    private void succeed(final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        assertThat(result.status()).as("%s: %s%s", List.of(arguments), result.out(), result.err()).isZero();
    }

    private Entry entry(final String name)
    {
        return new ProcessTable(directory.resolve("processes")).entries().stream()
            .filter((entry) -> entry.name().equals(name)).findFirst().orElseThrow();
    }

    private static String text(final String url) throws Exception
    {
        try (InputStream in = URI.create(url).toURL().openStream())
        {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldShowAClusterThatWorksAndOneThatDoesNot() throws Exception
    {
        succeed("up", "--compute-nodes", "2", "--memory", "64");
        final String url = "http://localhost:" + entry("meta-server").healthPort() + "/dashboard";
        succeed("put", "hello", "world");
        awaitTables(url);
        final Map<String, Object> status = JsonReader.object(text(url + ".json"));
        assertThat(status.keySet()).containsExactly("time_ms", "address", "ready", "errors", "warnings", "processes",
            "slow_operations", "autoscaler_decisions", "tables", "tables_time_ms");
        assertThat(status.get("ready")).isEqualTo(true);
        assertThat(status.get("errors")).isEqualTo(List.of());
        assertThat(status.get("processes")).asString().contains("name=meta-server", "name=memory-1", "name=compute-1",
            "name=compute-2", "kinds={put={answers={stored=1}", "node_transports={meta-server=shared-memory, node 1=");
        if (HeadlessBrowser.installed().isEmpty())
        {
            System.out.println("no Chromium is installed: the dashboard's JSON is tested, its page is not");
            killComputeNode(url);
            return;
        }
        try (HeadlessBrowser browser = HeadlessBrowser.start())
        {
            showWhatWorks(browser, url);
            killComputeNode(url);
            showWhatDoesNot(browser);
        }
    }

    private void killComputeNode(final String url) throws Exception
    {
        kill(entry("compute-2"));
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!text(url + ".json").contains("is dead; './verbena up' starts it again"))
        {
            assertThat(System.nanoTime() - deadlineNs).isNegative();
            Thread.sleep(100);
        }
    }

    private static void kill(final Entry entry)
    {
        final ProcessHandle process = entry.process().orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    private static void awaitTables(final String url) throws Exception
    {
        final long deadlineNs = System.nanoTime() + STEP_NS;
        while (!text(url + ".json").contains("\"table\":\"default\",\"records\":1,"))
        {
            assertThat(System.nanoTime() - deadlineNs).as(text(url + ".json")).isNegative();
            Thread.sleep(100);
        }
    }

    private void showWhatWorks(final HeadlessBrowser browser, final String url) throws Exception
    {
        browser.open(url, 360, 800, false);
        browser.await("document.getElementById('state') !== null && " +
            "document.getElementById('state').textContent === 'ready'");
        browser.await("document.querySelector('#tables tbody').innerText.includes('default') && " +
            "document.querySelectorAll('#map .node').length === 4 && " +
            "document.querySelectorAll('#map > svg > line').length >= 4");
        assertThat(browser.evaluate("document.getElementById('faults').children.length")).isEqualTo(0L);
        assertThat(browser.evaluate("document.querySelectorAll('img, iframe, [src^=http], [href^=http]').length"))
            .isEqualTo(0L);
        final Object light = checkAt(browser, 360, false);
        assertThat(checkAt(browser, 360, true)).as("background").isNotEqualTo(light);
        assertThat(checkAt(browser, 1_920, false)).isEqualTo(light);
        checkNames(browser);
        succeed("put", "again", "world");
        browser.await("document.querySelector('#kinds tbody').innerText.includes('put') && " +
            "document.querySelector('#latency path[class=s1]').getAttribute('d').length > 5");
    }

    private void showWhatDoesNot(final HeadlessBrowser browser) throws Exception
    {
        browser.await("document.getElementById('state').textContent === 'needs attention' && " +
            "document.getElementById('faults').innerText.includes('compute-2: process')");
        browser.await("document.querySelectorAll('#map .node.bad').length === 1");
        checkAt(browser, 1_920, true);
        browser.evaluate("window.fetch = () => Promise.reject(new Error('planted')), 0");
        browser.await("document.getElementById('state').textContent === 'no answer'");
    }

    /** @return colour of the page. */
    private static Object checkAt(final HeadlessBrowser browser, final int width, final boolean isDark)
        throws Exception
    {
        browser.resize(width, 900, isDark);
        browser.await("Math.abs(document.querySelector('#throughput svg').viewBox.baseVal.width - " +
            "Math.max(280, document.getElementById('throughput').clientWidth)) < 2");
        assertThat(browser.evaluate("document.documentElement.scrollWidth <= " + width)).as("%s pixels", width)
            .isEqualTo(true);
        final String folder = System.getProperty("verbena.screenshots");
        if (null != folder)
        {
            browser.screenshot(Files.createDirectories(Path.of(folder)).resolve("dashboard-" + width +
                (isDark ? "-dark" : "-light") + ".png"));
        }
        return browser.evaluate("getComputedStyle(document.body).backgroundColor");
    }

    /** What a screen reader says of pictures and of what scrolls. */
    private static void checkNames(final HeadlessBrowser browser)
    {
        assertThat(browser.evaluate("[...document.querySelectorAll('[role=img], section, [role=region]')]" +
            ".filter(e => !e.getAttribute('aria-label') && !(e.getAttribute('aria-labelledby') && " +
            "document.getElementById(e.getAttribute('aria-labelledby')))).length")).isEqualTo(0L);
        assertThat(browser.evaluate("[...document.querySelectorAll('th')].filter(e => !e.scope).length")).isEqualTo(0L);
        assertThat(browser.evaluate("document.documentElement.lang")).isEqualTo("en");
    }
}
