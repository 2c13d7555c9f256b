package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class OperationFiguresTest
{
    private final OperationFigures figures = new OperationFigures();

    @ParameterizedTest
    @CsvSource({
        "-5, 0", "0, 0", "1, 0", "999, 0", "1000, 0",
        "1001, 1", "2000, 1", "2001, 2", "4000, 2", "4001, 3",
        "16777216000, 24", "16777216001, 25", "9223372036854775807, 25"})
    void shouldPutADurationIntoTheBucketWhoseBoundIsNotBelowIt(final long durationNs, final int bucket)
    {
        assertThat(OperationFigures.bucketOf(durationNs)).isEqualTo(bucket);
        assertThat(bucket == OperationFigures.BOUND_COUNT || durationNs <= OperationFigures.boundNs(bucket)).isTrue();
        assertThat(0 == bucket || durationNs > OperationFigures.boundNs(bucket - 1)).isTrue();
    }

    @Test
    void shouldCountEachKindAndAnswerApart()
    {
        for (final RequestKind kind : RequestKind.values())
        {
            for (final OperationAnswer answer : OperationAnswer.values())
            {
                for (int i = 0; i <= kind.ordinal() * 20 + answer.ordinal(); i++)
                {
                    figures.answered(kind, answer, 3_000);
                }
            }
        }
        long all = 0;
        for (final RequestKind kind : RequestKind.values())
        {
            long ofKind = 0;
            for (final OperationAnswer answer : OperationAnswer.values())
            {
                final long count = kind.ordinal() * 20 + answer.ordinal() + 1;
                assertThat(figures.count(kind, answer)).as("%s %s", kind, answer).isEqualTo(count);
                ofKind += count;
            }
            assertThat(figures.durationCount(kind, 2)).as("%s", kind).isEqualTo(ofKind);
            assertThat(figures.totalNs(kind)).isEqualTo(3_000 * ofKind);
            all += ofKind;
        }
        assertThat(figures.answeredCount()).isEqualTo(all);
    }

    @Test
    void shouldCountWaitsAndResponsesOfOperationsOnOneRecordOnly()
    {
        figures.answered(RequestKind.GET, OperationAnswer.FOUND, 3_000, 6_000);
        figures.answered(RequestKind.PUT, OperationAnswer.STORED, -1, 500);
        figures.answered(RequestKind.SCAN, OperationAnswer.FOUND, 7_000);
        final long[] waits = new long[OperationFigures.BOUND_COUNT + 1];
        waits[OperationFigures.bucketOf(6_000)]++;
        waits[0]++;
        assertThat(figures.waitCounts()).isEqualTo(waits);
        final long[] responses = new long[OperationFigures.BOUND_COUNT + 1];
        responses[OperationFigures.bucketOf(9_000)]++;
        responses[0]++;
        assertThat(figures.responseCounts()).isEqualTo(responses);
        assertThat(figures.totalWaitNs()).isEqualTo(6_500);
        assertThat(figures.totalResponseNs()).isEqualTo(9_500);
        assertThat(figures.totalNs()).isEqualTo(10_000);
        assertThat(figures.answeredCount()).isEqualTo(3);
        assertThat(figures.durationCount(RequestKind.GET, OperationFigures.bucketOf(3_000))).isEqualTo(1);
    }

    @Test
    void shouldNotTimeWhatWasNotBegun()
    {
        figures.refused(RequestKind.GET, OperationAnswer.NOT_SERVING);
        figures.answered(RequestKind.GET, OperationAnswer.FOUND, -1);
        assertThat(figures.count(RequestKind.GET, OperationAnswer.NOT_SERVING)).isEqualTo(1);
        assertThat(figures.durationCount(RequestKind.GET, 0)).isEqualTo(1);
        assertThat(figures.totalNs(RequestKind.GET)).isZero();
        assertThat(figures.answeredCount()).isEqualTo(1);
    }

    @Test
    void shouldCountNothingWhilePaused()
    {
        final OperationFigures figures = new OperationFigures();
        figures.pause(true);
        assertThat(figures.isPaused()).isTrue();
        figures.answered(RequestKind.SCAN, OperationAnswer.FOUND, 1_000);
        figures.answered(RequestKind.GET, OperationAnswer.FOUND, 1_000, 500);
        assertThat(figures.answeredCount()).isZero();
        assertThat(figures.count(RequestKind.GET, OperationAnswer.FOUND)).isZero();
        assertThat(figures.waitCounts()).containsOnly(0);
        figures.pause(false);
        figures.answered(RequestKind.GET, OperationAnswer.FOUND, 1_000, 500);
        assertThat(figures.answeredCount()).isEqualTo(1);
    }
}
