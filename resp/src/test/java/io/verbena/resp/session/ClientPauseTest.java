package io.verbena.resp.session;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ClientPauseTest
{
    /** Neither shorter nor weaker: two clients may pause at the same time. */
    @Test
    void shouldMakeAPauseNeitherShorterNorWeaker()
    {
        final ClientPause pause = new ClientPause();
        pause.begin(0, 100, true);
        pause.begin(10, 200, false);
        assertThat(pause.remainingNs(false, 10)).isEqualTo(200);
        pause.begin(20, 1, false);
        assertThat(pause.remainingNs(true, 20)).isEqualTo(190);
        pause.begin(210, 5, false);
        assertThat(pause.remainingNs(false, 210)).as("the earlier one is over").isZero();
        assertThat(pause.remainingNs(true, 210)).isEqualTo(5);
    }
}
