package io.verbena.meta;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ActivationDelayTest
{
    private static final long BEGAN_NS = Long.MAX_VALUE - 5;
    private final ActivationDelay delay = new ActivationDelay();

    private boolean isOver(final long versions, final long activations, final boolean isUrgent, final long afterNs)
    {
        return delay.isOver(versions, activations, isUrgent, BEGAN_NS + afterNs);
    }

    @Test
    void shouldLetNodesWaitForTwentyMilliseconds()
    {
        assertThat(delay.leftNs(BEGAN_NS)).isEqualTo(Long.MAX_VALUE);
        assertThat(isOver(1, 1, false, 0)).isFalse();
        assertThat(delay.isUnderWay()).isTrue();
        assertThat(delay.leftNs(BEGAN_NS)).isEqualTo(ActivationDelay.DELAY_NS);
        assertThat(isOver(2, 2, false, ActivationDelay.DELAY_NS - 1)).as("another one").isFalse();
        assertThat(delay.leftNs(BEGAN_NS + ActivationDelay.DELAY_NS - 1)).isEqualTo(1);
        assertThat(delay.leftNs(BEGAN_NS + ActivationDelay.DELAY_NS + 1)).isZero();
        assertThat(isOver(2, 2, false, ActivationDelay.DELAY_NS)).isTrue();
        assertThat(delay.isUnderWay()).isFalse();
        assertThat(delay.leftNs(BEGAN_NS)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldDelayNothingElse()
    {
        assertThat(isOver(0, 0, false, 0)).as("a node that asks").isTrue();
        assertThat(isOver(1, 0, false, 0)).as("a node that came").isTrue();
        assertThat(isOver(1, 1, true, 0)).as("somebody waits for an epoch").isTrue();
        assertThat(isOver(2, 1, false, 0)).as("a table was dropped besides").isTrue();
        assertThat(delay.isUnderWay()).isFalse();
    }

    @Test
    void shouldEndWhenAnythingElseComes()
    {
        assertThat(isOver(1, 1, false, 0)).isFalse();
        assertThat(isOver(2, 1, false, 1)).isTrue();
        assertThat(isOver(1, 1, false, 2)).as("the next one").isFalse();
        assertThat(delay.leftNs(BEGAN_NS + 2)).isEqualTo(ActivationDelay.DELAY_NS);
        assertThat(isOver(1, 1, true, 3)).isTrue();
        assertThat(delay.isUnderWay()).isFalse();
    }
}
