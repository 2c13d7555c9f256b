package io.verbena.compute.group;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PaceTest
{
    private static final long MS = 1_000_000;
    /** A byte each microsecond. */
    private static final long BYTES_PER_SECOND = 1_000_000;
    private static final long BEGIN_NS = Long.MAX_VALUE - MS;

    private final Pace pace = new Pace(BYTES_PER_SECOND, BEGIN_NS);

    @Test
    void shouldWaitAsLongAsTheStepTakesAtTheRate()
    {
        assertThat(pace.isDue(BEGIN_NS)).isTrue();
        pace.spend(5_000, BEGIN_NS);
        assertThat(pace.isDue(BEGIN_NS + 5 * MS - 1)).isFalse();
        assertThat(pace.isDue(BEGIN_NS + 5 * MS)).isTrue();
        assertThat(pace.nextAtNs()).isEqualTo(BEGIN_NS + 5 * MS);
        assertThat(pace.durationNs(3_000)).isEqualTo(3 * MS);
    }

    @Test
    void shouldMakeUpForALittleThatWasMissed()
    {
        pace.spend(1_000, BEGIN_NS);
        pace.spend(1_000, BEGIN_NS + 2 * MS);
        assertThat(pace.nextAtNs()).isEqualTo(BEGIN_NS + 2 * MS);
    }

    @Test
    void shouldNotMakeUpForMuch()
    {
        pace.spend(1_000, BEGIN_NS);
        pace.spend(1_000, BEGIN_NS + 100 * MS);
        assertThat(pace.nextAtNs()).as("2 ms are made up for").isEqualTo(BEGIN_NS + 99 * MS);
    }

    @Test
    void shouldWaitForNothingWhenNothingWasDone()
    {
        pace.spend(0, BEGIN_NS + MS);
        assertThat(pace.isDue(BEGIN_NS + MS)).isTrue();
    }
}
