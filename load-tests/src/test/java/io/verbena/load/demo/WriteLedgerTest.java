package io.verbena.load.demo;

import io.verbena.load.ycsb.RecordCodec;
import io.verbena.load.ycsb.RecordListener;
import io.verbena.load.ycsb.RecordListener.Outcome;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class WriteLedgerTest
{
    private static final String KEY = "user1";

    private long nowNs;
    private final WriteLedger ledger = new WriteLedger(() -> ++nowNs);
    private final RecordListener first = ledger.worker(1);
    private final RecordListener second = ledger.worker(2);
    private final RecordListener reader = ledger.worker(3);
    private final RecordListener otherReader = ledger.worker(4);

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
        first.onWriteStart(KEY, 1);
        second.onWriteStart(KEY, 1);
        second.onWriteEnd(KEY, 1, Outcome.ACKNOWLEDGED);
        first.onWriteEnd(KEY, 1, Outcome.ACKNOWLEDGED);

        assertThat(ledger.violation(KEY, 1, 1)).isNull();
        assertThat(ledger.violation(KEY, 2, 1)).isNull();
    }

    @Test
    void shouldRefuseAWriteThatEndedBeforeTheLastBegan()
    {
        first.onWriteStart(KEY, 1);
        second.onWriteStart(KEY, 1);
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

    @Test
    void shouldAcceptAReadOfTheLastAcknowledgedWriteOnly()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        write(second, 1, Outcome.ACKNOWLEDGED);

        assertThat(isAccepted(2, 1)).isTrue();
        assertThat(isAccepted(1, 1)).as("stale").isFalse();
        assertThat(isAccepted(1, 2)).as("never written").isFalse();
        assertThat(ledger.reads()).isEqualTo(new WriteLedger.ReadFigures(3, 2, "a read of record user1 returned " +
            "(writer 1, sequence 1) instead of one of [(writer 2, sequence 1)]"));
    }

    @Test
    void shouldRefuseAReadOfTheValueOfAnotherRecord()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        first.onWriteStart("user2", 2);
        first.onWriteEnd("user2", 2, Outcome.ACKNOWLEDGED);

        assertThat(isAccepted(1, 2)).isFalse();
    }

    @Test
    void shouldRefuseAReadOfARecordThatNobodyWrote()
    {
        assertThat(isAccepted(1, 1)).isFalse();
    }

    @Test
    void shouldAcceptAReadOfEachWriteThatWasInFlightDuringIt()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        first.onWriteStart(KEY, 2);
        assertThat(isAccepted(1, 1)).isTrue();
        assertThat(isAccepted(1, 2)).isTrue();
        assertThat(isAccepted(2, 1)).as("not begun yet").isFalse();

        reader.onReadStart(KEY);
        otherReader.onReadStart(KEY);
        first.onWriteEnd(KEY, 2, Outcome.ACKNOWLEDGED);
        write(second, 1, Outcome.ACKNOWLEDGED);
        write(second, 2, Outcome.ACKNOWLEDGED);

        assertThat(isAcceptedAtEnd(reader, 1, 1)).as("the last when the read began").isTrue();
        assertThat(isAcceptedAtEnd(otherReader, 2, 1)).as("begun and replaced during the read").isTrue();
        assertThat(isAccepted(1, 2)).isFalse();
        assertThat(isAccepted(2, 1)).isFalse();
        assertThat(isAccepted(2, 2)).isTrue();
    }

    @Test
    void shouldRefuseAWriteThatWasReplacedBeforeTheReadBeganThoughAnotherReadIsOpen()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        reader.onReadStart(KEY);
        write(first, 2, Outcome.ACKNOWLEDGED);
        otherReader.onReadStart(KEY);
        write(first, 3, Outcome.ACKNOWLEDGED);

        assertThat(ledger.violation(KEY, 1, 2)).as("at the end only the last counts").isNotNull();
        assertThat(isAcceptedAtEnd(otherReader, 1, 1)).as("stale").isFalse();
        write(first, 4, Outcome.ACKNOWLEDGED);
        assertThat(isAcceptedAtEnd(reader, 1, 1)).isTrue();
    }

    @Test
    void shouldKeepWhatAnOpenReadMayReturnWhenReadsThatBeganLaterEnd()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        reader.onReadStart(KEY);
        otherReader.onReadStart(KEY);
        second.onReadStart(KEY);
        assertThat(isAcceptedAtEnd(otherReader, 1, 1)).isTrue();
        write(first, 2, Outcome.ACKNOWLEDGED);
        write(first, 3, Outcome.ACKNOWLEDGED);

        assertThat(isAcceptedAtEnd(reader, 1, 1)).isTrue();
        assertThat(isAcceptedAtEnd(second, 1, 3)).isTrue();
    }

    @Test
    void shouldAcceptAReadOfAWriteOfUnknownOutcomeButNotOfOneThatWasNotApplied()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        write(first, 2, Outcome.UNKNOWN);
        write(first, 3, Outcome.NOT_APPLIED);

        assertThat(isAccepted(1, 1)).isTrue();
        assertThat(isAccepted(1, 2)).isTrue();
        assertThat(isAccepted(1, 3)).isFalse();
    }

    @Test
    void shouldRefuseAReadOfWhatIsNoRecord()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        reader.onReadStart(KEY);
        reader.onReadEnd(new byte[3]);

        assertThat(ledger.reads().firstViolation())
            .startsWith("a read of record user1 cannot be judged: not a YCSB record: length=3");
    }

    @Test
    void shouldNotCountAReadThatReturnedNothing()
    {
        write(first, 1, Outcome.ACKNOWLEDGED);
        reader.onReadStart(KEY);
        reader.onReadEnd(null);

        assertThat(ledger.reads()).isEqualTo(new WriteLedger.ReadFigures(0, 0, null));
    }

    @Test
    void shouldForgetReplacedWritesOfARecordWhoseReadsOverlapForEver()
    {
        reader.onReadStart(KEY);
        for (int i = 1; i <= 1_000; i++)
        {
            write(first, i, Outcome.ACKNOWLEDGED);
            final RecordListener next = i % 2 == 1 ? otherReader : reader;
            next.onReadStart(KEY);
            assertThat(isAcceptedAtEnd(i % 2 == 1 ? reader : otherReader, 1, i)).isTrue();
            assertThat(ledger.candidates(KEY)).isLessThanOrEqualTo(3);
        }
    }

    private boolean isAccepted(final int writer, final long sequence)
    {
        reader.onReadStart(KEY);
        return isAcceptedAtEnd(reader, writer, sequence);
    }

    private boolean isAcceptedAtEnd(final RecordListener worker, final int writer, final long sequence)
    {
        final long violations = ledger.reads().violations();
        worker.onReadEnd(RecordCodec.encode(writer, sequence, Map.of()));
        return ledger.reads().violations() == violations;
    }

    private static void write(final RecordListener writer, final long sequence, final Outcome outcome)
    {
        writer.onWriteStart(KEY, sequence);
        writer.onWriteEnd(KEY, sequence, outcome);
    }
}
