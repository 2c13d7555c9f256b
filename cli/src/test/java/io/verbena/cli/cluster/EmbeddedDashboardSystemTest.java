package io.verbena.cli.cluster;

import io.verbena.cli.browser.HeadlessBrowser;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterOptions;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page of an embedded cluster in a Chromium. The property {@code verbena.screenshots} names a folder for pictures.
 */
@Timeout(180)
class EmbeddedDashboardSystemTest
{
    @Test
    void shouldShowNodesOfOneProcess() throws Exception
    {
        Assumptions.assumeTrue(HeadlessBrowser.installed().isPresent(), "no Chromium is installed");
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(32 << 20)
            .computeNodes(2).dashboardPort(0));
            HeadlessBrowser browser = HeadlessBrowser.start())
        {
            final KvTable table = cluster.client().createTable("users", new TableOptions(1_000));
            browser.open(cluster.dashboardUrl(), 360, 800, false);
            browser.await("document.getElementById('state') !== null && " +
                "document.getElementById('state').textContent === 'ready'");
            browser.await("document.querySelectorAll('#map .node').length === 5 && " +
                "document.querySelectorAll('#map > svg > line').length === 8");
            // Each node has its own rates, although all have one process number.
            for (int i = 0; i < 1_000; i++)
            {
                table.put(new byte[]{(byte)i, (byte)(i >> 8)}, new byte[100]);
            }
            browser.await("document.querySelector('#kinds tbody').innerText.includes('put') && " +
                "document.querySelector('#kinds tbody').innerText.includes('1,000') && " +
                "document.querySelector('#latency path[class=s1]').getAttribute('d').length > 5");
            browser.await("document.querySelector('#tables tbody').innerText.includes('1,000')");
            assertThat(browser.evaluate("document.getElementById('faults').children.length")).isEqualTo(0L);
            assertThat(browser.evaluate("[...document.querySelectorAll('.of-processes')].map(" +
                "each => getComputedStyle(each).display).join()")).isEqualTo("none,none");
            assertThat(browser.evaluate("document.body.innerText.includes('./verbena')")).isEqualTo(false);
            checkWidth(browser, 360, false);
            checkWidth(browser, 1_920, true);
        }
    }

    private static void checkWidth(final HeadlessBrowser browser, final int width, final boolean isDark)
        throws Exception
    {
        browser.resize(width, 900, isDark);
        browser.await("Math.abs(document.querySelector('#throughput svg').viewBox.baseVal.width - " +
            "Math.max(280, document.getElementById('throughput').clientWidth)) < 2");
        assertThat(browser.evaluate("document.documentElement.scrollWidth <= " + width)).isEqualTo(true);
        final String folder = System.getProperty("verbena.screenshots");
        if (null != folder)
        {
            browser.screenshot(Files.createDirectories(Path.of(folder)).resolve("embedded-" + width +
                (isDark ? "-dark" : "-light") + ".png"));
        }
    }
}
