package io.verbena.elle.html;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.Validity;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.elle.txn.TxnCheck;
import io.verbena.elle.txn.TxnOptions;
import io.verbena.elle.txn.TxnVerdict;
import io.verbena.elle.txn.TxnWorkload;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What can be said of a page without a browser. */
class PageTest
{
    static final String HOSTILE = "</script><img src=x onerror=\"document.body.dataset.caught=1\">&'";

    @Test
    void shouldDrawALinearizableHistory()
    {
        final String page = linear(SampleHistories.registers(200, 5, 3, 1, Integer.MAX_VALUE));
        assertThat(page).startsWith("<!DOCTYPE html>").contains("linearizable</span>").contains("200 operations");
        assertSelfContained(page);
    }

    @Test
    void shouldDrawWhereAHistoryBreaks()
    {
        final String page = linear(SampleHistories.registers(200, 5, 1, 1, 20));
        assertThat(page).contains("not linearizable").contains("\"breaking\":").contains("\"blocked\":[[");
        assertSelfContained(page);
    }

    @Test
    void shouldTellTheStepsOfACycleWithoutAnyScript()
    {
        final TxnVerdict verdict = txn("""
            {:process 0 :type :invoke :f :txn :value [[:r :x nil] [:append :y 1]]}
            {:process 1 :type :invoke :f :txn :value [[:r :y nil] [:append :x 2]]}
            {:process 0 :type :ok :f :txn :value [[:r :x []] [:append :y 1]]}
            {:process 1 :type :ok :f :txn :value [[:r :y []] [:append :x 2]]}
            """);
        final String markup = withoutScripts(TxnPage.of("skew.edn", verdict));
        assertThat(markup)
            .contains("not serializable")
            .contains("G2-item")
            .contains("T0 read key :x as [] and so did not see the append of 2 by T1")
            .contains("T1 read key :y as [] and so did not see the append of 1 by T0")
            .contains("So T0 would have to come before itself")
            .contains("read :x → []");
        assertSelfContained(TxnPage.of("skew.edn", verdict));
    }

    @Test
    void shouldSayThatNothingContradictsAGoodHistory()
    {
        final TxnVerdict verdict = txn("""
            {:process 0 :type :invoke :f :txn :value [[:append :y 1]]}
            {:process 0 :type :ok :f :txn :value [[:append :y 1]]}
            {:process 1 :type :invoke :f :txn :value [[:r :y nil]]}
            {:process 1 :type :ok :f :txn :value [[:r :y [1]]]}
            """);
        assertThat(verdict.validity()).isEqualTo(Validity.VALID);
        assertThat(withoutScripts(TxnPage.of("good.edn", verdict)))
            .contains("Nothing in this history contradicts").doesNotContain("<article");
    }

    @Test
    void shouldNotLetAValueBecomeMarkup()
    {
        final String linear = LinearPage.of(HOSTILE, hostileRegister(), check(hostileRegister()));
        final String txn = TxnPage.of(HOSTILE, hostileTransactions());
        for (final String page : List.of(linear, txn))
        {
            assertThat(page).doesNotContain(HOSTILE).doesNotContain("<img").contains("&lt;/script&gt;&lt;img");
            assertThat(page.split("<script", -1)).hasSize(3);
            assertThat(page.split("</script", -1)).hasSize(3);
        }
    }

    @Test
    void shouldCutValuesThatAreTooLongToRead()
    {
        final String page = linear(HistoryReader.parse("long.edn",
            "{:process 0 :type :invoke :f :write :value \"" + "x".repeat(100_000) + "\"}"));
        assertThat(page.length()).isLessThan(90_000);
    }

    static History hostileRegister()
    {
        final String value = HOSTILE.replace("\"", "\\\"");
        return HistoryReader.parse("h", """
            {:process 0 :type :invoke :f :write :key "%1$s" :value "%1$s"}
            {:process 0 :type :ok :f :write :value "%1$s"}
            {:process 0 :type :invoke :f :read :key "%1$s" :value nil}
            {:process 0 :type :ok :f :read :value "other %1$s"}
            """.formatted(value));
    }

    static TxnVerdict hostileTransactions()
    {
        final String value = HOSTILE.replace("\"", "\\\"");
        return txn("""
            {:process 0 :type :invoke :f :txn :value [[:append "%1$s" "%1$s"]]}
            {:process 0 :type :ok :f :txn :value [[:append "%1$s" "%1$s"]]}
            {:process 1 :type :invoke :f :txn :value [[:r "%1$s" nil]]}
            {:process 1 :type :ok :f :txn :value [[:r "%1$s" []]]}
            {:process 1 :type :invoke :f :txn :value [[:r "%1$s" nil]]}
            {:process 1 :type :ok :f :txn :value [[:r "%1$s" ["%1$s" "garbage %1$s"]]]}
            """.formatted(value));
    }

    static LinearVerdict check(final History history)
    {
        return new LinearChecker<>(Models.register(), LinearOptions.defaults()).check(history);
    }

    static TxnVerdict txn(final String text)
    {
        return TxnCheck.check(HistoryReader.parse("h.edn", text), TxnWorkload.LIST_APPEND,
            ConsistencyModel.SERIALIZABLE, TxnOptions.defaults());
    }

    static String linear(final History history)
    {
        return LinearPage.of("history.edn", history, check(history));
    }

    private static void assertSelfContained(final String page)
    {
        assertThat(page).doesNotContain("src=").doesNotContain("@import").doesNotContain("<link")
            .contains("default-src 'none'");
        // The one address is the name of a language, which nobody fetches.
        final Matcher addresses = Pattern.compile("https?://[^'\"\\s]+").matcher(page);
        while (addresses.find())
        {
            assertThat(addresses.group()).isEqualTo("http://www.w3.org/2000/svg");
        }
    }

    private static String withoutScripts(final String page)
    {
        return page.replaceAll("(?s)<script.*?</script>", "");
    }
}
