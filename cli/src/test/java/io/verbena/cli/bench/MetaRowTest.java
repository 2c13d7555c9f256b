package io.verbena.cli.bench;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Goals of {@code bench meta} are judged as they are printed. */
class MetaRowTest
{
    @Test
    void shouldJudgeFigureThatIsComparedWithNothingByItself()
    {
        assertThat(MetaRow.most("death_longest_ms", 3_000, 3_000).isReached()).isTrue();
        assertThat(MetaRow.most("death_longest_ms", 3_000.1, 3_000).isReached()).isFalse();
        assertThat(MetaRow.most("death_longest_ms", 3_000.1, 3_000).line()).endsWith("<= 3,000.0 MISSED");
    }

    @Test
    void shouldJudgeRatioWhereThereIsReference()
    {
        assertThat(MetaRow.mostOfReference("restart_ms", 150, 100, 1.5).isReached()).isTrue();
        assertThat(MetaRow.mostOfReference("restart_ms", 151, 100, 1.5).isReached()).isFalse();
        assertThat(MetaRow.leastOfReference("registrations_per_s", 50, 100, 0.5).isReached()).isTrue();
        assertThat(MetaRow.leastOfReference("registrations_per_s", 49, 100, 0.5).isReached()).isFalse();
        assertThat(MetaRow.leastOfReference("registrations_per_s", 49, 100, 0.5).line())
            .contains("0.49").endsWith(">= 0.5 MISSED");
    }

    @Test
    void shouldReachWhatHasNoGoal()
    {
        final MetaRow row = MetaRow.most("data_operations_count", 39_533, Double.NaN);
        assertThat(row.isReached()).isTrue();
        assertThat(row.line()).doesNotContain("<=").doesNotContain("MISSED");
        assertThat(row.fields()).containsEntry("goal_at_most", null).containsEntry("reached", null);
    }

    @Test
    void shouldWriteFiguresWithGoal()
    {
        assertThat(MetaRow.leastOfReference("registrations_per_s", 60, 100, 0.5).fields())
            .containsEntry("figure", "registrations_per_s").containsEntry("own", 60.0)
            .containsEntry("reference", 100.0).containsEntry("ratio", 0.6)
            .containsEntry("goal_at_least", 0.5).containsEntry("reached", true);
    }
}
