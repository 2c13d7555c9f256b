package io.verbena.elle.command;

import io.verbena.elle.Validity;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.history.JsonWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class HistoryCheckTest
{
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private static HistoryReport check(final String model, final String workload, final String text)
    {
        return new HistoryCheck(CheckRequest.ofWords(model, workload, null, TIMEOUT_NS))
            .run(HistoryReader.parse("h", text));
    }

    private static String event(final String rest)
    {
        return "{:process 0 :type :invoke " + rest + "} {:process 0 :type :ok " + rest + "}\n";
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        ":f :write :value 1 | model | register",
        ":f :cas :value [1 2] | model | cas-register",
        ":f :put :value 1 :key 2 | model | kv-map",
        ":f :add :value 1 | model | set",
        ":f :enqueue :value 1 | model | queue",
        ":f :acquire | model | mutex",
        ":f :txn :value [[:append 1 2]] | workload | list-append",
        ":value [[:w 1 2] [:r 1 2]] | workload | rw-register"})
    void shouldGuessWhatHistoryIs(final String call, final String field, final String expected)
    {
        assertThat(check(null, null, event(call)).fields()).containsEntry(field, expected);
    }

    @Test
    void shouldReportBadHistoryForPeopleAndPrograms()
    {
        final HistoryReport report = check("register", null,
            event(":f :write :value 1") + event(":f :write :value 2") + event(":f :read :value 1"));

        assertThat(report.validity()).isEqualTo(Validity.INVALID);
        assertThat(report.text()).contains("NOT linearizable").contains("lines 3-3");
        final StringBuilder json = new StringBuilder();
        JsonWriter.appendValue(json, report.fields());
        assertThat(json).contains("\"verdict\":\"invalid\"", "\"prefix_events_count\":5", "\"elapsed_ms\":",
            "\"state_after_prefix\":\"2\"", "\"core_is_minimal\":true");
    }

    @Test
    void shouldReportAnomaliesOfTransactions()
    {
        final HistoryReport report = check(null, "list-append", """
            {:process 0 :type :invoke :f :txn :value [[:append 1 1]]}
            {:process 0 :type :fail :f :txn :value [[:append 1 1]]}
            {:process 0 :type :invoke :f :txn :value [[:r 1 nil]]}
            {:process 0 :type :ok :f :txn :value [[:r 1 [1]]]}
            """);

        assertThat(report.validity()).isEqualTo(Validity.INVALID);
        assertThat(report.text()).contains("NOT strict-serializable").contains("G1a");
        assertThat(report.fields()).containsEntry("verdict", "invalid").containsKey("strongest_remaining");
    }

    @Test
    void shouldLiftIndependentKeys()
    {
        final String text = """
            {:process 0 :type :invoke :f :write :value [1 7]}
            {:process 0 :type :ok :f :write :value [1 7]}
            {:process 0 :type :invoke :f :read :value [2 nil]}
            {:process 0 :type :ok :f :read :value [2 nil]}
            {:process 0 :type :invoke :f :cas :value [1 [7 8]]}
            {:process 0 :type :ok :f :cas :value [1 [7 8]]}
            """;

        final HistoryReport report = check(null, null, text);

        assertThat(report.validity()).isEqualTo(Validity.VALID);
        assertThat(report.fields()).containsEntry("objects_count", 2L).containsEntry("model", "cas-register");
    }

    @Test
    void shouldNotTakePairsOfCasForKeys()
    {
        assertThat(check(null, null, event(":f :write :value 1") + event(":f :cas :value [1 2]")).validity())
            .isEqualTo(Validity.VALID);
    }

    @Test
    void shouldSayWhenNoModelKnowsFunctions()
    {
        assertThatThrownBy(() -> check(null, null, event(":f :frobnicate :value 1")))
            .isInstanceOf(HistoryException.class).hasMessageContaining("frobnicate").hasMessageContaining("--model");
    }

    @Test
    void shouldRefuseWordsThatDoNotGoTogether()
    {
        assertThatThrownBy(() -> CheckRequest.ofWords("register", "list-append", null, 1))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CheckRequest.ofWords("register", null, "serializable", 1))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CheckRequest.ofWords("rigester", null, null, 1))
            .hasMessageContaining("no model rigester").hasMessageContaining("cas-register");
        assertThatThrownBy(() -> CheckRequest.ofWords(null, "lists", null, 1)).hasMessageContaining("list-append");
        assertThatThrownBy(() -> CheckRequest.ofWords(null, "list-append", "best", 1))
            .hasMessageContaining("serializable");
    }
}
