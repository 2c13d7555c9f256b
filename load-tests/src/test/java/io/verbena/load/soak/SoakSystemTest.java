package io.verbena.load.soak;

import io.verbena.embedded.MemoryCheck;
import java.util.List;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The soak of the command, smaller. */
class SoakSystemTest
{
    @Test
    void shouldLoseNoRecordAndNoByteWhenAFullTableIsOverwritten() throws InterruptedException
    {
        final Soak.Result result = new Soak(20_000, 200_000, 2, 2).run();

        assertThat(result.wrong()).isZero();
        assertThat(result.check().problems()).isEmpty();
        assertThat(result.check().lostBytes()).isZero();
        assertThat(result.passed()).as("%s", result).isTrue();
        assertThat(result.fill()).isGreaterThanOrEqualTo(Soak.FILL);
        assertThat(result.filled()).isEqualTo(result.check().records());
        assertThat(result.turnover()).isPositive();
    }

    /** What the verdict stands on. */
    @Test
    void shouldNotPassWhenTheTableIsNotFullOrARecordIsMissingOrThereTwice()
    {
        assertThat(result(900, 900, 0).passed()).isTrue();
        assertThat(result(899, 899, 0).passed()).isFalse();
        assertThat(result(900, 901, 0).passed()).isFalse();
        assertThat(result(900, 899, 0).passed()).isFalse();
        assertThat(result(900, 900, 1).passed()).isFalse();
    }

    private static Soak.Result result(final long filled, final long found, final long lostBytes)
    {
        return new Soak.Result(filled, 10, 100, 1, 0, new MemoryCheck(
            found, 1000, 0, 0, 0, 100 + lostBytes, 100, 0, 0, 0, lostBytes, 0, List.of()));
    }
}
