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
            nowNs += SPIN_NS - 1_000;
            assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        }
        assertThat(polledNs()).isEqualTo(1_000);
    }

    @Test
    void shouldSleepWherePollingIsInVainAndTryNowAndThen()
    {
        for (int i = 0; i < SpinWait.MOST_VAIN; i++)
        {
            received++;
            assertThat(polledNs()).as("attempt %d", i).isEqualTo(SPIN_NS);
        }
        for (int round = 0; round < 3; round++)
        {
            for (int i = 1; i < SpinWait.SLEEPS_BETWEEN; i++)
            {
                received++;
                assertThat(polledNs()).as("round %d, sleep %d", round, i).isZero();
            }
            received++;
            assertThat(polledNs()).isEqualTo(SPIN_NS);
        }
    }

    @Test
    void shouldPollAlwaysAgainOnceThatHasBroughtAPacket()
    {
        for (int i = 0; i < SpinWait.MOST_VAIN + SpinWait.SLEEPS_BETWEEN - 1; i++)
        {
            received++;
            polledNs();
        }
        received++;
        assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        received++;
        assertThat(spin.mayGoOn(nowNs, received)).isTrue();
        polledNs();
        received++;
        assertThat(polledNs()).isEqualTo(SPIN_NS);
    }
}
