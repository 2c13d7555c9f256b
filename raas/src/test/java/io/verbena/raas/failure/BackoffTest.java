package io.verbena.raas.failure;

import io.verbena.raas.limit.RaasMisuseException;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@link Backoff}. */
class BackoffTest
{
    private static final long MIN_NS = 1_000;
    private static final long MAX_NS = 50_000;

    @Test
    void shouldDoubleUpToTheLongestPauseAndBeginAgainAfterSuccess()
    {
        final Backoff backoff = new Backoff(MIN_NS, MAX_NS, new SplittableRandom(1));
        for (int repetition = 0; repetition < 2; repetition++)
        {
            for (int failure = 0; failure < 100; failure++)
            {
                final long longestNs = failure > 5 ? MAX_NS : MIN_NS << failure;
                assertThat(backoff.nextPauseNs()).as("after failure %d", failure)
                    .isBetween(longestNs / 2, longestNs);
            }
            backoff.reset();
        }
    }

    @Test
    void shouldSpreadThoseThatFailAtOneInstant()
    {
        final Set<Long> pauses = new HashSet<>();
        for (int client = 0; client < 1_000; client++)
        {
            final long pauseNs = Backoff.pauseNs(4, MIN_NS, MAX_NS, client);
            assertThat(pauseNs).isBetween(8_000L, 16_000L);
            pauses.add(pauseNs / 1_000);
        }
        assertThat(pauses).hasSizeBetween(8, 9);
    }

    @Test
    void shouldNotOverflow()
    {
        assertThat(Backoff.pauseNs(Integer.MAX_VALUE, MIN_NS, Long.MAX_VALUE, -1)).isPositive();
        assertThat(Backoff.pauseNs(100, 1, 1, 5)).isEqualTo(1);
    }

    @Test
    void shouldRefusePausesThatCannotBe()
    {
        assertThatThrownBy(() -> new Backoff(0, 1, new SplittableRandom(1)))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("from 0 ns to 1 ns");
        assertThatThrownBy(() -> new Backoff(2, 1, new SplittableRandom(1))).isInstanceOf(RaasMisuseException.class);
    }
}
