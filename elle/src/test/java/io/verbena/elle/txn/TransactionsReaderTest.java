package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.elle.Validity;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransactionsReaderTest
{
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "[[:append :x 1] [:append :x 1]] | 1 was written to key :x before",
        "[[:w :x 1]]                     | the operations of list-append are :r and :append, not :w",
        "[[:r :x 1]]                     | a read of list-append must give a list, not 1",
        "[[:append :x nil]]              | nil was written to key :x",
        "[[:append :x]]                  | must be [f key value], not [:append :x]",
        "[7]                             | must be [f key value], not 7",
        "7                               | must be a list of operations, not 7"})
    void shouldRefuseWhatIsNoTransactionOfLists(final String value, final String message)
    {
        final String text = "{:process 0 :type :invoke :f :txn :value nil}\n" +
            "{:process 0 :type :ok :f :txn :value " + value + "}";
        assertThatThrownBy(() -> TransactionsReader.read(
            HistoryReader.parse("h.edn", text), TxnWorkload.LIST_APPEND))
            .isInstanceOf(HistoryException.class)
            .hasMessageStartingWith("h.edn:2: ")
            .hasMessageContaining(message);
    }

    @Test
    void shouldNameBothLinesWhenAValueIsWrittenTwice()
    {
        final String text = """
            {:process 0 :type :invoke :f :txn :value [[:w :x 1]]}
            {:process 0 :type :fail :f :txn :value [[:w :x 1]]}
            {:process 1 :type :invoke :f :txn :value [[:w :x 1]]}
            """;
        assertThatThrownBy(() -> TransactionsReader.read(
            HistoryReader.parse("h.edn", text), TxnWorkload.RW_REGISTER))
            .hasMessageStartingWith("h.edn:3: 1 was written to key :x before, by operation 0 (line 1)");
    }

    @Test
    void shouldTakeStringsForKeywordsAsJsonHasThem()
    {
        final String text = """
            {"process":0,"type":"invoke","f":"txn","value":[["append","x",1],["r","x",null]]}
            {"process":0,"type":"ok","f":"txn","value":[["append","x",1],["r","x",[1]]]}
            {"process":0,"type":"invoke","f":"txn","value":[["r","x",null]]}
            {"process":0,"type":"ok","f":"txn","value":[["r","x",[1]]]}
            """;
        final TxnVerdict verdict = TxnCheck.check(HistoryReader.parse("h.json", text), TxnWorkload.LIST_APPEND,
            ConsistencyModel.STRICT_SERIALIZABLE, TxnOptions.defaults());
        assertThat(verdict.validity()).isEqualTo(Validity.VALID);
    }

    @Test
    void shouldTellNilInAListFromAnElement()
    {
        final String text = """
            {:process 0 :type :invoke :f :txn :value [[:append :x 1]]}
            {:process 0 :type :ok :f :txn :value [[:append :x 1]]}
            {:process 0 :type :invoke :f :txn :value [[:r :x nil]]}
            {:process 0 :type :ok :f :txn :value [[:r :x [1 nil]]]}
            """;
        final TxnVerdict verdict = TxnCheck.check(HistoryReader.parse("h.edn", text), TxnWorkload.LIST_APPEND,
            ConsistencyModel.STRICT_SERIALIZABLE, TxnOptions.defaults());
        assertThat(verdict.counts()).containsKey(AnomalyType.GARBAGE_READ);
    }
}
