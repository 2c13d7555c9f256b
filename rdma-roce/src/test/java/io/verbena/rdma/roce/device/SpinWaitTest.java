package io.verbena.rdma.roce.device;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** When a thread that waits polls, and when it sleeps. */
class SpinWaitTest
{
    private static final long SPIN_NS = 50_000;

    private final SpinWait spin = new SpinWait(SPIN_NS);
    private long nowNs = 1_000_000;
    private long received;

    /** Polls until it is to sleep; returns for how long. */
    private long polledNs()
    {
        final long startNs = nowNs;
        while (spin.mayGoOn(nowNs, received))
        {
            nowNs += 1_000;
            assertThat(nowNs - startNs).isLessThanOrEqualTo(2 * SPIN_NS);
        }
        return nowNs - startNs;
    }

    @Test
    void shouldSleepAtOnceWithoutTraffic()
    {
        assertThat(new SpinWait(0).isSpinning()).isFalse();
        assertThat(spin.isSpinning()).isTrue();
        assertThat(polledNs()).isZero();
        assertThat(polledNs()).isZero();
    }

    @Test
    void shouldPollForTheBoundAfterEachPacketAsLongAsThatBringsThem()
    {
        for (int i = 0; i < 100; i++)
        {
            received++;
            assertThat(spin.mayGoOn(nowNs, received)).isTrue();
            for (int us = 1; us < SPIN_NS / 1_000; us++)
            {
                nowNs += 1_000;
                assertThat(spin.mayGoOn(nowNs, received)).isTrue();
            }
        }
        assertThat(polledNs()).isEqualTo(1_000);
    }

    /** Attempts in vain until it sleeps at once. */
    private void giveUp()
    {
        for (int i = 0; i < SpinWait.MOST_VAIN; i++)
        {
            received++;
            assertThat(polledNs()).as("attempt %d", i).isEqualTo(SPIN_NS);
        }
    }

    /** That so many packets find it asleep, and that it polls after the next one. */
    private void shouldTryAgainAfter(final int sleeps)
    {
        for (int i = 1; i < sleeps; i++)
        {
            received++;
            assertThat(polledNs()).as("sleep %d of %d", i, sleeps).isZero();
        }
        received++;
        assertThat(polledNs()).as("after %d sleeps", sleeps).isEqualTo(SPIN_NS);
    }

    @Test
    void shouldSleepWherePollingIsInVainAndTryMoreAndMoreSeldom()
    {
        giveUp();
        for (int sleeps = SpinWait.FEWEST_SLEEPS; sleeps <= SpinWait.MOST_SLEEPS; sleeps *= 2)
        {
            shouldTryAgainAfter(sleeps);
        }
        shouldTryAgainAfter(SpinWait.MOST_SLEEPS);
    }

    @Test
    void shouldSleepAtOnceWhereAnotherThreadHadTheProcessor()
    {
        received++;
        assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        nowNs += SpinWait.AWAY_NS - 1;
        assertThat(spin.mayGoOn(nowNs, received)).as("late, but not away").isTrue();
        nowNs += SpinWait.AWAY_NS;
        assertThat(spin.mayGoOn(nowNs, received)).isFalse();
        shouldTryAgainAfter(SpinWait.FEWEST_SLEEPS);
        shouldTryAgainAfter(2 * SpinWait.FEWEST_SLEEPS);
    }

    @Test
    void shouldTryMoreAndMoreSeldomWhereOthersHaveTheProcessorEachTime()
    {
        received++;
        assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        for (int sleeps = SpinWait.FEWEST_SLEEPS; sleeps <= SpinWait.MOST_SLEEPS; sleeps *= 2)
        {
            nowNs += SpinWait.AWAY_NS;
            assertThat(spin.mayGoOn(nowNs, received)).isFalse();
            for (int i = 1; i < sleeps; i++)
            {
                received++;
                assertThat(spin.mayGoOn(nowNs, received)).as("sleep %d of %d", i, sleeps).isFalse();
            }
            received++;
            assertThat(spin.mayGoOn(nowNs, received)).as("after %d sleeps", sleeps).isTrue();
        }
    }

    /** Both ends on one processor: who polls gives it to the peer, and finds the peer's packet when it has it again. */
    @Test
    void shouldGoOnWhereThePacketCameWhileAnotherThreadHadTheProcessor()
    {
        received++;
        assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        for (int i = 0; i < 10; i++)
        {
            nowNs += 2 * SpinWait.AWAY_NS;
            received++;
            assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        }
    }

    @Test
    void shouldPollAlwaysAgainOnceThatHasBroughtAPacket()
    {
        giveUp();
        shouldTryAgainAfter(SpinWait.FEWEST_SLEEPS);
        for (int i = 0; i < 2 * SpinWait.FEWEST_SLEEPS; i++)
        {
            received++;
            spin.mayGoOn(nowNs, received);
        }
        giveUp();
        shouldTryAgainAfter(SpinWait.FEWEST_SLEEPS);
    }
}
