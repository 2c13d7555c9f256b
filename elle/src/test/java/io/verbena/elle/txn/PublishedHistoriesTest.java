package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.elle.Validity;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Histories of transactions that other tools publish, with the verdicts they publish. They are not kept here: clone the
 * repositories that {@code docs/elle-trust.md} names side by side and give their folder as
 * {@code -Dverbena.elle.histories}.
 */
class PublishedHistoriesTest
{
    private static final String FOLDER = System.getProperty("verbena.elle.histories");

    // Before each, because Surefire does not count what is skipped before all.
    @BeforeEach
    void needHistories()
    {
        assumeTrue(FOLDER != null, "no public histories: give their folder as -Dverbena.elle.histories");
    }

    @ParameterizedTest
    @CsvSource({
        "elle-cli/histories/elle/paper-example.edn, strict-serializable, INVALID",
        "elle-cli/histories/elle/paper-example.json, strict-serializable, INVALID",
        "elle-cli/histories/elle/list-append-gh-30.edn, serializable, INVALID",
        "elle/histories/si-without-g-single.edn, serializable, INVALID",
        "elle/histories/si-without-g-single.edn, snapshot-isolation, VALID",
        "elle/histories/huge-scc.edn, strict-serializable, INVALID",
        "elle/histories/huge-scc.edn, strong-read-committed, VALID"})
    void shouldGiveThePublishedVerdict(final String file, final String model, final Validity published)
        throws IOException
    {
        assertThat(check(file, TxnWorkload.LIST_APPEND, model).validity()).isEqualTo(published);
    }

    @Test
    void shouldFindTheReadSkewOfThePaper() throws IOException
    {
        assertThat(check("elle-cli/histories/elle/paper-example.edn", TxnWorkload.LIST_APPEND, "serializable")
            .counts()).containsKey(AnomalyType.G_SINGLE);
    }

    @Test
    void shouldRuleOutNoMoreThanWasPublished() throws IOException
    {
        final TxnVerdict skew = check(
            "elle/histories/si-without-g-single.edn", TxnWorkload.LIST_APPEND, "serializable");
        assertThat(skew.counts()).containsKey(AnomalyType.G2_ITEM)
            .doesNotContainKeys(AnomalyType.G_SINGLE, AnomalyType.G_NONADJACENT);
        assertThat(skew.ruledOut()).contains(ConsistencyModel.REPEATABLE_READ);
        final TxnVerdict huge = check("elle/histories/huge-scc.edn", TxnWorkload.LIST_APPEND, "strict-serializable");
        assertThat(huge.ruledOut()).containsExactly(ConsistencyModel.STRONG_SNAPSHOT_ISOLATION);
    }

    /** Elle takes a value that nobody wrote for an initial state; here a register is nil at first. */
    @ParameterizedTest
    @ValueSource(strings = {"rw-register.edn", "rw-register.json"})
    void shouldDisagreeWhereNobodyWroteWhatWasRead(final String file) throws IOException
    {
        final TxnVerdict verdict =
            check("elle-cli/histories/elle/" + file, TxnWorkload.RW_REGISTER, "strict-serializable");
        assertThat(verdict.validity()).isEqualTo(Validity.INVALID);
        assertThat(verdict.counts()).containsOnlyKeys(AnomalyType.GARBAGE_READ);
    }

    private static TxnVerdict check(final String file, final TxnWorkload workload, final String model)
        throws IOException
    {
        return TxnCheck.check(HistoryReader.read(Path.of(FOLDER, file)), workload, ConsistencyModel.ofWord(model),
            TxnOptions.defaults());
    }
}
