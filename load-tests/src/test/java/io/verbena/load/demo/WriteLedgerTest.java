package io.verbena.load.demo;

import io.verbena.load.ycsb.WriteListener;
import io.verbena.load.ycsb.WriteListener.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class WriteLedgerTest
{
    private static final String KEY = "user1";

    private long nowNs;
    private final WriteLedger ledger = new WriteLedger(() -> ++nowNs);
    private final WriteListener first = ledger.writer(1);
    private final WriteListener second = ledger.writer(2);

    @Test
    void shouldAcceptTheLastAcknowledgedWriteOnly()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        write(second, 1, Outcome.ACKNOWLEDGED);
        write(first, 2, Outcome.ACKNOWLEDGED);

        assertThat(ledger.violation(KEY, 1, 2)).isNull();
        assertThat(ledger.violation(KEY, 2, 1)).contains("holds (writer 2, sequence 1)", "(writer 1, sequence 2)");
        assertThat(ledger.violation(KEY, 1, 1)).isNotNull();
    }

    @Test
    void shouldAcceptEachWriteThatOverlappedTheLast()
    {
        first.onWriteStart();
        second.onWriteStart();
        second.onWriteEnd(KEY, 1, Outcome.ACKNOWLEDGED);
        first.onWriteEnd(KEY, 1, Outcome.ACKNOWLEDGED);

        assertThat(ledger.violation(KEY, 1, 1)).isNull();
        assertThat(ledger.violation(KEY, 2, 1)).isNull();
    }

    @Test
    void shouldRefuseAWriteThatEndedBeforeTheLastBegan()
    {
        first.onWriteStart();
        second.onWriteStart();
        second.onWriteEnd(KEY, 1, Outcome.ACKNOWLEDGED);
        write(second, 2, Outcome.ACKNOWLEDGED);
        first.onWriteEnd(KEY, 1, Outcome.ACKNOWLEDGED);

        assertThat(ledger.violation(KEY, 1, 1)).isNull();
        assertThat(ledger.violation(KEY, 2, 2)).isNull();
        assertThat(ledger.violation(KEY, 2, 1)).isNotNull();
    }

    @Test
    void shouldAcceptAWriteOfUnknownOutcomeForEver()
    {
        write(first, 1, Outcome.UNKNOWN);
        write(second, 1, Outcome.ACKNOWLEDGED);
        write(second, 2, Outcome.ACKNOWLEDGED);

        assertThat(ledger.violation(KEY, 1, 1)).isNull();
        assertThat(ledger.violation(KEY, 2, 2)).isNull();
        assertThat(ledger.violation(KEY, 2, 1)).isNotNull();
    }

    @Test
    void shouldRefuseAWriteThatWasNotApplied()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        write(first, 2, Outcome.NOT_APPLIED);

        assertThat(ledger.violation(KEY, 1, 1)).isNull();
        assertThat(ledger.violation(KEY, 1, 2)).isNotNull();
    }

    @Test
    void shouldAskForARecordOnlyWhenSomeWriteWasAcknowledged()
    {
        write(first, 1, Outcome.UNKNOWN);
        assertThat(ledger.mustExist(KEY)).isFalse();

        write(second, 1, Outcome.ACKNOWLEDGED);
        assertThat(ledger.mustExist(KEY)).isTrue();
    }

    private static void write(final WriteListener writer, final long sequence, final Outcome outcome)
    {
        writer.onWriteStart();
        writer.onWriteEnd(KEY, sequence, outcome);
    }
}
