package io.verbena.elle.html;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.txn.TxnCheck;
import io.verbena.elle.txn.TxnOptions;
import io.verbena.elle.txn.TxnVerdict;
import io.verbena.elle.txn.TxnWorkload;
import io.verbena.elle.txn.generate.TxnFault;
import io.verbena.elle.txn.generate.TxnHistoryGenerator;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import javax.imageio.ImageIO;

/** The pages in a real browser. */
class PageSystemTest
{
    @TempDir
    private Path directory;
    private Chromium chromium;

    @BeforeEach
    void findBrowser()
    {
        chromium = Chromium.orSkip(directory);
    }

    @Test
    void shouldShowEveryOperationOfTenThousands() throws Exception
    {
        final String page = PageTest.linear(SampleHistories.registers(12_000, 20, 8, 5, Integer.MAX_VALUE));
        final String dom = chromium.open(page, "");
        assertRanWell(dom);
        assertThat(attribute(dom, "bars")).isEqualTo("12000");
        assertThat(Integer.parseInt(attribute(dom, "drawn"))).isBetween(20, 12_000);
    }

    @Test
    void shouldFindOperationsBySearching() throws Exception
    {
        final String page = PageTest.linear(SampleHistories.registers(300, 5, 1, 5, Integer.MAX_VALUE));
        final String dom = chromium.open(page, "#q=write");
        final long writes = page.lines().filter(line -> line.contains("\"write\"")).count();
        assertRanWell(dom);
        assertThat(attribute(dom, "matches")).isEqualTo(Long.toString(writes));
        assertThat(attribute(dom, "selected")).isNotEmpty();
        assertThat(attribute(chromium.open(page, "#q=nowhere"), "matches")).isEqualTo("0");
    }

    @Test
    void shouldBeginWhereAHistoryBreaks() throws Exception
    {
        final String page = PageTest.linear(SampleHistories.registers(400, 6, 3, 5, 200));
        final String dom = chromium.open(page, "");
        assertRanWell(dom);
        assertThat(dom).contains("Where it breaks").contains("What cannot come next")
            .contains("no order explains this result");
        assertThat(colorsOf(chromium.picture(page))).contains(0xc22f2f);
    }

    @Test
    void shouldDrawEveryCycle() throws Exception
    {
        final TxnVerdict verdict = TxnCheck.check(
            new TxnHistoryGenerator(TxnWorkload.LIST_APPEND, 3).transactions(400)
                .fault(TxnFault.WRITE_SKEW, 20).generate(),
            TxnWorkload.LIST_APPEND, ConsistencyModel.SERIALIZABLE, TxnOptions.defaults());
        final String dom = chromium.open(TxnPage.of("skew.edn", verdict), "");
        assertRanWell(dom);
        assertThat(Integer.parseInt(attribute(dom, "cycles"))).isEqualTo(verdict.anomalies().size()).isPositive();
        assertThat(dom).contains("<svg").contains("strong-session-snapshot-isolation</text>");
    }

    @Test
    void shouldNotRunWhatAHistorySays() throws Exception
    {
        for (final String page : new String[]{
            LinearPage.of(PageTest.HOSTILE, PageTest.hostileRegister(),
                PageTest.check(PageTest.hostileRegister())),
            TxnPage.of(PageTest.HOSTILE, PageTest.hostileTransactions())})
        {
            final String dom = chromium.open(page, "");
            assertRanWell(dom);
            assertThat(dom).doesNotContain("data-caught").doesNotContain("<img");
        }
    }

    private static void assertRanWell(final String dom)
    {
        assertThat(attribute(dom, "errors")).as(attribute(dom, "error")).isEqualTo("0");
        assertThat(attribute(dom, "ready")).isEqualTo("true");
    }

    /** What a page's script notes of itself on its body. */
    private static String attribute(final String dom, final String name)
    {
        final String start = " data-" + name + "=\"";
        final int from = dom.indexOf(start);
        return from < 0 ? "" : dom.substring(from + start.length(), dom.indexOf('"', from + start.length()));
    }

    private static Set<Integer> colorsOf(final Path picture) throws IOException
    {
        final BufferedImage image = ImageIO.read(picture.toFile());
        final Set<Integer> colors = new HashSet<>();
        for (int y = 0; y < image.getHeight(); y++)
        {
            for (int x = 0; x < image.getWidth(); x++)
            {
                colors.add(image.getRGB(x, y) & 0xFFFFFF);
            }
        }
        return colors;
    }
}
