package io.verbena.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Figures are soon those of what was done last, and seldom taken when nothing is. */
class FigurePaceTest
{
    private final FigurePace pace = new FigurePace(0);

    @Test
    void shouldTakeThemSeldomAtRest()
    {
        assertThat(pace.isDue(0, FigurePace.REST_NS - 1)).isFalse();
        assertThat(pace.leftNs(FigurePace.REST_NS - 1)).isOne();
        assertThat(pace.isDue(0, FigurePace.REST_NS)).isTrue();
        assertThat(pace.leftNs(FigurePace.REST_NS)).isEqualTo(FigurePace.REST_NS);
    }

    @Test
    void shouldTakeThemSoonAfterWork()
    {
        assertThat(pace.isDue(1, 1)).isFalse();
        assertThat(pace.leftNs(1)).isEqualTo(FigurePace.WORK_NS - 1);
        assertThat(pace.isDue(0, FigurePace.WORK_NS)).isTrue();
        assertThat(pace.isDue(0, 2 * FigurePace.WORK_NS)).as("nothing was done since").isFalse();
        assertThat(pace.isDue(3, 3 * FigurePace.WORK_NS)).as("long after the last ones").isTrue();
    }
}
