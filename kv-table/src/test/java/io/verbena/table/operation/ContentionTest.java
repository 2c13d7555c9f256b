package io.verbena.table.operation;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ContentionTest
{
    private static final int WINDOW = 32;

    private final Contention contention = new Contention(1_000, 16_000, 8, 1);

    @Test
    void shouldPauseNotBeforeTheDoorstepAndNeverLongerThanTheBound()
    {
        assertThat(contention.pauseNs(2, 2)).isZero();
        for (int losses = 3; losses < 60; losses++)
        {
            final long bound = Math.min(16_000, 1_000L << Math.min(20, losses - 3));
            assertThat(contention.pauseNs(losses, 2)).isBetween(1L, bound);
        }
    }

    @Test
    void shouldAdmitAsManyWritersAsThereIsCredit()
    {
        for (int i = 0; i < 8; i++)
        {
            assertThat(contention.admit()).isTrue();
        }
        assertThat(contention.admit()).isFalse();
        contention.ended(0);
        assertThat(contention.admit()).isTrue();
    }

    @Test
    void shouldHalveTheCreditDownToOneWhileManyLose()
    {
        endWindow(9);
        assertThat(contention.credit()).isEqualTo(4);
        endWindow(9);
        endWindow(WINDOW);
        assertThat(contention.credit()).isEqualTo(1);
        endWindow(WINDOW);
        assertThat(contention.credit()).isEqualTo(1);
        assertThat(contention.admit()).isTrue();
    }

    @Test
    void shouldDoubleTheCreditUpToAllSlotsWhileFewLose()
    {
        endWindow(WINDOW);
        endWindow(8);
        assertThat(contention.credit()).isEqualTo(4);
        endWindow(3);
        assertThat(contention.credit()).isEqualTo(8);
        endWindow(0);
        assertThat(contention.credit()).isEqualTo(8);
    }

    private void endWindow(final int losers)
    {
        for (int i = 0; i < WINDOW; i++)
        {
            contention.admit();
            contention.ended(i < losers ? 3 : 0);
        }
    }
}
