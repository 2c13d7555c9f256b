package io.verbena.cli.bench.copies;

import org.junit.jupiter.api.Test;

import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class FailoverRowTest
{
    @Test
    void shouldFindPercentilesAmongTheValues()
    {
        final double[] hundred = IntStream.rangeClosed(1, 100).map((i) -> 101 - i).asDoubleStream().toArray();
        assertThat(FailoverRow.percentile(hundred, 99)).isEqualTo(99);
        assertThat(FailoverRow.percentile(hundred, 100)).isEqualTo(100);
        assertThat(FailoverRow.percentile(hundred, 50)).isEqualTo(50);
        assertThat(FailoverRow.percentile(new double[]{3, 1, 2}, 99)).isEqualTo(3);
        assertThat(FailoverRow.percentile(new double[]{7}, 0)).isEqualTo(7);
        assertThat(hundred[0]).as("left as it is").isEqualTo(100);
    }

    @Test
    void shouldSayWhatMissedItsGoal()
    {
        final FailoverRow reached = new FailoverRow("death_ms", 1_000, 1_000);
        assertThat(reached.isReached()).isTrue();
        assertThat(reached.line()).endsWith("1,000.0     <= 1,000");
        final FailoverRow missed = new FailoverRow("death_ms", 1_000.5, 1_000);
        assertThat(missed.isReached()).isFalse();
        assertThat(missed.line()).endsWith("<= 1,000 MISSED");
        assertThat(FailoverRow.of("entry_ms", 5).isReached()).isTrue();
        assertThat(FailoverRow.of("entry_ms", 5).line()).endsWith(" 5.0");
        assertThat(missed.fields()).containsEntry("reached", false).containsEntry("most", 1_000.0);
    }
}
