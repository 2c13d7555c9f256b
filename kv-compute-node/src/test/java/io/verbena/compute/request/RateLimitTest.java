package io.verbena.compute.request;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitTest
{
    private static final long SECOND_NS = 1_000_000_000L;

    private static RateLimit limit(final long perSecond, final long nowNs)
    {
        final RateLimit limit = new RateLimit();
        limit.perSecond(perSecond, nowNs);
        return limit;
    }

    @Test
    void shouldLimitNothingWithoutARate()
    {
        final RateLimit limit = limit(0, 5);
        limit.use(Integer.MAX_VALUE, 5);
        assertThat(limit.waitNs(5)).isZero();
    }

    @Test
    void shouldAllowAQuarterOfASecondAtOnceAndThenTheRate()
    {
        final RateLimit limit = limit(100, 7);
        int allowed = 0;
        while (0 == limit.waitNs(7))
        {
            limit.use(1, 7);
            allowed++;
        }
        assertThat(allowed).isEqualTo(26);
        assertThat(limit.waitNs(7)).isEqualTo(SECOND_NS / 100);
        assertThat(limit.waitNs(7 + SECOND_NS / 100 - 1)).isEqualTo(1);
        assertThat(limit.waitNs(7 + SECOND_NS / 100)).isZero();
    }

    @Test
    void shouldAllowOneOfAnyRateAtFirstAndSayWhenTheNextIs()
    {
        final RateLimit limit = limit(1, 0);
        assertThat(limit.waitNs(0)).isZero();
        limit.use(1, 0);
        assertThat(limit.waitNs(0)).isEqualTo(SECOND_NS - RateLimit.BURST_NS);
        assertThat(limit.waitNs(SECOND_NS - RateLimit.BURST_NS)).isZero();
    }

    /** Whoever was given a thousand times as much does not wait for what little was due. */
    @Test
    void shouldMakeWhatIsDueDueAtTheNewRate()
    {
        final RateLimit limit = limit(10, 0);
        limit.use(10_000, 0);
        assertThat(limit.waitNs(0)).isEqualTo(1_000 * SECOND_NS - RateLimit.BURST_NS);
        limit.perSecond(10_000, 0);
        assertThat(limit.waitNs(0)).isEqualTo(SECOND_NS - RateLimit.BURST_NS);
        limit.perSecond(5_000, 0);
        assertThat(limit.waitNs(0)).isEqualTo(2 * SECOND_NS - RateLimit.BURST_NS);
        limit.perSecond(0, 0);
        assertThat(limit.waitNs(0)).isZero();
        limit.perSecond(1, 0);
        assertThat(limit.waitNs(0)).isZero();
    }

    @Test
    void shouldSaveUpNothingWhileItIsNotUsed()
    {
        final RateLimit limit = limit(100, 0);
        int allowed = 0;
        while (0 == limit.waitNs(1_000 * SECOND_NS))
        {
            limit.use(1, 1_000 * SECOND_NS);
            allowed++;
        }
        assertThat(allowed).isEqualTo(26);
    }

    /** A clock may begin anywhere, and run over its end. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE - 1_000})
    void shouldKeepTheRateInTheMean(final long startNs)
    {
        final SplittableRandom random = new SplittableRandom(startNs);
        final long rate = 5_000;
        final RateLimit limit = limit(rate, startNs);
        long elapsedNs = 0;
        long used = 0;
        while (elapsedNs < 20 * SECOND_NS)
        {
            elapsedNs += random.nextLong(1, 200_000);
            if (0 == limit.waitNs(startNs + elapsedNs))
            {
                final long amount = random.nextLong(1, 10);
                limit.use(amount, startNs + elapsedNs);
                used += amount;
            }
        }
        assertThat(used).isBetween(20 * rate, 20 * rate + rate / 4 + 10);
    }

    /** Else a rate of more than a byte a nanosecond would limit short requests by nothing. */
    @Test
    void shouldRoundWhatIsUsedUp()
    {
        final RateLimit limit = limit(3, 0);
        limit.use(1, 0);
        assertThat(limit.waitNs(0)).isEqualTo(333_333_334 - RateLimit.BURST_NS);
    }

    @Test
    void shouldTakeTheLongestAmountsAtTheLowestRate()
    {
        final RateLimit limit = limit(1, 0);
        limit.use(200_000, 0);
        assertThat(limit.waitNs(0)).isEqualTo(200_000 * SECOND_NS - RateLimit.BURST_NS);
    }
}
