package io.verbena.load.bench;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Virtual time, so that figures may be asserted. */
@Timeout(120)
class ContentionBenchmarkTest
{
    private static final long UPDATES = 2_000;

    @Test
    void shouldNeedFewSwapsWithControlAndManyWithout()
    {
        final ContentionRow on = ContentionBenchmark.measure(8, true, UPDATES);
        final ContentionRow off = ContentionBenchmark.measure(8, false, UPDATES);
        assertThat(on.swapsPerUpdate()).isLessThanOrEqualTo(2);
        assertThat(on.combinedShare()).isPositive();
        assertThat(off.swapsPerUpdate()).isGreaterThan(2);
        assertThat(off.combinedShare()).isZero();
        assertThat(on.updatesPerSecond()).isGreaterThan(off.updatesPerSecond());
    }

    @Test
    void shouldNotReachLessWithMoreNodes()
    {
        final double with2 = ContentionBenchmark.measure(2, true, UPDATES).updatesPerSecond();
        final double with16 = ContentionBenchmark.measure(16, true, UPDATES).updatesPerSecond();
        assertThat(with16).isGreaterThanOrEqualTo(with2);
        assertThat(ContentionBenchmark.measure(16, false, UPDATES).updatesPerSecond()).isLessThan(with16 / 2);
    }

    @Test
    void shouldGiveTheSameFiguresAgain()
    {
        final ContentionRow first = ContentionBenchmark.measure(3, true, UPDATES);
        assertThat(ContentionBenchmark.measure(3, true, UPDATES)).isEqualTo(first);
    }
}
