package io.verbena.load.soak;

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
        assertThat(result.fill()).isGreaterThan(0.8);
    }
}
