package io.verbena.cli.autoscale;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BackoffTest
{
    private final Backoff backoff = new Backoff(2_000);

    @Test
    void shouldWaitTwiceAsLongEachTimeUpToAMinute()
    {
        assertThat(backoff.leftMs(0)).isZero();
        long nowMs = 1_000;
        for (final long waitMs : new long[]{2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000})
        {
            backoff.failed(nowMs);
            assertThat(backoff.leftMs(nowMs)).isEqualTo(waitMs);
            nowMs += waitMs;
            assertThat(backoff.leftMs(nowMs - 1)).isEqualTo(1);
            assertThat(backoff.leftMs(nowMs)).isZero();
        }
    }

    @Test
    void shouldBeginAnewAfterFiveMinutesWithoutTrouble()
    {
        backoff.failed(0);
        backoff.failed(Backoff.FORGET_MS);
        assertThat(backoff.leftMs(Backoff.FORGET_MS)).as("not longer ago").isEqualTo(4_000);
        backoff.failed(2 * Backoff.FORGET_MS + 1);
        assertThat(backoff.leftMs(2 * Backoff.FORGET_MS + 1)).isEqualTo(2_000);
    }

    @Test
    void shouldBeginAnewAfterSuccess()
    {
        backoff.failed(0);
        backoff.failed(10);
        backoff.succeeded();
        assertThat(backoff.leftMs(11)).isZero();
        backoff.failed(20);
        assertThat(backoff.leftMs(20)).isEqualTo(2_000);
    }
}
