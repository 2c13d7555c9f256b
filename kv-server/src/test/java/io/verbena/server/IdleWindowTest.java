package io.verbena.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Cycles between the last work and the sleep. */
class IdleWindowTest
{
    private static final int WHOLE = IdleWindow.SPINS + IdleWindow.YIELDS;

    private final IdleWindow window = new IdleWindow();

    private int cyclesUntilSleep()
    {
        int cycles = 0;
        while (IdleWindow.Step.SLEEP != window.next())
        {
            cycles++;
        }
        return cycles;
    }

    @Test
    void shouldLookLongWhileCallersComeBack()
    {
        window.onWork();
        assertThat(cyclesUntilSleep()).isEqualTo(WHOLE);
        window.onSleep(IdleWindow.LONG_SLEEP_NS, false);
        window.onWork();
        assertThat(cyclesUntilSleep()).as("slept for a moment only").isEqualTo(WHOLE);
    }

    @Test
    void shouldLookShortlyAfterWhatWokeItFromLongSleep()
    {
        window.onSleep(IdleWindow.LONG_SLEEP_NS + 1, true);
        for (int i = 0; i < IdleWindow.SHORT_WORKS; i++)
        {
            window.onWork();
            assertThat(cyclesUntilSleep()).isEqualTo(IdleWindow.SHORT_CYCLES);
        }
        window.onWork();
        assertThat(cyclesUntilSleep()).as("it is more than a heartbeat").isEqualTo(WHOLE);
    }

    @Test
    void shouldArmAgainAfterAnEventThatToldNothingNew()
    {
        assertThat(cyclesUntilSleep()).isEqualTo(WHOLE);
        window.onSleep(1, false);
        assertThat(cyclesUntilSleep()).as("time was over").isZero();
        window.onSleep(1, true);
        assertThat(cyclesUntilSleep()).isEqualTo(WHOLE);
    }
}
