package io.verbena.server;

import io.verbena.raas.completion.CompletionDispatcher;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Cycles between the last work and the sleep. */
class IdleWindowTest
{
    private static final int WHOLE = IdleWindow.SPINS + IdleWindow.YIELDS;

    private final IdleWindow window = new IdleWindow(false);

    private int cyclesUntilSleep()
    {
        return cyclesUntilSleep(window);
    }

    private static int cyclesUntilSleep(final IdleWindow window)
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

    @Test
    void shouldLookAFewTimesWhereEachLookIsASystemCall()
    {
        final IdleWindow calls = new IdleWindow(true);
        for (int i = 0; i < 2 * IdleWindow.SHORT_WORKS; i++)
        {
            calls.onWork();
            int cycles = 0;
            for (IdleWindow.Step step = calls.next(); IdleWindow.Step.SLEEP != step; step = calls.next())
            {
                assertThat(step).as("gives way by sleeping").isEqualTo(IdleWindow.Step.SPIN);
                cycles++;
            }
            assertThat(cycles).isEqualTo(IdleWindow.CALLS);
        }
        calls.onSleep(IdleWindow.LONG_SLEEP_NS + 1, true);
        calls.onWork();
        assertThat(cyclesUntilSleep(calls)).as("queues are armed in it, and looked at once more")
            .isGreaterThan(CompletionDispatcher.CALLS_BEFORE_ARMING + 1);
    }
}
