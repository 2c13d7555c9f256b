package io.verbena.client.routing;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** {@link PacedWarnings}. */
class PacedWarningsTest
{
    @Test
    void shouldLogOneIn10SecondsForAllClientsOfAProcess()
    {
        final PacedWarnings warnings = new PacedWarnings(System.getLogger("test"));
        int logged = 0;
        for (int ms = 0; ms < 60_000; ms++)
        {
            logged += warnings.warn("away", 5_000_000L + ms * 1_000_000L) ? 1 : 0;
        }
        assertThat(logged).isEqualTo(6);
        assertThat(warnings.warn("away", -1_000_000_000_000L)).as("another clock").isTrue();
    }
}
