package io.verbena.compute.growth;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MergeRefusalsTest
{
    private static final int NODE = 3;
    private static final int OTHER_NODE = 4;

    private final MergeRefusals refusals = new MergeRefusals();

    /** Siblings with few records stay that: thousands of refusals, and a dozen sweeps. */
    @Test
    void shouldSweepLessAndLessOften()
    {
        int sweeps = 0;
        for (int i = 0; i < 3_600; i++)
        {
            sweeps += refusals.onRefused(NODE) ? 1 : 0;
        }
        assertThat(sweeps).isEqualTo(12);
        assertThat(refusals.onRefused(OTHER_NODE)).as("another memory node").isTrue();
    }

    @Test
    void shouldSweepAtOnceWhenThereWasMemoryMeanwhile()
    {
        for (int i = 0; i < 100; i++)
        {
            refusals.onRefused(NODE);
        }
        assertThat(refusals.onRefused(NODE)).isFalse();
        refusals.onLeased(NODE);
        assertThat(refusals.onRefused(NODE)).isTrue();
    }
}
